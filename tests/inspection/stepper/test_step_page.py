"""The page of steps: forward and then backward, by buttons or keys, offline."""

import html
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from netwright.inspection.drawing.page import Page
from netwright.inspection.stepper import step_page
from netwright.inspection.stepper.step_page import steps_page
from netwright.inspection.stepper.step_through import StepThrough, step_through
from netwright.theory.neurons.xor_networks import CORNERS, two_unit_network
from tests.browser import Browser, browsing, check_fits

EVIL = "<img src=x onerror=alert(1)>"


def xor() -> StepThrough:
    return step_through(two_unit_network("relu"), CORNERS[3:], torch.tensor([[1.0]]))


def headings(page: Page) -> list[str]:
    return [html.unescape(found) for found in re.findall(r"<h3>(.*?)</h3>", page.render())]


def test_every_operation_has_a_step_forward_and_one_back() -> None:
    names = ["#3 linear", "#4 relu", "#7 linear", "#8 mse_loss"]
    wanted = [f"forward: {name}" for name in names] + [f"backward: {name}" for name in names[::-1]]
    assert headings(steps_page("t", "c", xor().steps)) == wanted


def test_a_step_shows_formula_numbers_and_check() -> None:
    markup = steps_page("t", "c", xor().steps).render()
    pane = markup[markup.index("backward: #4 relu") :]
    pane = pane[: pane.index("backward: #3")]
    assert "<p>dy/dx = 1 where x &gt; 0, else 0</p>" in pane
    cells = re.findall(r"<td[^>]*>(.*?)</td>", pane)
    good = '<span class="badge good">ok</span>'
    assert cells == [
        *("from", "#7 linear", "[4, 4]", ""),
        *("in all", "#4 relu", "[4, 4]", good),
        *("#3 linear", "slopes [1, 0]", "[4, 0]", good),
    ]


def test_a_formula_shows_its_constants_and_is_left_out_where_it_does_not_hold() -> None:
    model, x, y = nn.Linear(1, 1), torch.ones(1, 1), torch.tensor([[7.5]])
    usual = steps_page("t", "c", step_through(model, x, y).steps).render()
    assert "<p>L = Σ (y - t)² / n</p>" in usual
    assert "<td>with</td><td>target</td><td>7.5</td>" in usual
    other = step_through(model, x, y, loss=nn.MSELoss(reduction="sum"))
    assert "Σ (y - t)²" not in steps_page("t", "c", other.steps).render()


def test_of_many_operations_those_nearest_the_loss_are_shown_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(step_page, "MOST_STEPS", 2)
    page = steps_page("t", "c", xor().steps)
    assert headings(page) == [
        *("forward: #7 linear", "forward: #8 mse_loss"),
        *("backward: #8 mse_loss", "backward: #7 linear"),
    ]
    assert "The last 2 of 4 operations, to the loss." in page.render()


@pytest.mark.slow
def test_three_hundred_steps_are_less_than_five_megabytes() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.LSTM(2, 3, batch_first=True))
    stepped = step_through(model, torch.ones(1, 25, 2), loss=lambda output: output[0].sum())
    page = steps_page("t", "c", stepped.steps)
    assert len(headings(page)) == 600
    assert len(page.render()) < 5_000_000


@pytest.mark.slow
def test_in_a_real_browser_next_leads_from_the_first_operation_to_the_last_gradient(
    tmp_path: Path,
) -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.add_module(EVIL, nn.Linear(1, 1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for part in self.children():
                x = torch.tanh(part(x))
            return x.sum()

    file = step_through(Named(), torch.ones(1, 1)).save(tmp_path / "steps.html")
    seen = []
    with browsing() as browser:
        visit = browser.open(file)
        pane = "[...document.querySelectorAll('.steps > .pane')].filter(p => p.checkVisibility())"
        button = f"[...{pane}[0].querySelectorAll('label')].find(l => l.textContent == 'next')"
        for _ in range(10):
            assert browser.run(f"{pane}.length") == 1
            seen.append(browser.run(f"{pane}[0].querySelector('h3').textContent"))
            if not browser.run(f"Boolean({button})"):
                break
            browser.run(f"{button}.click()")
        back = f"[...{pane}[0].querySelectorAll('label')].find(l => l.textContent == 'forward')"
        browser.run(f"{back}.click()")
        assert browser.run(f"{pane}[0].querySelector('h3').textContent") == seen[0]
        pictures = "[...document.images].every(i => i.naturalWidth > 0)"
        assert browser.run(pictures)
    names = ["#3 linear", "#4 tanh", "#5 sum"]
    assert seen == [f"forward: {one}" for one in names] + [
        f"backward: {one}" for one in names[::-1]
    ]
    assert visit.requests == [file.as_uri()]
    assert visit.complaints == [] and visit.dialogs == []
    check_fits(file)


def press(browser: Browser, key: str, *, shift: bool = False) -> int:
    """Press and release a key, as a person or a presenter's remote does; gives the step then."""
    code = {"PageDown": 34, "PageUp": 33, "End": 35, "Home": 36, " ": 32, "Tab": 9}.get(key, 37)
    code = {"ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}.get(key, code)
    for kind in ("rawKeyDown", "keyUp"):
        browser.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code="Space" if key == " " else key,
            windowsVirtualKeyCode=code,
            modifiers=8 if shift else 0,
        )
    step: int = browser.run(
        "[...document.querySelectorAll('.steps > input')].findIndex(one => one.checked)"
    )
    return step


@pytest.mark.slow
def test_in_a_real_browser_keys_turn_the_steps_at_once(tmp_path: Path) -> None:
    file = xor().save(tmp_path / "steps.html")
    with browsing() as browser:
        visit = browser.open(file)
        last = browser.run("document.querySelectorAll('.steps > input').length") - 1
        steps = [
            ("PageDown", 1),
            ("PageDown", 2),
            ("PageUp", 1),
            ("ArrowRight", 2),
            ("ArrowDown", 3),
            ("ArrowLeft", 2),
            ("ArrowUp", 1),
            (" ", 2),
            ("End", last),
            ("PageDown", last),
            ("Home", 0),
            ("PageUp", 0),
            ("x", 0),
        ]
        assert [(key, press(browser, key)) for key, _ in steps] == steps
        assert press(browser, " ") == 1 and press(browser, " ", shift=True) == 0
        browser.run("document.querySelector('label').click()")  # then the radio has the focus
        assert press(browser, "ArrowDown") == 2  # not two steps at once
        assert browser.run("scrollY") == 0
        browser.run("scrollTo({top: 1e6, behavior: 'instant'})")
        assert press(browser, "Home") == 2  # out of sight the keys are the browser's
    assert visit.complaints == [] and visit.requests == [file.as_uri()]
