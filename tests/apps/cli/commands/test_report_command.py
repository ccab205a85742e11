"""`netwright report`: a page for a run that is there, a sentence for one that is not."""

import json
import shutil
from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type

pytestmark = pytest.mark.usefixtures("undrawn")


def test_the_page_goes_into_the_run_folder(type_in: Type, things_run: Path) -> None:
    answer = type_in("report", things_run)
    assert answer.code == 0
    assert answer.out == f"report: {things_run / 'report.html'}\n"
    assert "<h2>Examples</h2>" in (things_run / "report.html").read_text(encoding="utf-8")


def test_the_page_can_go_elsewhere_without_examples(
    type_in: Type, things_run: Path, tmp_path: Path
) -> None:
    assert type_in("report", things_run, "--out", "x.html", "--no-examples").code == 0
    assert "<h2>Examples</h2>" not in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_json_prints_the_numbers(type_in: Type, things_run: Path) -> None:
    shown = json.loads(type_in("report", things_run, "--json").out)
    assert shown == json.loads((things_run / "report.json").read_text(encoding="utf-8"))


def test_what_is_no_run_is_refused(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("report", "nowhere")
    assert answer.code == 2
    assert answer.err == "error: nowhere is not a run folder: there is no such folder\n"
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_said(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    shutil.copytree(things_run, tmp_path / "run")
    config = tmp_path / "run" / "config.yaml"
    config.write_text(config.read_text().replace("things.csv", "gone.csv"))
    answer = type_in("report", "run", "--out", "x.html")
    assert answer.code == 0
    assert answer.err.startswith("note: without views of predictions and data: the run's data gone")


def test_a_run_without_its_history_has_a_page_without_curves(
    type_in: Type, things_run: Path, tmp_path: Path
) -> None:
    shutil.copytree(things_run, tmp_path / "run", ignore=shutil.ignore_patterns("report.*"))
    (tmp_path / "run" / "metrics.jsonl").unlink()
    answer = type_in("report", "run")
    reason = "without learning curves: metrics.jsonl is not in the run folder"
    assert (answer.code, answer.err) == (0, f"note: {reason}\n")
    assert f"W{reason[1:]}." in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    again = type_in("report", "run")
    lost = "metrics.jsonl is not in the run folder"
    sentence = f"run/report.html already has views that would be lost ({lost})"
    assert (again.code, again.err) == (2, f"error: {sentence}; give the report another path\n")


def test_a_run_without_its_results_is_refused(
    type_in: Type, things_run: Path, tmp_path: Path
) -> None:
    shutil.copytree(things_run, tmp_path / "run")
    (tmp_path / "run" / "results.json").unlink()
    sentence = "run is an incomplete run folder: it has no results.json"
    assert type_in("report", "run").err == f"error: {sentence}\n"
