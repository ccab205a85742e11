"""Links and empty folders: what is not there is said in a sentence, and a way on is shown."""

from pathlib import Path

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import PICTURES, SHORT, STORY, home, typed

pytestmark = STORY
SAID = "document.querySelector('.missing')?.innerText"


def test_an_empty_folder_leads_to_a_new_run(browser: Browser, address: str) -> None:
    for path, place, main in (
        ("/", "#runs", "#compare"),
        ("/try", "#message", "#ask"),
        ("/inside", "#message", "#show"),
    ):
        browser.go(home(address) + path)
        browser.wait(f"document.querySelector(\"{place} a[href='/new']\")")
        assert browser.ask(f"document.querySelector('{main}').disabled"), path


def test_a_link_to_what_is_not_there_says_what_is_shown_in_its_place(
    browser: Browser, address: str, work: Path
) -> None:
    words = ("mlp", "moons", "--out", "runs/moons", *SHORT)
    assert typed(work, "train", *words).wait(120) == 0
    browser.go(home(address) + "/inside?run=runs/moons&view=attention")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    assert browser.ask(SAID) == "runs/moons has no view attention: curves is shown in its place."
    browser.type("#view", "confusion")
    browser.wait("!document.querySelector('.missing')")
    for path in ("/inside", "/try"):
        browser.go(f"{home(address)}{path}?run=runs/gone")
        browser.wait(SAID)
        said = "There is no run runs/gone in this folder: runs/moons is shown in its place."
        assert browser.ask(SAID) == said
    browser.go(f"{home(address)}/theory?claim=gone")
    browser.wait(SAID)
    assert browser.ask(SAID).startswith("There is no claim gone: ")
    for path, shown in (("/new", ""), ("/playground", "moons")):
        browser.go(f"{home(address)}{path}?data=gone.csv")
        browser.wait("document.querySelector('#message').innerText.includes('no data gone.csv')")
        assert browser.ask("document.querySelector('#data').value") == shown
    browser.wait(f"{PICTURES} > 0")


def test_a_refused_address_is_a_page_that_can_be_read(browser: Browser, address: str) -> None:
    browser.go(home(address) + "/report?run=gone")
    browser.wait("document.querySelector('main p')")
    assert browser.ask("document.querySelectorAll('nav.site a').length") == 6
    browser.troubles.clear()  # the browser notes the status of the page
