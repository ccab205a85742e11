"""The report: one inert page with everything, and the same numbers as JSON beside it."""

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from tests.browser import browsing, check_fits

SECTIONS = [
    "Results",
    "Learning",
    "Doctor",
    "Predictions",
    "Examples",
    "Model",
    "Data",
    "Make it again",
]
EVIL_CLASS = "<script>alert(1)</script>"
EVIL_COLUMN = '"><img src=x onerror=alert(2)>'
EVIL_FILE = "<script>alert(3)<.script>.csv"


def sections_of(page: str) -> list[str]:
    return re.findall(r'<section id="part-\d+"><h2>(.*?)</h2>', page)


@pytest.fixture(scope="module")
def evil_run(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    """A table whose classes, columns, cells and name are all hostile."""
    folder = tmp_path_factory.mktemp("evil")
    lines = [f'"{EVIL_COLUMN.replace(chr(34), chr(34) * 2)}",</style>,kind']
    for row in range(60):
        lines.append(f"{row},<svg onload=alert(4)>{row % 2},{EVIL_CLASS if row > 30 else '$x^'}")
    file = folder / EVIL_FILE
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return nw.fit("mlp", file, target="kind", hidden=(4,), epochs=2, out=folder / "run", quiet=True)


@pytest.fixture(scope="module")
def reported(moons_run: nw.Run, tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    """A run opened from its folder, with the report that belongs into it."""
    folder = tmp_path_factory.mktemp("reported") / "run"
    shutil.copytree(moons_run.folder, folder)  # type: ignore[arg-type]
    run = nw.open_run(folder)
    assert run.report() == folder / "report.html"
    return run


def page_of(run: nw.Run) -> Path:
    return run.folder / "report.html"  # type: ignore[operator]


@pytest.fixture
def table_page(undrawn: None, table_run: nw.Run, tmp_path: Path) -> Path:
    return table_run.report(tmp_path / "page.html")


@pytest.fixture
def own_run(moons_run: nw.Run, tmp_path: Path) -> nw.Run:
    """A run whose folder no other test reads."""
    shutil.copytree(moons_run.folder, tmp_path / "run")  # type: ignore[arg-type]
    return nw.open_run(tmp_path / "run")


def test_the_page_has_all_parts_and_lies_in_the_folder(reported: nw.Run) -> None:
    path = page_of(reported)
    page = path.read_text(encoding="utf-8")
    assert sections_of(page) == SECTIONS
    assert "<title>mlp on moons</title>" in page
    assert path.stat().st_size < 5e6
    for axis in ("epoch", "seconds"):
        assert f">{axis}</label>" in page


def test_the_headline_stands_beside_the_baseline(reported: nw.Run) -> None:
    page = page_of(reported).read_text(encoding="utf-8")
    metrics, baseline = reported.results["metrics"], reported.results["baseline"]
    tile = re.search(
        r'accuracy</div><div class="value">(.*?)</div><div class="beside">(.*?)<', page
    )
    assert tile is not None
    assert tile[1] == f"{100 * metrics['accuracy']:.1f} %"
    assert tile[2] == f"baseline {100 * baseline['accuracy']:.1f} %"
    assert html.escape(reported.results["baseline_rule"]) in page


def test_the_json_has_the_numbers_of_every_view(reported: nw.Run) -> None:
    told = json.loads(page_of(reported).with_suffix(".json").read_text(encoding="utf-8"))
    assert told["format"] == 1
    assert told["results"] == reported.results
    assert told["views"].keys() == reported.views().keys()
    assert told["config"] == reported.config
    assert told["environment"]["packages"]["netwright"]


@pytest.mark.slow
def test_an_opened_run_writes_the_same_page(
    moons_run: nw.Run, reported: nw.Run, tmp_path: Path
) -> None:
    trained = moons_run.report(tmp_path / "page.html")
    assert page_of(reported).read_bytes() == trained.read_bytes()


@pytest.mark.usefixtures("undrawn")
def test_examples_can_be_left_out(table_run: nw.Run, tmp_path: Path) -> None:
    page = table_run.report(tmp_path / "bare.html", examples=False).read_text(encoding="utf-8")
    assert sections_of(page) == [name for name in SECTIONS if name != "Examples"]
    told = json.loads((tmp_path / "bare.json").read_text(encoding="utf-8"))
    assert not {"wrong-examples", "decision-regions"} & told["views"].keys()


def test_examples_of_a_table_show_its_cells(table_page: Path) -> None:
    page = table_page.read_text(encoding="utf-8")
    examples = page[page.index("<h2>Examples</h2>") : page.index("<h2>Model</h2>")]
    assert "<th>size</th><th>colour</th>" in examples
    assert '<td data-of="colour">red</td>' in examples
    assert "<h3>Wrong and nearly wrong</h3>" in examples


def test_folders_of_the_owner_are_not_told(table_run: nw.Run, table_page: Path) -> None:
    page = table_page.read_text(encoding="utf-8")
    folder = str(Path(table_run.config["data"]["path"]).parent)
    assert folder not in page
    assert folder not in table_page.with_suffix(".json").read_text(encoding="utf-8")
    assert "netwright train mlp things.csv --target kind --set model.hidden=16" in page


@pytest.mark.usefixtures("undrawn")
def test_a_run_without_its_data_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text(
        "a,b\n" + "".join(f"{row},{'xy'[row % 2]}\n" for row in range(40)), encoding="utf-8"
    )
    nw.fit("logistic", tmp_path / "t.csv", target="b", epochs=1, out=tmp_path / "r", quiet=True)
    (tmp_path / "t.csv").unlink()
    page = nw.open_run(tmp_path / "r").report().read_text(encoding="utf-8")
    assert sections_of(page) == ["Results", "Learning", "Doctor", "Model", "Make it again"]
    assert (
        "Without views of predictions and data: the run&#x27;s data t.csv does not exist here"
        in page
    )
    assert str(tmp_path) not in page
    with pytest.raises(ConfigError, match=r"report.html already has views that would be lost"):
        nw.open_run(tmp_path / "r").report()  # what is there was written with more


@pytest.mark.usefixtures("undrawn")
def test_a_run_in_memory_needs_a_path(moons_run: nw.Run, tmp_path: Path) -> None:
    run = nw.open_run(moons_run.folder)  # type: ignore[arg-type]
    run.folder = None
    with pytest.raises(
        ConfigError,
        match=r"^this run is kept in memory: give a path for its "
        r"report$",
    ):
        run.report()
    assert run.report(tmp_path / "page.html", examples=False).is_file()
    with pytest.raises(ConfigError, match=r"^the path of a report must end in .html, got "):
        run.report(tmp_path / "page.pdf")


@pytest.mark.usefixtures("undrawn")
def test_hostile_names_are_escaped(evil_run: nw.Run, tmp_path: Path) -> None:
    page = evil_run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for words in (EVIL_CLASS, EVIL_COLUMN, EVIL_FILE, "<svg onload=alert(4)>1"):
        assert words not in page
        assert html.escape(words) in page


@pytest.mark.slow
def test_in_a_real_browser_hostile_names_stay_text(evil_run: nw.Run) -> None:
    page = evil_run.report()
    with browsing() as browser:
        visit = browser.open(page)
        assert browser.run("document.title") == f"mlp on {EVIL_FILE}"
        shown = browser.run("document.body.textContent")
        assert (
            browser.run("document.querySelectorAll('script, svg, [onerror], [onload]').length") == 0
        )
        broken = "[...document.images].filter(one => !one.complete || !one.naturalWidth).length"
        assert browser.run(broken) == 0
        assert browser.run("document.images.length") >= 10
    for words in (EVIL_CLASS, EVIL_COLUMN, EVIL_FILE, "<svg onload=alert(4)>1"):
        assert words in shown
    assert visit.requests == [page.as_uri()]
    assert visit.complaints == []
    assert visit.dialogs == []
    check_fits(page)


def test_notebooks_show_run_and_history_without_widgets(moons_run: nw.Run) -> None:
    assert "<th>metric</th>" in moons_run._repr_html_()
    assert "data:image/svg+xml" in moons_run._repr_html_()
    assert "data:image/svg+xml" in moons_run.history._repr_html_()
    for shown in (moons_run._repr_html_(), moons_run.history._repr_html_()):
        assert "<script" not in shown


@pytest.mark.usefixtures("undrawn")
def test_a_report_never_takes_the_place_of_another_file(own_run: nw.Run) -> None:
    folder = own_run.folder
    assert folder is not None
    before = (folder / "results.json").read_bytes()
    sentence = (
        f"{folder / 'results.json'} already exists and is not a report: give the page another name"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        own_run.report(folder / "results.html")
    assert (folder / "results.json").read_bytes() == before
    assert not (folder / "results.html").exists()
    (folder / "page.json").write_text('{"views": {}}', encoding="utf-8")  # as of an earlier one
    own_run.report(folder / "page.html")


@pytest.mark.usefixtures("undrawn")
def test_columns_called_like_ours_are_set_apart(tmp_path: Path) -> None:
    rows = "".join(f"{row % 7},{row % 5 + 0.5},{'xy'[row % 2]}\n" for row in range(60))
    (tmp_path / "t.csv").write_text(f"row,true,kind\n{rows}", encoding="utf-8")
    run = nw.fit(
        "logistic", tmp_path / "t.csv", target="kind", epochs=1, quiet=True, out=tmp_path / "r"
    )
    page = run.report().read_text(encoding="utf-8")
    assert "<th>column row</th><th>column true</th>" in page


@pytest.mark.usefixtures("undrawn")
def test_a_run_that_is_cut_in_its_first_epoch_tells_its_steps(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (4,), "epochs": 3, "log_every": 1, "quiet": True}
    run = nw.fit("mlp", "moons", max_steps=4, out=tmp_path / "run", **settings)
    page = html.unescape(run.report().read_text(encoding="utf-8"))
    assert "4 steps of the first epoch in" in page
    assert "0 epochs" not in page
    assert re.search(r"best step.{0,80}?4.{0,80}?of 4", page, re.DOTALL)
    curves = json.loads((tmp_path / "run" / "report.json").read_text())["views"]["curves"]
    assert curves["axis"] == "step"
    assert [len(one["step"]) for one in curves["curves"] if one["split"] == "step"] == [4] * 5
    results = run.results
    assert (results["steps"], results["best_step"], results["epochs"]) == (4, 4, 0)


@pytest.mark.usefixtures("undrawn")
def test_a_run_of_so_many_steps_is_finished_with_them(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (4,), "eval_every": 3, "quiet": True}
    run = nw.fit("mlp", "moons", max_steps=13, out=tmp_path / "run", **settings)
    results = run.results
    assert (results["status"], results["finished"], results["steps"]) == ("done", True, 13)
    page = html.unescape(run.report().read_text(encoding="utf-8"))
    assert "13 steps in" in page
    assert "of 13" in page
    command = page[page.index("netwright train mlp moons") :].partition("</")[0]
    for words, is_there in (
        ("--max-steps 13", True),
        ("--eval-every 3", True),
        ("--epochs", False),
    ):
        assert (words in command) == is_there
