"""The end of a training: metrics beside the baseline, then where the run and its report lie."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import netwright as nw
from netwright.apps.cli.results_table import show_results, write_report


def test_metrics_then_baseline_then_places(
    things_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_results(nw.open_run(things_run), as_json=False, report=things_run / "report.html")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("test (")
    assert lines[1].split() == ["metric", "this", "run", "baseline"]
    assert lines[-5].startswith("precision, recall, f1 and average_precision: of '")
    assert lines[-4].startswith("baseline: always '")
    assert lines[-3].startswith("time: ")
    assert lines[-2] == f"run: {things_run}"
    assert lines[-1] == f"report: {things_run / 'report.html'}"


def test_examples_of_a_corpus_are_windows(
    things_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = nw.open_run(things_run)
    run.spec = replace(run.spec, inputs="tokens", target="tokens")
    show_results(run, as_json=False, report=None)
    assert capsys.readouterr().out.splitlines()[0].rstrip().endswith(" windows)")


@pytest.mark.parametrize(
    ("load", "compiling", "told"),
    [
        (0.01, 0.0, "12.3 s of training"),
        (1.25, 0.0, "12.3 s of training (loading 1.2 s)"),
        (1.25, 31.0, "12.3 s of training (loading 1.2 s, compiling 31.0 s)"),
    ],
)
def test_what_came_before_training_is_told_apart(
    things_run: Path,
    capsys: pytest.CaptureFixture[str],
    load: float,
    compiling: float,
    told: str,
) -> None:
    run = nw.open_run(things_run)
    run.results.update(seconds=12.3, load_seconds=load, compile_seconds=compiling)
    show_results(run, as_json=False, report=None)
    assert f"\ntime: {told}\n" in capsys.readouterr().out


def test_json_is_one_object(things_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_results(nw.open_run(things_run), as_json=True, report=None)
    shown = json.loads(capsys.readouterr().out)
    assert shown["run"] == str(things_run)
    assert shown["report"] is None
    assert shown["metrics"]["accuracy"] <= 1


def test_a_report_that_fails_does_not_hide_the_results(
    things_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no ink")

    monkeypatch.setattr(nw.Run, "report", fail)
    assert write_report(nw.open_run(things_run)) is None
    assert capsys.readouterr().err == "note: no report was written: RuntimeError: no ink\n"
