"""The page of runs: they are compared, tagged, watched and stopped; who has no token sees none."""

import re
from pathlib import Path

from netwright.recipes.saved.run_notes import note_run
from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import SHORT, STORY, home, typed

pytestmark = STORY


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
    table = "document.querySelector('#runs .scroll')"
    whole = f"{table}.scrollWidth <= {table}.clientWidth + 1"
    for wide in (1280, 1400):  # and nothing is cut off at the edge of the table
        browser.resize(wide, 900)
        assert browser.ask(whole), wide
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


def test_who_has_not_the_token_sees_nothing(tmp_path: Path, address: str, work: Path) -> None:
    with Browser(tmp_path / "stranger") as stranger:
        stranger.go(home(address) + "/")
        assert "token" in stranger.ask("document.body.innerText")
        stranger.go(re.sub("token=.*", "token=guessed", address))
        assert "not the token of the studio" in stranger.ask("document.body.innerText")
        assert not stranger.ask("!!document.querySelector('#runs')")
