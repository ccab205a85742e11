"""The page of claims: an assumption that is switched off turns the verdict."""

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import STORY, home

pytestmark = STORY


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
