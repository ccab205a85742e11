"""The page on which a run is asked: by texts, drawings and rows."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import SHORT, STORY, home, typed

pytestmark = STORY


def test_a_text_streams(browser: Browser, address: str, work: Path) -> None:
    (work / "notes.txt").write_text("the cat sat on the mat. " * 100)
    assert typed(work, "train", "elman", "notes.txt", *SHORT).wait(120) == 0
    browser.go(home(address) + "/try")
    browser.type("textarea[name='prompt']", "the cat")
    browser.click("#ask")
    browser.wait("document.querySelector('#answer code')?.textContent.length > 8")


def test_a_drawing_is_asked(browser: Browser, address: str, work: Path) -> None:
    assert typed(work, "sample-data").wait(120) == 0
    assert typed(work, "train", "softmax", "pictures", *SHORT).wait(120) == 0
    browser.go(home(address) + "/try")
    browser.wait("document.querySelector('canvas')")
    browser.drag("canvas", [(0.3, 0.3), (0.7, 0.7)])
    browser.wait("document.querySelector('#answer')?.innerText.includes('p(circle)')")
    browser.click("#hangs-on summary")
    browser.wait("document.querySelector('#hangs-on img')?.naturalWidth > 0")


def test_a_drawing_is_asked_of_a_run_that_learned_from_numbers(
    browser: Browser, address: str, work: Path
) -> None:
    words = ("softmax", "digits", "--out", "runs/digits", *SHORT)
    assert typed(work, "train", *words).wait(120) == 0
    browser.go(home(address) + "/try")
    browser.wait("document.querySelector('canvas')")
    browser.drag("canvas", [(0.5, 0.1), (0.5, 0.9)])
    browser.wait("document.querySelector('#answer td')?.innerText === 'p(1)'")
    assert browser.ask("document.querySelector('#command').innerText") == ""
    browser.go(home(address) + "/inside?view=saliency")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    before = browser.ask("document.querySelector('#shown img').src")
    browser.drag("canvas", [(0.5, 0.1), (0.5, 0.9)])
    browser.wait(f"document.querySelector('#shown img').src !== {json.dumps(before)}")


def test_a_forecast_is_asked_by_the_rows_before_it(
    browser: Browser, address: str, work: Path
) -> None:
    rows = [str(100 + n % 7) for n in range(80)]
    (work / "visits.csv").write_text("\n".join(["visits", *rows, ""]))
    words = ("lstm", "visits.csv", "--set", "data.name=series", "--target", "visits", *SHORT)
    assert typed(work, "train", *words, "--set", "data.window=4").wait(120) == 0
    browser.go(home(address) + "/try")
    browser.wait("document.querySelector('#fields').innerText.includes('5 at least')")
    assert browser.ask("document.querySelector('[name=table]').value") == "visits\n"
    browser.type("[name=table]", "\n".join(["visits", *rows[:6], ""]))
    browser.click("#ask")
    browser.wait("document.querySelectorAll('#answer tbody tr').length === 2")
    assert "netwright predict" in browser.ask("document.querySelector('#command').innerText")


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
