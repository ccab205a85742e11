"""The trial of mutants: each in a process of its own, where its tests say what they see."""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Literal

from tests.mutants.child import Answer, Child
from tests.mutants.choice import expected_seconds, own_test_file, selections
from tests.mutants.equivalent import reason
from tests.mutants.function_map import FunctionMap
from tests.mutants.map_plugin import Starts
from tests.mutants.mutant import Mutant
from tests.mutants.planting import (
    compiled,
    functions_to_change,
    module_name,
    plant_at_import,
    plant_in_started_processes,
)
from tests.mutants.session import Selection, collect, run_tests

# Stillborn: the file could not be imported. Untested: its tests cannot be run even without a
# mutant. Unreached: the time was over.
Verdict = Literal[
    "killed", "timed out", "survived", "equivalent", "stillborn", "untested", "unreached"
]
PASSED, FAILED, NONE_RAN, STILLBORN = 0, 1, 5, -1  # exit codes of pytest, and one more
AT_ONCE: dict[int | None, Verdict] = {
    PASSED: "survived",
    NONE_RAN: "survived",
    STILLBORN: "stillborn",
}
TRIES = 4  # each with fewer tests: without those that fail anyway
# Seconds that tests may take with a mutant: a start, and so many times what they take without.
CPU_START, CPU_FACTOR = 20.0, 4.0
WALL_START, WALL_FACTOR = 40.0, 3.0


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant, and by which test or for which reason."""

    mutant: Mutant
    verdict: Verdict
    by: str = ""

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        one = self.mutant
        return {
            "place": one.place,
            "file": one.file,
            "line": one.line,
            "owner": one.owner,
            "change": one.change,
            "before": one.before,
            "verdict": self.verdict,
            "by": self.by,
        }


@dataclass
class Trial:
    """Tries mutants of one file.

    Args:
        package: where netwright lies.
        found: which tests run which functions.
        deadline: by the monotonic clock; mutants that come later are unreached.
    """

    package: Path
    found: FunctionMap
    deadline: float
    _failing: dict[Selection, frozenset[str] | None] = field(default_factory=dict)
    _sound: dict[Selection, Selection] = field(default_factory=dict)

    def run(self, mutants: list[Mutant], _folder: Path) -> list[dict[str, Any]]:
        """Try all, in a process that has not imported the package; rows in any order."""
        outcomes = [Outcome(one, "equivalent", why) for one in mutants if (why := reason(one))]
        live = [one for one in mutants if not reason(one)]
        if time.monotonic() > self.deadline:
            return [Outcome(one, "unreached").as_row() for one in mutants]
        later = [one for one in live if one.at_import]
        inside = [one for one in live if not one.at_import]
        rows: list[dict[str, Any]] = []
        if inside:
            answer = Child(partial(self._try_in_functions, inside)).wait()
            rows, places = answer.value or ([], range(len(inside)))
            later += [inside[place] for place in places]
        outcomes += [self.judge(one, partial(self._change_import, one)) for one in later]
        return rows + [outcome.as_row() for outcome in outcomes]

    def _try_in_functions(
        self, mutants: list[Mutant], _folder: Path
    ) -> tuple[list[dict[str, Any]], list[int]]:
        """Import all once, then fork for each; also which ones have to be planted at import."""
        starts = Starts()
        starts.begin()
        collect([own_test_file(mutants[0].file)])
        starts.end()
        rows, left = [], []
        for place, mutant in enumerate(mutants):
            ran_at_import = f"{mutant.file}::{mutant.owner}" in starts.names
            code = compiled(mutant, self.package)
            targets = functions_to_change(code, all_of_them=not mutant.path)
            if ran_at_import or not targets:
                left.append(place)
            else:
                rows.append(self.judge(mutant, partial(change_functions, targets)).as_row())
        return rows, left

    def _change_import(self, mutant: Mutant) -> bool:
        """Import the changed file; False where that cannot be."""
        name = module_name(mutant.file)
        plant_at_import(name, compiled(mutant, self.package))
        try:
            importlib.import_module(name)
        except Exception:
            return False
        return True

    def judge(self, mutant: Mutant, plant: Callable[[], bool]) -> Outcome:
        """Run its tests, own ones first, until one fails."""
        outcome = Outcome(mutant, "untested")
        for wanted in selections(mutant, self.found):
            if time.monotonic() > self.deadline:
                return Outcome(mutant, "unreached")
            found = self._verdict(mutant, wanted, plant)
            if found is not None:
                outcome = Outcome(mutant, *found)
            if outcome.verdict not in {"survived", "untested"}:
                break
        return outcome

    def _verdict(
        self, mutant: Mutant, wanted: Selection, plant: Callable[[], bool]
    ) -> tuple[Verdict, str] | None:
        """What these tests say, and which of them; None where they say nothing.

        A failure counts where the same tests in the same order pass without the mutant. Those that
        do not are left out, and the others have to pass without them: a failure that belongs to
        whatever test comes first would move on to the next.
        """
        for _ in range(TRIES):
            selection = self._sound.get(wanted, wanted)
            answer = self._answer(selection, partial(self._session, mutant, plant, selection))
            value = answer.value or {"code": None, "failed": ["a process that died"]}
            if time.monotonic() > self.deadline:
                return "unreached", ""
            if value["code"] in AT_ONCE:
                return AT_ONCE[value["code"]], ""
            failing = self._fail_anyway(selection)
            if failing is None:
                break
            killer = value["failed"][0] if value["failed"] else "a file that cannot be imported"
            if killer not in failing:
                return ("timed out", "") if answer.timed_out else ("killed", killer)
            self._sound[wanted] = replace(selection, unless=selection.unless | failing)
        return None

    def _answer(self, selection: Selection, work: Callable[[Path], Any]) -> Answer:
        cpu = CPU_START + CPU_FACTOR * expected_seconds(selection, self.found)
        left = max(1.0, self.deadline - time.monotonic())
        return Child(work, cpu=cpu, wall=min(WALL_START + WALL_FACTOR * cpu, left)).wait()

    def _fail_anyway(self, selection: Selection) -> frozenset[str] | None:
        """The tests that fail without any mutant; None where they cannot be run at all."""
        if selection not in self._failing:
            work = partial(run_tests, selection, to_first_failure=False)
            answer = self._answer(selection, work)
            runs = bool(answer.value) and answer.value["code"] in {PASSED, FAILED, NONE_RAN}
            self._failing[selection] = frozenset(answer.value["failed"]) if runs else None
        return self._failing[selection]

    def _session(
        self, mutant: Mutant, plant: Callable[[], bool], selection: Selection, folder: Path
    ) -> dict[str, Any]:
        """In a process of its own: plant the mutant, then run the tests."""
        plant_in_started_processes(mutant, self.package, folder)
        if not plant():
            return {"code": STILLBORN, "failed": []}
        return run_tests(selection, folder, to_first_failure=True)


def change_functions(targets: list[tuple[FunctionType, CodeType]]) -> bool:
    """Give the functions their new code."""
    for function, code in targets:
        function.__code__ = code
    return True
