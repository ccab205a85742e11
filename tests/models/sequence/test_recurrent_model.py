"""Stacks of cells as models: what their settings build."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.models.sequence.gru import GRU, GRUConfig
from tests.models.sequence.specs import SPECS
from tests.repetition import for_each


def test_settings_reach_the_stack() -> None:
    config = GRUConfig(hidden=4, layers=3, dropout=0.3, bidirectional=True)
    stack = GRU.build(config, SPECS["tags"]).backbone
    assert (stack.hidden, stack.layers, stack.dropout) == (4, 3, 0.3)
    assert stack.bidirectional
    assert stack.output_size == 8
    assert stack.input_size == config.embedding


def test_both_paths_of_the_backbone_give_one_answer() -> None:
    model = GRU.build(GRUConfig(hidden=4, layers=2, bidirectional=True), SPECS["text"]).eval()
    text = torch.tensor([[1, 2, 3, 4, 0, 0], [4, 3, 2, 1, 1, 2]])
    fused = model(text)
    model.backbone.fused = False
    torch.testing.assert_close(model(text), fused)


@for_each(
    ("settings", "sentence"),
    [
        ({"hidden": 0}, "hidden must be greater than 0, got 0"),
        ({"layers": 0}, "layers must be greater than 0, got 0"),
        ({"dropout": 1.0}, "dropout must be less than 1.0, got 1.0"),
        ({"pool": "first"}, "pool must be 'last', 'mean' or 'max', got 'first'"),
    ],
)
def test_settings_are_refused_where_they_make_no_network(
    settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        GRUConfig(**settings)  # type: ignore[arg-type]
