"""The playground: points are painted, digits are drawn, and a model learns them."""

import math
from pathlib import Path

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import PICTURES, STORY, home

pytestmark = STORY


def test_paint_points_and_train_on_them(browser: Browser, address: str, work: Path) -> None:
    browser.go(home(address) + "/playground")
    browser.wait(f"{PICTURES} > 0")
    browser.click("#clear")
    browser.type("#speed", "0")
    for brush, radius in (("0", 0.12), ("1", 0.4)):
        browser.type("#brush", brush)
        turn = [2 * math.pi * part / 24 for part in range(25)]
        places = [(0.5 + radius * math.cos(a), 0.5 + radius * math.sin(a)) for a in turn]
        browser.drag("#plane canvas:last-child", places)
        if brush == "0":
            browser.wait("document.querySelector('#message').innerText.includes(', of class 0.')")
            browser.call("Page.reload")  # too few for a model, but more are painted beside them
            browser.wait("document.querySelector('#message').innerText.includes(', of class 0.')")
    browser.wait(f"{PICTURES} > 0 && location.search.includes('points=')")
    browser.click("#play")
    accuracy = (
        "document.querySelector('#measures').innerText.match(/accuracy, learned from\\s+1\\b/)"
    )
    browser.wait(accuracy)  # a circle around a circle is no matter of a line
    browser.type("#rate", "0.001")  # while it learns
    browser.wait("location.search.includes('train.lr=0.001')")
    browser.click("#play")
    browser.wait("document.querySelector('#play').innerText === 'Play'")
    assert len(browser.ask("new URLSearchParams(location.search).get('points')")) > 80
    browser.call("Page.reload")  # the same points are in the address
    browser.wait(f"{PICTURES} > 0 && document.querySelector('#data').value === 'painted'")
    browser.click("#step")
    browser.wait("document.querySelector('#stage').dataset.step === '1'")
    browser.click("#keep")
    browser.wait("document.querySelector('#message').innerText.includes('points')")
    (kept,) = work.glob("**/points*.csv")
    assert kept.read_text().startswith("x1,x2,class\n")
    browser.resize(390, 800)
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")


def test_own_digits_are_drawn_learned_and_told_apart(browser: Browser, address: str) -> None:
    browser.go(home(address) + "/playground?data=digits")
    browser.wait(f"{PICTURES} > 0 && document.querySelectorAll('button.image').length === 40")
    assert "netwright train mlp digits" in browser.ask(
        "document.querySelector('#command').innerText"
    )
    browser.type("#data", "drawn")
    browser.wait("document.querySelector('#message').innerText.includes('Draw four')")
    browser.type("#speed", "0")
    for place in range(6):
        shift = place / 60
        line = [(0.3 + shift, 0.2), (0.7, 0.2 + shift), (0.5, 0.8)]
        browser.type("#drawn-class", "7" if place % 2 else "1")
        browser.drag("canvas.drawing", line if place % 2 else [(0.5, 0.2 + shift), (0.5, 0.8)])
        browser.click("#add-drawing")
        if not place:
            browser.wait("document.querySelector('#message').innerText.includes('There is 1')")
            browser.click("#add-drawing")
            browser.wait("document.querySelector('#message').innerText.includes('nothing')")
            browser.call("Page.reload")  # too few for a model, but more are added to them
            browser.wait("document.querySelector('#message').innerText.includes('There is 1')")
    browser.wait("document.querySelectorAll('button.image').length === 6")
    browser.click("#play")
    browser.wait(
        "document.querySelector('#measures').innerText.match(/accuracy, learned from\\s+1\\b/)"
    )
    browser.click("#play")
    browser.wait("document.querySelector('#play').innerText === 'Play'")
    sure = "Number(document.querySelectorAll('.bars span')[{}].innerText) > 0.5"
    browser.drag("canvas.drawing", [(0.5, 0.25), (0.5, 0.8)])
    browser.wait(sure.format(1))  # a stroke is a one
    pressed = (
        "[...document.querySelectorAll('button.image')].map((one) => one.ariaPressed === 'true')"
    )
    assert not any(browser.ask(pressed))
    browser.click("button.image:nth-child(3)")
    assert browser.ask(pressed) == [False, False, True, False, False, False]
    browser.click("#clear-drawing")
    assert not any(browser.ask(pressed))
    browser.drag("canvas.drawing", [(0.3, 0.2), (0.7, 0.2), (0.5, 0.8)])
    browser.wait(sure.format(3))
    browser.call("Page.reload")  # the drawings are in the address
    browser.wait(f"{PICTURES} > 0 && document.querySelectorAll('button.image').length === 6")
    browser.resize(390, 800)
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_drawing_is_made_by_the_keyboard(browser: Browser, address: str) -> None:
    browser.go(home(address) + "/playground?data=digits")
    browser.wait(f"{PICTURES} > 0")
    seen = "[...document.querySelectorAll('.bars span')].map((one) => one.innerText).join()"
    before = browser.ask(seen)
    canvas = "document.querySelector('canvas.drawing')"
    press = (
        f"{canvas}.dispatchEvent(new KeyboardEvent('{{}}', {{{{ key: '{{}}', shiftKey: true }}}}))"
    )
    middle = f"[...{canvas}.getContext('2d').getImageData(140, 140, 1, 1).data].slice(0, 3)"
    cursor = [213, 94, 0]
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
    browser.ask(f"{canvas}.focus()")
    assert browser.ask(middle) == cursor
    for _ in range(5):
        browser.ask(press.format("keydown", "ArrowDown"))
    browser.ask(press.format("keyup", "Shift"))
    browser.wait(f"{seen} !== {before!r}")
    assert browser.ask(middle) == [255, 255, 255]
    drawn = browser.ask(seen)
    browser.click("#clear-drawing")  # its answers go with it
    assert browser.ask(middle) == cursor
    browser.wait(f"{seen} !== {drawn!r}")
    browser.ask(
        "(() => { const usual = window.fetch; window.asked = 0; "
        "window.fetch = (...sent) => { window.asked += 1; return usual(...sent); }; })()"
    )
    browser.ask(press.format("keyup", "Shift"))  # after Shift and Tab: no stroke has ended
    browser.ask(f"{canvas}.dispatchEvent(new Event('pointerup'))")  # of a press elsewhere
    browser.ask(f"{canvas}.blur()")
    assert browser.ask("window.asked") == 0 and browser.ask(middle) == [0, 0, 0]
    browser.ask(press.format("keydown", "ArrowDown"))
    for _ in range(2):
        browser.ask(f"{canvas}.dispatchEvent(new Event('pointercancel'))")
    assert browser.ask("window.asked") == 1


