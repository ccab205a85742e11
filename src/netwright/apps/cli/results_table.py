"""The end of a training: metrics beside the trivial baseline, and where everything lies."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netwright.recipes.run.run import Run


def write_report(run: "Run") -> Path | None:
    """The run's page; where it fails the results are still worth telling."""
    from netwright.core.terminal.console import print_warning

    try:
        return run.report()
    except Exception as error:
        print_warning(f"no report was written: {type(error).__name__}: {error}")
        return None


def show_results(run: "Run", *, as_json: bool, report: Path | None) -> None:
    """The run's metrics beside the baseline, its folder, and its report where there is one."""
    from netwright.core.terminal.console import print_json, print_result, print_table
    from netwright.recipes.run.answers import examples_word
    from netwright.recipes.run.metric_table import bleu_line, metric_rows, whose_metrics

    results = run.results
    if as_json:
        places = {"run": run.folder, "report": report}
        named = {name: None if path is None else str(path) for name, path in places.items()}
        print_json({**named, **results})
        return
    title = f"{results['split']} ({results['rows']} {examples_word(run.spec)})"
    print_table(metric_rows(results["metrics"], results["baseline"]), title=title)
    for said in whose_metrics(run.spec, results["metrics"]):
        print_result(said)
    if results["baseline_rule"]:
        print_result(f"baseline: {results['baseline_rule']}")
    if "bleu" in results:
        print_result(bleu_line(results["bleu"]))
    if run.config["train"].get("profile"):
        _show_profile(run)
    print_result(f"time: {_times(results)}")
    print_result(f"run: {run.folder}")
    if report is not None:
        print_result(f"report: {report}")


def _show_profile(run: "Run") -> None:
    """Where the time of an update went; where nobody could tell, the run's notes say why."""
    from netwright.core.terminal.console import print_table
    from netwright.train.profiling.profile_file import FILE, read_profile

    profile = None if run.folder is None else read_profile(run.folder / FILE)
    if profile is not None:
        title = ", ".join(f"{name} {value}" for name, value, _ in profile.headline())
        print_table(profile.table_rows(), title=title)


def _times(results: Mapping[str, Any]) -> str:
    """Seconds of training, and what came before it."""
    before = [
        f"{word} {results[name]:.1f} s"
        for word, name in (("loading", "load_seconds"), ("compiling", "compile_seconds"))
        if results[name] >= 0.05
    ]
    beside = f" ({', '.join(before)})" if before else ""
    return f"{results['seconds']:.1f} s of training{beside}"
