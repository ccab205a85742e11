"""What the discrete memories share: what is stored, how, and what the logits say."""

import pytest
import torch

from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.models.memory.discrete_memory import spread_rows
from netwright.models.memory.hopfield import Hopfield, HopfieldConfig


def spec(*shape: int, classes: int = 3) -> DataSpec:
    return DataSpec(
        inputs="image" if len(shape) == 3 else "features",
        input_shape=shape,
        target="class",
        num_outputs=classes,
    )


def examples(rows: int, *shape: int, weights: torch.Tensor | None = None) -> Split:
    numbers = torch.Generator().manual_seed(0)
    inputs = torch.rand(rows, *shape, generator=numbers)
    return Split(inputs=inputs, targets=torch.arange(rows) % 3, weights=weights)


def test_rows_are_dealt_out_evenly_over_the_classes() -> None:
    targets = torch.tensor([0] * 50 + [1] * 5 + [2] * 2)
    data = Split(inputs=torch.zeros(57, 2), targets=targets)
    rows = spread_rows(data, torch.Generator().manual_seed(0))
    assert sorted(rows.tolist()) == list(range(57))
    assert sorted(targets[rows[:6]].tolist()) == [0, 0, 1, 1, 2, 2]
    assert sorted(targets[rows[6:12]].tolist()) == [0, 0, 0, 1, 1, 1]


def test_rows_of_weight_zero_are_never_stored_and_heavy_ones_come_first() -> None:
    weights = torch.ones(300)
    weights[:100], weights[100:110] = 0.0, 1e6
    data = Split(inputs=torch.zeros(300, 2), targets=torch.zeros(300).long(), weights=weights)
    rows = spread_rows(data, torch.Generator().manual_seed(0)).tolist()
    assert sorted(rows) == list(range(100, 300))
    assert sorted(rows[:10]) == list(range(100, 110))


@pytest.mark.parametrize(("shape", "default"), [((1, 2, 2), 0.5), ((4,), 0.0)])
def test_inputs_above_the_cut_are_up(shape: tuple[int, ...], default: float) -> None:
    x = torch.tensor([[-1.0, 0.0, 0.5, 0.6]]).view(1, *shape)
    flat = x.flatten()
    for cut, at in ((None, default), (0.55, 0.55)):
        model = Hopfield.build(HopfieldConfig(cut=cut), spec(*shape))
        assert model.encode(x).tolist() == [[1.0 if v > at else -1.0 for v in flat.tolist()]]


def test_memory_grows_by_tenths_and_counts_what_it_holds() -> None:
    model = Hopfield.build(HopfieldConfig(patterns=20), spec(1, 10, 10))
    steps = list(model.fit_steps(examples(60, 1, 10, 10), 0))
    assert [step["patterns"] for step in steps] == [2.0 * count for count in range(1, 11)]
    assert all(step["stable"] == 1.0 for step in steps)
    assert steps[0]["recalled"] == 1.0
    assert model.patterns.shape == (20, 100)


def test_logits_are_the_best_overlap_with_each_class() -> None:
    model = Hopfield.build(HopfieldConfig(), spec(4, classes=3))
    model.patterns = torch.tensor([[1.0, 1, 1, 1], [1, 1, 1, -1], [-1, -1, -1, -1]])
    model.classes = torch.tensor([0, 0, 2])
    model.remember()
    logits = model(torch.tensor([[1.0, 1.0, 1.0, 1.0]]))
    torch.testing.assert_close(logits, torch.tensor([[10.0, -10.0, -10.0]]))


def test_fewer_examples_than_patterns_are_all_stored() -> None:
    model = Hopfield.build(HopfieldConfig(patterns=50), spec(6))
    steps = list(model.fit_steps(examples(7, 6), 0))
    assert len(steps) == 7 and len(model.patterns) == 7


def test_views_show_recall_for_images_and_energy_for_all() -> None:
    for shape, names in (
        ((1, 8, 8), ["recalled-patterns", "energy-descent"]),
        ((64,), ["energy-descent"]),
    ):
        model = Hopfield.build(HopfieldConfig(patterns=9), spec(*shape))
        data = examples(30, *shape)
        list(model.fit_steps(data, 0))
        views = model.own_views(data)
        assert list(views) == names
        assert views["energy-descent"].to_json()["num_rises"] == 0
