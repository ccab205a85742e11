"""A model's graph gives what the model gives, for any number of rows, or the reason why not."""

import logging
import warnings

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.recipes.exchange.export import largest_difference
from netwright.recipes.exchange.export_format import ExportSource
from netwright.recipes.exchange.predictor import Predictor
from netwright.recipes.exchange.tracing import UNTRACEABLE, quietly, trace
from netwright.train.tasks.classification import Classification
from tests.models.test_catalog import label
from tests.recipes.exchange.families import ANY, families, source_of, spec_of

QUICK = (
    ("mlp", "features", "class"),
    ("gru", "tokens", "class"),  # padded rows
    ("mingru", "series", "class"),
    ("decision-tree", "features", "class"),
    ("hopfield", "features", "class"),
)


@pytest.mark.parametrize(("name", "spec"), families(*QUICK), ids=label)
def test_a_graph_gives_what_the_model_gives(name: str, spec: DataSpec) -> None:
    source = source_of(name, spec)
    if name in UNTRACEABLE:
        sentence = f"^{name} cannot be exported to x: {UNTRACEABLE[name]}.* export it to state-dict"
        with pytest.raises(ConfigError, match=sentence):
            trace(source, "x")
        return
    program = trace(source, "x").module()
    for rows in (source.rows, source.rows[:1], source.rows[:3]):
        assert largest_difference(source.predictor.of_run(rows), program(rows)) < 1e-5


def test_a_text_may_have_any_length_that_the_context_has_room_for() -> None:
    source = source_of("gpt", spec_of("gpt", "tokens", "tokens"))
    program = trace(source, "x").module()
    for rows in (source.rows[:, :2], torch.cat((source.rows, source.rows[:, :2]), dim=1)):
        assert largest_difference(source.predictor.of_run(rows), program(rows)) < 1e-5


def test_the_names_of_refusals_are_models() -> None:
    for name in UNTRACEABLE:
        MODELS.check(name)


class Undecided(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if bool(x.sum() > 0) else -x


def test_a_module_of_ones_own_that_cannot_be_traced_is_refused_in_one_sentence() -> None:
    spec = DataSpec(inputs="features", input_shape=(2,), target="class", num_outputs=2)
    predictor = Predictor(Undecided(), Classification(2), spec, None)
    source = ExportSource(
        predictor=predictor, preprocessor=ANY, section={"name": ""}, rows=torch.ones(3, 2)
    )
    sentence = r"^Undecided cannot be exported to x, for torch cannot trace it: [^\n]*state-dict$"
    with pytest.raises(ConfigError, match=sentence):
        trace(source, "x")


def test_what_exporters_say_is_kept_silent_and_only_then() -> None:
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    with quietly():
        warnings.warn("nothing to a user", stacklevel=1)
        assert not logger.isEnabledFor(logging.ERROR)
    assert logger.level == before
