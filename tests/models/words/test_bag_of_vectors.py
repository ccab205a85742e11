"""The bag of vectors: the mean by hand, no order, and hidden layers."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.models.words.bag_of_vectors import BagOfVectors, BagOfVectorsConfig
from tests.models.words.test_text_model import SPEC


def test_a_text_is_the_mean_of_its_words() -> None:
    model = BagOfVectors.build(BagOfVectorsConfig(embedding=3), SPEC).eval()
    assert model.embedding is not None
    vectors = model.embedding.weight
    mean = (vectors[7] + 2 * vectors[9]) / 3
    tokens = torch.tensor([[9, 7, 9, 0]])
    torch.testing.assert_close(model.features(tokens)[0], mean)
    torch.testing.assert_close(model(tokens)[0], model.head(mean))


def test_the_order_of_words_does_not_matter() -> None:
    model = BagOfVectors.build(BagOfVectorsConfig(hidden=(5, 4)), SPEC).eval()
    one, other = torch.tensor([[4, 5, 6, 7]]), torch.tensor([[7, 5, 4, 6]])
    torch.testing.assert_close(model(one), model(other))
    assert model.head.in_features == 4


@pytest.mark.covers("sentiment-analysis")
def test_a_bag_cannot_tell_what_is_negated_and_a_recurrent_network_can(tmp_path: Path) -> None:
    """Praise and blame of the same words: "good, not bad" and "bad, not good"."""
    rows = []
    for noun, good, bad in product(
        ("film", "plot", "cast", "end"), ("good", "fine", "great"), ("bad", "dull", "poor")
    ):
        rows += [f"the {noun} was {good} , not {bad}\t1", f"the {noun} was {bad} , not {good}\t0"]
    (tmp_path / "rows.tsv").write_text("\n".join(["text\tlabel", *rows * 5, ""]))
    given: dict[str, Any] = {
        **{"text": "text", "target": "label", "batch_size": 24, "lr": 0.02},
        **{"save": False, "quiet": True},
    }

    def accuracy(model: str, **settings: Any) -> float:
        run = nw.fit(model, str(tmp_path / "rows.tsv"), **given, **settings)
        return float(run.results["metrics"]["accuracy"])

    assert accuracy("bag-of-vectors", embedding=8, epochs=4) < 0.7
    assert accuracy("gru", embedding=8, hidden=8, epochs=6) >= 0.95
