"""T20: eleven kinds of data that nothing can be learned from; each is refused before step 1."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import netwright as nw
from netwright.data import arrays
from netwright.data.dataset import Data
from netwright.recipes.fitting import fit as fit_module
from netwright.train.callback import Callback
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario

LONGEST = 2.0  # seconds of work from the call to the refusal
INPUTS = np.random.RandomState(0).randn(40, 3)
CLASSES = np.arange(40) % 2
REALS = INPUTS[:, 0] + 1
NO_ROWS = torch.empty(0, dtype=torch.int64)


class CountSteps(Callback):
    steps = 0

    def on_before_update(self, state: TrainState) -> None:
        self.steps += 1


def good(**changes: Any) -> Data:
    """Data that can be learned from, but for these changes."""
    return replace(nw.data.from_arrays(INPUTS, CLASSES), **changes)


def shifted(by: int) -> Data:
    """Labels 0 and 1 with `by` added, handed over as tensors that nobody encoded."""
    train = good().train
    return good(train=replace(train, targets=train.targets + by))


def table(folder: Path, cells: Callable[[int], str]) -> Path:
    path = folder / "table.csv"
    rows = [f"{row / 4},{cells(row)}" for row in range(40)]
    path.write_text("\n".join(["size,other,y", *rows]) + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True, kw_only=True)
class Case:
    """What cannot be learned from.

    Args:
        name: what is wrong.
        data: made when the case is tried, in a folder of its own.
        words: what the refusal has to say.
        model: what should learn it.
        settings: of `nw.fit`.
    """

    name: str
    data: Callable[[Path], Any]
    words: str
    model: str = "softmax"
    settings: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case(
        name="no rows",
        data=lambda _: (INPUTS[:0], CLASSES[:0]),
        words="is empty, its inputs have shape (0, 3)",
    ),
    Case(
        name="one row",
        data=lambda _: (INPUTS[:1], CLASSES[:1]),
        words="only one class in its training rows, '0'",
    ),
    Case(
        name="fewer rows than a batch",
        data=lambda _: (INPUTS, CLASSES),
        settings={"batch_size": 64},
        words="batch_size 64 is more than the 28 training rows",
    ),
    Case(
        name="an empty validation split",
        data=lambda _: good(val=good().train.take(NO_ROWS)),
        words="the val split of arrays is empty",
    ),
    Case(
        name="one class",
        data=lambda _: (INPUTS, np.zeros(40, dtype=int)),
        words="only one class in its training rows, '0'",
    ),
    Case(
        name="a class only in validation",
        data=lambda _: nw.data.from_arrays(
            INPUTS, CLASSES, validation=(INPUTS[:3], np.array([0, 1, 2]))
        ),
        words="validation targets have an unknown label '2' in row 2",
    ),
    Case(name="label -1", data=lambda _: shifted(-1), words="label -1 in row 0 of the train split"),
    Case(name="label C", data=lambda _: shifted(1), words="label 2 in row 1 of the train split"),
    Case(
        name="a target that is NaN",
        data=lambda _: (INPUTS, np.where(np.arange(40) == 7, np.nan, REALS)),
        model="linear-regression",
        words="targets must be finite, got nan at [7]",
    ),
    Case(
        name="a constant target",
        data=lambda folder: table(folder, lambda row: f"{row % 3},2.5"),
        model="linear-regression",
        settings={"target": "y", "target_kind": "real"},
        words="table.csv: the target 'y' is constant in the training rows",
    ),
    Case(
        name="text among numbers",
        data=lambda folder: table(folder, lambda row: f"{'big' if row == 9 else row},{row % 2}"),
        settings={"target": "y"},
        words="table.csv:11: column 'other': 'big' is not a number",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How learning from bad data ended."""

    refusal: str
    steps: int
    seconds: float
    left_behind: bool


def tried(case: Case, folder: Path) -> Ending:
    folder.mkdir()
    out, counter, started = folder / "run", CountSteps(), time.process_time()
    try:
        nw.fit(
            case.model,
            case.data(folder),
            epochs=1,
            out=out,
            quiet=True,
            callbacks=[counter],
            device="cpu",  # a wrong label that gets to CUDA ends all work of the process there
            **case.settings,
        )
        refusal = ""
    except nw.NetwrightError as error:
        refusal = str(error)
    except Exception:  # torch's own words are no refusal
        refusal = ""
    seconds = time.process_time() - started
    return Ending(refusal=refusal, steps=counter.steps, seconds=seconds, left_behind=out.exists())


def holds(case: Case, ending: Ending) -> bool:
    """Whether the case was refused in words, in time, before step 1 and without a trace."""
    refused = case.words in ending.refusal and "\n" not in ending.refusal
    return refused and not ending.steps and not ending.left_behind and ending.seconds <= LONGEST


def measure(folder: Path) -> Figures:
    tried(Case(name="good", data=lambda _: good(), words=""), folder / "first")  # imports take time
    endings = [tried(case, folder / str(place)) for place, case in enumerate(CASES)]
    return Figures(
        n=len(CASES),
        passed=sum(holds(case, ending) for case, ending in zip(CASES, endings, strict=True)),
        counts={
            "refused": sum(bool(ending.refusal) for ending in endings),
            "steps taken": sum(ending.steps for ending in endings),
            "worst s": round(max(ending.seconds for ending in endings), 3),
        },
    )


SCENARIO = Scenario(
    code="T20", title="targets that cannot be learned", measure=measure, least={"refused": 11}
)


def test_bad_targets_are_refused_before_the_first_step(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert (figures.n, figures.counts["steps taken"]) == (11, 0)


def test_good_targets_are_learned(tmp_path: Path) -> None:
    ending = tried(Case(name="good", data=lambda _: good(), words=""), tmp_path / "good")
    assert (ending.refusal, ending.left_behind) == ("", True)
    assert ending.steps >= 1


def test_planted_bug_of_data_that_nobody_checks_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (arrays, fit_module):
        monkeypatch.setattr(module, "check_data", lambda data, **options: None)
    figures = measure(tmp_path)
    assert figures.passed == 6  # torch stops the labels beyond the range, in its own words
    assert figures.counts["steps taken"] > 0