def test_a_frame_that_waits_draws_nothing_of_a_plan_that_is_over(
    browser: Browser, address: str
) -> None:
    browser.go(home(address) + "/playground")
    browser.wait(f"{PICTURES} > 0")
    browser.ask(
        "(() => { const usual = window.requestAnimationFrame; let waiting = null; "
        "window.requestAnimationFrame = (draw) => { waiting = draw; return 1; }; "
        "Object.defineProperty(document.querySelector('#brush'), 'disabled', { set() { "
        "if (!waiting) return; window.requestAnimationFrame = usual; const draw = waiting; "
        "waiting = null; window.drawn = true; draw(); } }); "
        "window.isWaiting = () => waiting !== null; })()"
    )
    browser.click("#step")
    browser.wait("window.isWaiting()")
    before = browser.ask(PICTURES)
    browser.type("#data", "circles")
    browser.wait(f"window.drawn && {PICTURES} > {before}")
    assert browser.ask("document.querySelector('#message').innerText") == ""


def test_two_columns_of_a_table_in_the_playground(
    browser: Browser, address: str, work: Path
) -> None:
    rows = "".join(f"{n},{n % 7},{'red' if n % 2 else 'blue'},{'ab'[n > 40]}\n" for n in range(80))
    (work / "things.csv").write_text("size,rest,colour,kind\n" + rows)
    browser.go(home(address) + "/playground?data=things.csv")
    browser.wait(f"{PICTURES} > 0")
    words = browser.ask("document.querySelector('#command').innerText")
    assert "--target kind" in words and "colour" in words
    browser.click("#play")
    browser.wait("Number(document.querySelector('#stage').dataset.step) > 3")
    browser.type("#model", "perceptron")  # any model of two features
    browser.wait("document.querySelector('#network').innerText.includes('square')")


def test_columns_that_number_rows_are_not_offered_first_and_the_chosen_ones_are_kept(
    browser: Browser, address: str, work: Path
) -> None:
    rows = "".join(f"{n},{n % 7},{n % 5},{n % 3},{'ab'[n > 40]}\n" for n in range(80))
    (work / "things.csv").write_text("id,size,weight,rest,kind\n" + rows)
    browser.go(home(address) + "/playground?data=things.csv")
    browser.wait(f"{PICTURES} > 0")
    shown = "['x', 'y'].map((id) => document.querySelector(`#column-${id}`).value)"
    assert browser.ask(shown) == ["size", "weight"]
    browser.type("#column-x", "rest")
    browser.wait("location.search.includes('x=rest')")
    browser.call("Page.reload")
    browser.wait(f"{PICTURES} > 0 && document.querySelector('#column-x')")
    assert browser.ask(shown) == ["rest", "weight"]


def test_only_classes_that_can_be_painted_have_a_brush(
    browser: Browser, address: str, work: Path
) -> None:
    rows = "".join(f"{n},{n % 7},{n / 3},{'abcdefgh'[n % 8]}\n" for n in range(80))
    (work / "things.csv").write_text("size,rest,amount,kind\n" + rows)
    for target in ("amount", "kind"):
        page = f"/playground?data=things.csv&model=knn&data.target={target}"
        browser.go(home(address) + page)
        browser.wait(f"{PICTURES} > 0 && document.querySelector('#brush').disabled")
    browser.click("#clear")
    browser.wait("!document.querySelector('#brush').disabled")
    assert not browser.ask("document.querySelector('[name=\"train.parallel\"]')")
