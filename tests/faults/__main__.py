"""`python -m tests.faults [CODE ...]`: make the faults and print one table of what held."""
# ruff: noqa: T201 - a table on the terminal is what it is for

import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import pytest

from tests.faults.scenario import Figures, Scenario

MODULES = {
    "T01": "test_random_kill",
    "T02": "test_real_kill",
    "T03": "test_resume_points",
    "T04": "test_state_ablation",
    "T06": "test_signals",
    "T07": "test_disk_full",
    "T08": "test_io_faults",
    "T13": "test_two_owners",
    "T14": "test_changed_world",
    "T15": "test_corruption",
    "T16": "test_retention",
    "T18": "test_bad_images",
    "T19": "test_bad_tables",
    "T20": "test_bad_targets",
    "T21": "test_config_fuzz",
    "T22": "test_config_as_code",
    "T23": "test_non_finite",
    "T28": "test_estimator_checks",
    "T29": "test_shapes_and_types",
    "T30": "test_global_state",
    "T31": "test_rank_killed",
    "T32": "test_rank_hung",
    "T34": "test_world_size",
    "T35": "test_gan_killed",
    "T36": "test_sharded_save",
}


def counted(scenario: Scenario, figures: Figures) -> str:
    """The counts in one line, such as `kills 100, inside a save 12 < 30`: too few to mean much."""
    floors = {name: f" < {floor:g}" for name, floor in scenario.shortfalls(figures).items()}
    counts = {**dict.fromkeys(floors, 0), **figures.counts}
    return ", ".join(f"{name} {value:g}{floors.get(name, '')}" for name, value in counts.items())


def measured(scenario: Scenario) -> tuple[Figures, float]:
    """The figures of a scenario in a new folder, and the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        return scenario.measure(Path(folder)), time.perf_counter() - start


def run_one(code: str) -> bool:
    """Print the row of one scenario; False where it is red."""
    scenario: Scenario = import_module(f"tests.faults.{MODULES[code]}").SCENARIO
    try:
        figures, seconds = measured(scenario)
    except pytest.skip.Exception as reason:
        print(f"{code:<4}  {scenario.title:<44}  skipped: {reason}", flush=True)
        return True
    verdict = "ok" if scenario.is_green(figures) else "RED"
    numbers = f"{figures.n:>6}  {figures.passed:>6}  {seconds:>7.1f}  {verdict:<3}"
    print(f"{code:<4}  {scenario.title:<44}  {numbers}  {counted(scenario, figures)}", flush=True)
    return scenario.is_green(figures)


def main(codes: list[str]) -> int:
    """Run the scenarios of these codes, or all; 1 where one is red, 2 where a code is unknown."""
    unknown = [code for code in codes if code not in MODULES]
    if unknown:
        print(f"No scenario {', '.join(unknown)}; there are {', '.join(MODULES)}.", file=sys.stderr)
        return 2
    print(f"{'code':<4}  {'fault':<44}  {'n':>6}  {'passed':>6}  {'seconds':>7}       counts")
    held = [run_one(code) for code in codes or MODULES]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
