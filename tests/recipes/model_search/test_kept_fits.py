"""Fits that are kept until their search ends: found again as they were, or learned again."""

import math
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError, RunError
from netwright.recipes.model_search.kept_fits import FILE, KeptFit, KeptFits, keeping_fits
from tests.recipes.model_search.test_race_plan import PLAN
from tests.repetition import for_each

FIT = KeptFit(
    answers=torch.rand(5, 3, dtype=torch.float64),
    losses=torch.rand(5, dtype=torch.float64),
    seconds=1.25,
    limit=None,
    was_cut=True,
)
SHAPE = (5, 3)
PLACE = Path("searches/models-iris-001")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def broken_off() -> Path:
    """The folder of a search that was killed after the second fold of the MLP."""
    with pytest.raises(SystemExit), keeping_fits(PLAN, "iris", resume=None, tell=print) as kept:
        kept.keep("mlp", 1, FIT)
        raise SystemExit(143)
    return PLACE


def test_a_search_that_ends_leaves_nothing() -> None:
    with keeping_fits(PLAN, "iris", resume=None, tell=print) as kept:
        assert not PLACE.exists()  # as long as there is nothing to keep
        kept.keep("mlp", 0, FIT)
        assert PLACE.is_dir()
    assert not Path("searches").exists()


def test_fits_of_a_search_that_was_broken_off_are_found_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = broken_off()
    first, last = capsys.readouterr().out.splitlines()
    assert first == f"the search is kept in {folder} until it ends"
    assert last == f"to go on with the search: netwright search --resume {folder}"
    with keeping_fits(PLAN, "iris", resume=folder, tell=print) as kept:
        assert kept.find("mlp", 0, SHAPE) is None
        found = kept.find("mlp", 1, SHAPE)
        assert found is not None
        assert torch.equal(found.answers, FIT.answers)
        assert torch.equal(found.losses, FIT.losses)
        assert (found.seconds, found.limit, found.was_cut) == (1.25, None, True)
    assert not folder.exists()


def test_what_somebody_has_put_beside_them_stays() -> None:
    folder = broken_off()
    (folder / "thoughts.txt").write_text("mine")
    with keeping_fits(PLAN, "iris", resume=folder, tell=print):
        pass
    assert [file.name for file in folder.iterdir()] == ["thoughts.txt"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [("cut", "is damaged: its sha256 differs"), ("shape", "does not hold the answers of such a")],
)
def test_a_damaged_fit_is_learned_again(
    damage: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = broken_off()
    file = folder / "mlp-1" / FILE
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-1])
    with ExitStack() as held:
        kept = KeptFits(PLAN, "iris", folder, held, print)
        assert kept.find("mlp", 1, SHAPE if damage == "cut" else (5, 4)) is None
        assert says in capsys.readouterr().err
        kept.keep("mlp", 1, FIT)
        assert kept.find("mlp", 1, SHAPE) is not None


@for_each(
    "lie",
    [
        {"seconds": -1e9},
        {"seconds": math.nan},
        {"limit": math.inf},
        {"answers": FIT.answers / 0},
        {"losses": FIT.losses * math.nan},
    ],
)
def test_numbers_that_no_fit_gives_are_not_believed(lie: dict[str, Any]) -> None:
    with ExitStack() as held:
        kept = KeptFits(PLAN, "iris", None, held, print)
        kept.keep("mlp", 1, replace(FIT, **lie))
        assert kept.find("mlp", 1, SHAPE) is None


def test_a_search_that_is_refused_keeps_what_it_has_learned() -> None:
    with pytest.raises(ConfigError), keeping_fits(PLAN, "iris", resume=None, tell=print):
        raise ConfigError("no")
    assert not PLACE.exists()
    with pytest.raises(ConfigError), keeping_fits(PLAN, "iris", resume=None, tell=print) as kept:
        kept.keep("mlp", 0, FIT)
        raise ConfigError("no")
    assert (PLACE / "mlp-0").is_dir()


def test_two_processes_do_not_share_a_search() -> None:
    folder = broken_off()
    with keeping_fits(PLAN, "iris", resume=folder, tell=print):
        with pytest.raises(RunError, match="is in use by process"), ExitStack() as held:
            KeptFits(PLAN, "iris", folder, held, print)
