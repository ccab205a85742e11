"""By keys alone: every stop of the tab key is seen; a run is planned, trained and noted."""

from pathlib import Path

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import SHORT, STORY, home, typed

pytestmark = STORY
TAB, ENTER, ESCAPE = ("Tab", "", 9), ("Enter", "\r", 13), ("Escape", "", 27)
FOCUSED = "document.activeElement"
# What has the focus, and whether it is seen to have it.
STOP = f"""(() => {{
  const style = getComputedStyle({FOCUSED}), box = {FOCUSED}.getBoundingClientRect();
  const isSeen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [{FOCUSED}.tagName, {FOCUSED}.id || {FOCUSED}.textContent.slice(0, 20), isSeen && box.width > 0];
}})()"""  # noqa: E501 - a script
MOST_STOPS = 80


def press(browser: Browser, key: tuple[str, str, int]) -> None:
    browser.press(key[0], text=key[1], code=key[2])


def stops(browser: Browser) -> list[str]:
    """Where the tab key leads, from the top of the page to its end."""
    found: list[str] = []
    for _ in range(MOST_STOPS):
        press(browser, TAB)
        tag, name, is_seen = browser.ask(STOP)
        if tag == "BODY" or (found and name == found[0]):
            break
        assert is_seen, (tag, name)
        found.append(name)
    return found


def focus(browser: Browser, name: str) -> None:
    """Press the tab key until something has the focus."""
    for _ in range(MOST_STOPS):
        if browser.ask(f"{FOCUSED}.id") == name:
            return
        press(browser, TAB)
    raise AssertionError(f"the tab key never leads to {name}")


def test_every_stop_is_seen_and_the_pages_come_first(
    browser: Browser, address: str, work: Path
) -> None:
    words = ("mlp", "moons", "--out", "runs/moons", *SHORT)
    assert typed(work, "train", *words).wait(120) == 0
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
    for path, ready, wanted in (
        ("/", "#runs tbody tr", {"filter", "state", "delete", "note"}),
        ("/new?data=moons", "#command code", {"data", "upload", "model", "train", "doctor"}),
        ("/playground", "#network canvas", {"play", "step", "brush", "clear", "data"}),
        ("/try", "#fields input", {"run", "ask"}),
        ("/inside", "#shown img", {"run", "view", "show"}),
        ("/theory?claim=novikoff", "#verdict img", {"claim", "set-separable", "check"}),
    ):
        browser.go(home(address) + path)
        browser.wait(f"document.querySelector('{ready}')")
        found = stops(browser)
        assert found[:2] == ["Runs", "New run"] and wanted <= set(found), (path, found)


def test_a_run_is_planned_trained_and_noted_by_keys(browser: Browser, address: str) -> None:
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
    browser.go(home(address) + "/new?data=moons&train.epochs=2")
    browser.wait("!document.querySelector('#train').disabled")
    focus(browser, "train")
    press(browser, ENTER)
    browser.wait("document.querySelector('#said a')")
    browser.go(home(address) + "/")
    browser.wait("document.querySelector('#runs').innerText.includes('finished')")
    note = "button[aria-label^=note]"
    browser.ask(f"document.querySelector('{note}').focus()")
    press(browser, ENTER)
    browser.wait(f"document.querySelector('dialog') && {FOCUSED}.id === 'note-tags'")
    press(browser, ESCAPE)
    browser.wait("!document.querySelector('dialog')")
    browser.wait(f"{FOCUSED}.matches('{note}')")  # where it was before
    press(browser, ENTER)
    browser.wait(f"{FOCUSED}.id === 'note-tags'")
    browser.call("Input.insertText", text="lesson")
    press(browser, ENTER)
    browser.wait("document.querySelector('#runs .tag')?.innerText === 'lesson'")
