"""What people do in the studio, in a real browser without a network."""

import json
import math
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.recipes.saved.run_notes import note_run
from tests.apps.studio.browser import CHROMIUM, Browser

pytest.importorskip("uvicorn")

from tests.apps.studio.test_opening import first_line

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
]
SHORT = ("--epochs", "3", "--quiet", "--no-report")


def typed(folder: Path, *words: str) -> "subprocess.Popen[bytes]":
    """A command in a terminal of its own."""
    return subprocess.Popen([sys.executable, "-m", "netwright", *words], cwd=folder)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A studio of an empty folder."""
    words = [sys.executable, "-m", "netwright", "studio", "work", "--port", "0"]
    (tmp_path / "work").mkdir()
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        yield first_line(process).split(": ", 1)[1].strip()
    finally:
        process.terminate()
        process.wait(60)
        if process.stderr is not None:
            process.stderr.close()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def browser(tmp_path: Path, address: str) -> Iterator[Browser]:
    """A browser that was let in; at its end nothing went wrong and nothing left the machine."""
    with Browser(tmp_path / "profile") as page:
        page.go(address)
        yield page
        assert page.troubles == []
        home = address.partition("/enter")[0]
        assert all(one.startswith((home, "data:", "about:", "blob:")) for one in page.requests)


def home(address: str) -> str:
    return address.partition("/enter")[0]


def test_upload_a_table_train_on_it_see_its_report_ask_it_and_look_inside(
    browser: Browser, address: str, work: Path, tmp_path: Path
) -> None:
    rows = "".join(f"{n / 6:.3f},{'big' if n > 30 else 'small'}\n" for n in range(60))
    (tmp_path / "things.csv").write_text("size,kind\n" + rows)
    browser.go(home(address) + "/new")
    main = "getComputedStyle(document.querySelector('#train')).backgroundColor"
    disabled = browser.ask(main)
    assert not browser.ask("document.querySelector('#told').checkVisibility()")
    document = browser.call("DOM.getDocument")["root"]["nodeId"]
    found = browser.call("DOM.querySelector", nodeId=document, selector="#upload")["nodeId"]
    browser.call("DOM.setFileInputFiles", nodeId=found, files=[str(tmp_path / "things.csv")])
    browser.type("select[name='data.target']", "kind")
    browser.type("input[name='train.epochs']", "3")
    browser.wait("document.querySelector('#command').innerText.includes('--target kind')")
    browser.wait("document.querySelector('#command').innerText.includes('--epochs 3')")
    browser.wait("!document.querySelector('#train').disabled")
    assert browser.ask(main) != disabled
    browser.click("#train")
    browser.wait("document.querySelector('#said').innerText.includes('started')")
    browser.go(home(address) + "/")
    browser.wait("document.querySelector('#runs').innerText.includes('finished')")
    browser.wait("document.querySelector('#runs a')")
    (run,) = (work / "runs").iterdir()
    browser.go(f"{home(address)}/report?run=runs/{run.name}")
    browser.wait("document.body.innerText.includes('baseline')")
    browser.go(f"{home(address)}/try?run=runs/{run.name}")
    browser.type("input[name='size']", "9.5")
    browser.click("#ask")
    browser.wait("document.querySelector('#answer')?.innerText.includes('p(big)')")
    browser.click("#hangs-on summary")
    browser.wait("document.querySelector('#hangs-on img')?.naturalWidth > 0")
    browser.go(f"{home(address)}/inside?run=runs/{run.name}&view=confusion")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    assert "netwright inspect" in browser.ask("document.querySelector('#command').innerText")
    browser.resize(390, 800)  # letters of a figure stay large enough, and it is scrolled
    browser.go(f"{home(address)}/inside?run=runs/{run.name}&view=backprop")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 700")
    assert browser.ask("document.querySelector('#shown img').clientWidth > 600")
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.ask("document.querySelector('#run').clientWidth > 300")


def test_compare_by_ticking_and_on_a_phone(browser: Browser, work: Path) -> None:
    for seed in "012":
        for width in ("1", "16"):
            words = ("mlp", "moons", "--set", f"model.hidden={width}", "--seed", seed, *SHORT)
            assert typed(work, "train", *words).wait(120) == 0
    note_run(min((work / "runs").iterdir()), tags=["goods"], note="no good")
    browser.wait("document.querySelectorAll('#runs tbody input:enabled').length === 6")
    browser.ask("document.querySelectorAll('#runs tbody input').forEach((one) => one.click())")
    browser.click("#compare")
    browser.wait("document.querySelector('#comparison')?.innerText.includes('against')")
    browser.call("Page.reload")  # what is ticked is in the address
    browser.wait("document.querySelectorAll('#runs tbody input:checked').length === 6")
    browser.resize(390, 800)
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")
    browser.resize(1280, 800)  # a projector: nothing to press lies outside
    browser.click("nav.site button.large")
    inside = "one.getBoundingClientRect().right <= window.innerWidth"
    assert browser.ask(f"[...document.querySelectorAll('#runs button')].every((one) => {inside})")
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")
    browser.click("nav.site button.large")
    browser.click("button[aria-label^='note']")
    browser.type("#note-tags", "wide good")
    browser.type("#note-text", "<b>as text</b>")
    browser.click("dialog button[type='submit']")
    browser.wait("document.querySelector('#runs').innerText.includes('<b>as text</b>')")
    browser.click("button[aria-label='only runs tagged good']")
    browser.wait("document.querySelectorAll('#runs tbody tr').length === 1")
    assert browser.ask("location.search.includes('filter=tag%3Agood')")
    browser.type("#filter", "nothing like it")
    browser.wait("document.querySelector('#runs').innerText.includes('No run fits')")


def test_a_text_streams(browser: Browser, address: str, work: Path) -> None:
    (work / "notes.txt").write_text("the cat sat on the mat. " * 100)
    assert typed(work, "train", "elman", "notes.txt", *SHORT).wait(120) == 0
    browser.go(home(address) + "/try")
    browser.type("textarea[name='prompt']", "the cat")
    browser.click("#ask")
    browser.wait("document.querySelector('#answer code')?.textContent.length > 8")


def test_attention_over_a_text_that_is_typed(browser: Browser, address: str, work: Path) -> None:
    (work / "notes.txt").write_text("the cat sat on the mat. " * 100)
    small = ("--set", "model.layers=1", "--set", "model.heads=2", "--set", "model.width=8")
    assert typed(work, "train", "gpt", "notes.txt", *small, *SHORT).wait(120) == 0
    browser.go(home(address) + "/inside?view=attention")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    before = browser.ask("document.querySelector('#shown img').src")
    browser.type("#own-text", "a mat sat")
    browser.wait("document.querySelector('#command').innerText.includes(\"--of 'a mat sat'\")")
    assert browser.ask("document.querySelector('#shown img').src") != before
    browser.call("Page.reload")  # the text is in the address
    browser.wait("document.querySelector('#own-text')?.value === 'a mat sat'")


def test_a_digit_is_drawn_and_its_maps_are_watched(
    browser: Browser, address: str, work: Path
) -> None:
    assert typed(work, "sample-data").wait(120) == 0
    assert typed(work, "train", "cnn", "pictures", *SHORT).wait(120) == 0
    browser.go(home(address) + "/inside?view=feature-maps")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    before = browser.ask("document.querySelector('#shown img').src")
    browser.drag("canvas", [(0.3, 0.3), (0.7, 0.7)])
    browser.wait("document.querySelector('#command').innerText.includes('--of picture.png')")
    assert browser.ask("document.querySelector('#shown img').src") != before


def test_a_digit_is_drawn_and_its_units_are_watched(
    browser: Browser, address: str, work: Path
) -> None:
    assert typed(work, "sample-data").wait(120) == 0
    assert typed(work, "train", "mlp", "pictures", *SHORT).wait(120) == 0
    browser.go(home(address) + "/inside?view=units")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    before = browser.ask("document.querySelector('#shown img').src")
    browser.drag("canvas", [(0.3, 0.3), (0.7, 0.7)])
    browser.wait("document.querySelector('#command').innerText.includes('--of picture.png')")
    assert browser.ask("document.querySelector('#shown img').src") != before


def test_a_drawing_is_asked(browser: Browser, address: str, work: Path) -> None:
    assert typed(work, "sample-data").wait(120) == 0
    assert typed(work, "train", "softmax", "pictures", *SHORT).wait(120) == 0
    browser.go(home(address) + "/try")
    browser.wait("document.querySelector('canvas')")
    browser.drag("canvas", [(0.3, 0.3), (0.7, 0.7)])
    browser.wait("document.querySelector('#answer')?.innerText.includes('p(circle)')")
    browser.click("#hangs-on summary")
    browser.wait("document.querySelector('#hangs-on img')?.naturalWidth > 0")


def test_who_has_not_the_token_sees_nothing(tmp_path: Path, address: str, work: Path) -> None:
    with Browser(tmp_path / "stranger") as stranger:
        stranger.go(home(address) + "/")
        assert "token" in stranger.ask("document.body.innerText")
        stranger.go(re.sub("token=.*", "token=guessed", address))
        assert "not the token" in stranger.ask("document.body.innerText")
        assert not stranger.ask("!!document.querySelector('#runs')")


PICTURES = "Number(document.querySelector('#stage').dataset.pictures || 0)"


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
    browser.wait("location.search.includes('points=')")
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
    browser.click("#clear-drawing")
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
    press = (
        "document.querySelector('canvas.drawing').dispatchEvent(new KeyboardEvent('{}', "
        "{{ key: '{}', shiftKey: true }}))"
    )
    for _ in range(5):
        browser.ask(press.format("keydown", "ArrowDown"))
    browser.ask(press.format("keyup", "Shift"))
    browser.wait(f"{seen} !== {before!r}")


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


def test_a_change_that_waits_is_checked_also_after_a_failure(
    browser: Browser, address: str
) -> None:
    browser.go(home(address) + "/theory?claim=novikoff")
    browser.wait("document.querySelector('#verdict').dataset.answer === 'holds'")
    browser.ask(
        "(() => { const usual = window.fetch; let asked = 0; window.fetch = (path, sent) => "
        "path !== '/api/check' || asked++ ? usual(path, sent) : "
        "new Promise((_, fail) => { window.release = () => fail(new Error('lost')); }); })()"
    )
    browser.click("#check")
    browser.wait("Boolean(window.release)")
    browser.click("#assumptions input[name='separable']")
    browser.click("#check")  # a switch alone waits for it where the first check took long
    browser.ask("window.release()")
    browser.wait("document.querySelector('#verdict').dataset.answer === 'fails'")
    assert "as set" in browser.ask("document.querySelector('#claims').textContent")


def test_a_claim_turns_when_its_assumption_is_switched_off(browser: Browser, address: str) -> None:
    browser.go(home(address) + "/theory?claim=novikoff")
    browser.wait("document.querySelector('#verdict').dataset.answer === 'holds'")
    chart = browser.ask("document.querySelector('#verdict img').src")
    browser.click("#assumptions input[name='separable']")
    browser.wait("document.querySelector('#verdict').dataset.answer === 'fails'")
    assert browser.ask("document.querySelector('#verdict img').src") != chart
    assert "--set separable=false" in browser.ask("document.querySelector('#command').innerText")
    browser.call("Page.reload")  # the switch is in the address
    browser.wait("document.querySelector('#verdict')?.dataset.answer === 'fails'")
    browser.click("#reset")
    browser.wait("document.querySelector('#verdict').dataset.answer === 'holds'")
    browser.resize(390, 800)
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_run_of_a_terminal_appears_its_curve_grows_and_it_stops(
    browser: Browser, work: Path
) -> None:
    words = ("mlp", "moons", "--epochs", "100000", "--quiet", "--no-report")
    training = typed(work, "train", *words)
    try:
        row = "document.querySelector('#runs tbody tr')"
        curve = f"({row}?.querySelector('polyline')?.getAttribute('points') || '')"
        browser.wait(f"{row}?.innerText.includes('training') && {curve}")
        early = browser.ask(f"Number({row}.innerText.match(/(\\d+) of 100000/)[1])")
        browser.wait(f"Number({row}.innerText.match(/(\\d+) of 100000/)[1]) > {early}")
        browser.call("Page.reload")  # in the middle of it
        browser.wait(f"{row}?.innerText.includes('training') && {curve}")
        browser.click("button[aria-label^='stop']")
        browser.wait(f"{row}.innerText.includes('stopped')")
        assert training.wait(60) == 143
    finally:
        training.kill()
        training.wait()
    browser.click("button[aria-label^='resume']")
    browser.wait(f"{row}.innerText.includes('training')")
    browser.click("button[aria-label^='stop']")
    browser.wait(f"{row}.innerText.includes('stopped')")


def test_odd_tables_are_asked(browser: Browser, address: str, work: Path) -> None:
    chosen = [f"kind {n}" for n in range(30)]
    rows = "".join(f"{n % 9},{chosen[n % 30]},{'ab'[n % 9 > 4]}\n" for n in range(120))
    (work / "odd.csv").write_text("run,many,kind\n" + rows)
    wide = ",".join(f"c{n}" for n in range(201))
    numbers = "".join(
        ",".join(str((n * n + c * n) % 11) for c in range(201)) + f",{'ab'[n % 2]}\n"
        for n in range(40)
    )
    (work / "wide.csv").write_text(wide + ",kind\n" + numbers)
    for name in ("odd", "wide"):
        words = ("logistic", f"{name}.csv", "--target", "kind", "--out", f"runs/{name}")
        assert typed(work, "train", *words, "--quiet", "--no-report").wait(120) == 0
    browser.go(home(address) + "/try?run=runs/odd")
    browser.type("[name='run']:not(#run)", "8")
    browser.click("#ask")  # a cell that is left out is a missing one
    browser.wait("document.querySelector('#answer')?.innerText.includes('p(b)')")
    assert "--row run=8,many= " in browser.ask("document.querySelector('#command').innerText")
    browser.type("select[name='many']", "kind 29")
    browser.click("#ask")
    browser.wait("document.querySelector('#answer')?.innerText.includes('p(b)')")
    browser.go(home(address) + "/try?run=runs/wide")
    browser.wait("document.querySelector('textarea[name=\"rows\"]')")
    browser.click("#ask")
    browser.wait("document.querySelector('#answer')?.innerText.includes('p(b)')")


def test_numbers_with_signs_are_asked_as_the_command_reads_them(
    browser: Browser, address: str, work: Path
) -> None:
    rows = "".join(f'"{n}.234,50 €",{n},{"ab"[n > 20]}\n' for n in range(1, 41))
    (work / "prices.csv").write_text("price,size,kind\n" + rows)
    words = ("logistic", "prices.csv", "--target", "kind", "--out", "runs/prices", *SHORT[2:])
    assert typed(work, "train", *words).wait(120) == 0
    (work / "prices.csv").unlink()
    browser.go(home(address) + "/try?run=runs/prices")
    browser.type("input[name='size']", "19")
    for price in ("30.000", "2.234,5 €"):  # thousands, not thirty; with a comma
        browser.type("input[name='price']", price)
        browser.click("#ask")
        browser.wait(f"document.querySelector('#command').innerText.includes('{price}')")
        command = browser.ask("document.querySelector('#command code').textContent")
        said = [sys.executable, "-m", *shlex.split(command), "--json"]
        (told,) = json.loads(subprocess.run(said, cwd=work, capture_output=True, check=True).stdout)
        shown = browser.ask("document.querySelector('#answer td.number').textContent")
        assert float(shown) == pytest.approx(max(told["p(a)"], told["p(b)"]), rel=1e-3)


def test_a_projector_shows_large_letters_on_every_page(browser: Browser, address: str) -> None:
    size = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
    before = browser.ask(size)
    browser.click("nav.site button.large")
    for path in ("/", "/new", "/playground", "/try", "/inside", "/theory"):
        browser.go(home(address) + path)
        browser.wait(f"{size} > {1.2 * before}")
        assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth"), path
    browser.click("nav.site button.large")
    browser.wait(f"{size} === {before}")


# The contrast of words with what is behind them (WCAG 2.2, 1.4.3), and what has too little of it.
TOO_FAINT = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return (parts(colour)[3] ?? 1) > 0.5 || !one.parentElement ? colour : behind(one.parentElement);
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const found = [];
  for (const one of document.body.querySelectorAll("*")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const style = getComputedStyle(one, one.placeholder ? "::placeholder" : null);
    if (!(own || one.placeholder) || one.disabled || !one.checkVisibility()) continue;
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.7 && style.fontWeight >= 700);
    const got = ratio(light(style.color), light(behind(one)));
    if (got < (isLarge ? 3 : 4.5)) found.push(`${one.tagName} ${one.id} ${one.textContent.slice(0, 30)}: ${got.toFixed(2)}`);
  }
  return found;
})()"""  # noqa: E501 - a script
OPERATED = {
    "button",
    "checkbox",
    "combobox",
    "image",
    "link",
    "progressbar",
    "slider",
    "spinbutton",
}
OPERATED |= {"switch", "textbox"}


