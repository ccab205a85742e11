"""The page of what is inside a run: of a text that is typed, of a digit that is drawn."""

from pathlib import Path

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import SHORT, STORY, home, typed

pytestmark = STORY


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


def test_a_projector_shows_figures_larger_than_other_screens_of_its_size(
    browser: Browser, address: str, work: Path
) -> None:
    words = ("mlp", "moons", "--out", "runs/moons", *SHORT)
    assert typed(work, "train", *words).wait(120) == 0
    browser.go(home(address) + "/inside?view=confusion")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    wide = "document.querySelector('#shown img').getBoundingClientRect().width"
    for width in (1280, 1920):
        browser.resize(width, 900)
        usual = browser.ask(wide)
        browser.click("nav.site button.large")
        assert browser.ask(wide) > 1.1 * usual, width
        browser.click("nav.site button.large")
