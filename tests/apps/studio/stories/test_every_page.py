"""Every page: large on a projector, legible, and named for who does not see it."""

from pathlib import Path

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import PICTURES, SHORT, STORY, home, typed

pytestmark = STORY


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
