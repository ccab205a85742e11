"""Kinds of a saved state: those of a fresh one pass, others are refused by their place."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import random_state
from netwright.train.saving.state_kinds import (
    check_counts,
    check_like,
    check_memory,
    check_named,
    check_random,
    telling_forgeries,
)
from tests.repetition import for_each

FRESH = {"sum": torch.zeros(2), "rows": 0, "best": None, "on": True, "name": "x", "held": [1.0]}


def test_a_tree_like_a_fresh_one_passes() -> None:
    check_like(FRESH, FRESH)
    check_like({**FRESH, "best": 0.5, "rows": 7, "held": [float("inf"), 2], "more": "y"}, FRESH)
    check_like({**FRESH, "held": []}, FRESH)  # a list has the length that a run gave it


@for_each(
    ("name", "value"),
    [
        ("sum", 0.0),
        ("sum", torch.zeros(3)),
        ("sum", torch.zeros(2, dtype=torch.int64)),
        ("rows", "7"),
        ("rows", True),
        ("best", "high"),
        ("best", []),
        ("on", 1),
        ("name", None),
        ("held", {}),
        ("held", ["x"]),
    ],
)
def test_another_kind_is_refused_with_its_place(name: str, value: Any) -> None:
    place = f"state/{name}/0" if value == ["x"] else f"state/{name}"
    with pytest.raises(TypeError, match=f"^{place} has the wrong type$"):
        check_like({**FRESH, name: value}, FRESH)


@for_each("value", [None, True, -1, 1.0, "1", []])
def test_counters_count(value: Any) -> None:
    check_counts({"step": 3, "elapsed": 0.5}, ("step",))
    with pytest.raises(TypeError, match="step must be a non-negative integer"):
        check_counts({"step": value, "elapsed": 0.5}, ("step",))
    with pytest.raises(TypeError, match="elapsed must be a number"):
        check_counts({"step": 3, "elapsed": "long"}, ("step",))


def test_states_of_generators_are_tried_and_put_back() -> None:
    state = random_state()
    check_random(state)
    assert torch.equal(torch.get_rng_state(), state["torch"])
    for wrong in ({**state, "torch": torch.zeros(3)}, {**state, "python": [3]}, {}):
        with pytest.raises((TypeError, RuntimeError, ValueError, KeyError)):
            check_random(wrong)
        assert torch.equal(torch.get_rng_state(), state["torch"])


def test_tensors_have_the_shapes_of_the_weights_that_they_belong_to() -> None:
    model = nn.Linear(2, 3)
    check_named({"weight": torch.zeros(3, 2)}, model, "the gradient")
    for wrong in ({"weight": torch.zeros(2)}, {"weight": 1}, {"other": torch.zeros(3, 2)}):
        with pytest.raises(TypeError, match=r"^the gradient of '\w+' has the wrong type$"):
            check_named(wrong, model, "the gradient")
    memory: dict[str, Any] = {
        "state": {0: {"exp_avg": torch.zeros(3, 2), "step": torch.tensor(1.0)}}
    }
    check_memory(memory, list(model.parameters()))
    memory["state"][0]["exp_avg"] = torch.zeros(5)
    with pytest.raises(TypeError, match=r"^optimizer/state/0/exp_avg has the wrong type$"):
        check_memory(memory, list(model.parameters()))


def test_what_a_folder_makes_stumble_is_one_sentence(tmp_path: Path) -> None:
    @telling_forgeries
    def load(folder: Path, error: Exception) -> None:
        raise error

    with pytest.raises(DataError) as refusal:
        load(tmp_path, KeyError("a"))
    assert str(refusal.value) == (
        f"{tmp_path} does not contain a valid training state: KeyError('a')"
    )
    with pytest.raises(ConfigError, match=r"^ours$"):
        load(tmp_path, ConfigError("ours"))
