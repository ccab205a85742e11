"""Gated memories: gates that begin where they are put, and what each network recalls."""

import pytest
import torch

from netwright.data.catalog import load
from netwright.theory.sequences.gated_memory import (
    GATED_MEMORY,
    OPEN,
    GatedMemoryConfig,
    build_memory,
    recalled,
)
from netwright.theory.trained_measures import build_named
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(GATED_MEMORY)


@pytest.mark.parametrize(("name", "blocks"), [("lstm", [-OPEN / 2, OPEN]), ("gru", [None, OPEN])])
def test_gates_begin_open(name: str, blocks: list[float | None]) -> None:
    data = load("recall", length=5, n=40, symbols=2)
    model = build_memory(name, data, GatedMemoryConfig(), 0, hidden=3, embedding=2)
    bias = model.backbone.weights(0)["bias_ih"].view(-1, 3)  # type: ignore[union-attr,operator]
    for place, wanted in enumerate(blocks):
        if wanted is not None:
            assert torch.equal(bias[place], torch.full((3,), wanted))


def test_without_open_gates_they_begin_as_the_library_has_them() -> None:
    data = load("recall", length=5, n=40, symbols=2)
    usual = build_named("lstm", data, seed=0, hidden=3, embedding=2)
    given = GatedMemoryConfig(open_gates=False)
    model = build_memory("lstm", data, given, 0, hidden=3, embedding=2)
    for name, weight in usual.state_dict().items():
        assert torch.equal(model.state_dict()[name], weight)


def test_all_recall_over_two_steps() -> None:
    found = recalled(GatedMemoryConfig(long_gap=False), 0)
    assert list(found) == ["lstm", "gru", "elman"]
    assert min(found.values()) == 100