def test_words_can_be_read_in_light_and_dark_and_what_is_operated_has_a_name(
    browser: Browser, address: str, work: Path
) -> None:
    words = ("mlp", "moons", "--out", "runs/moons", *SHORT)
    assert typed(work, "train", *words).wait(120) == 0
    for path, seen in {
        "/": "document.querySelector('#runs tbody tr')",
        "/new?data=moons": "document.querySelector('#command code')",
        "/playground": f"{PICTURES} > 0",
        "/playground?data=digits": f"{PICTURES} > 0",
        "/try": "document.querySelector('#fields input')",
        "/inside": "document.querySelector('#shown img')?.naturalWidth > 0",
        "/theory?claim=novikoff": "document.querySelector('#verdict').dataset.answer === 'holds'",
    }.items():
        for dark in (False, True):
            browser.resize(1400, 1000, dark=dark)
            browser.go(home(address) + path)
            browser.wait(seen)
            assert browser.ask(TOO_FAINT) == [], (path, dark)
        tree = browser.call("Accessibility.getFullAXTree")["nodes"]
        nameless = [
            node["role"]["value"]
            for node in tree
            if not node["ignored"]
            and node["role"]["value"].lower() in OPERATED
            and not node.get("name", {}).get("value", "").strip()
        ]
        assert nameless == [], path
