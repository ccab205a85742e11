"""The embedding map of a run: a point an example, a token or a row of the embedding."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.text.tokenizer import SPECIALS
from netwright.inspection.inside.embedding_map import EmbeddingMap, measure_embedding_map
from netwright.recipes.views.attribution.explained_answer import input_token_names
from netwright.recipes.views.inside.embedding_map import EMBEDDING_MAP
from netwright.recipes.views.subject import Subject
from tests.inspection.untouched import untouched


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shown(run: nw.Run, **settings: object) -> EmbeddingMap:
    with untouched(run.model):
        view = EMBEDDING_MAP.show(Subject(run, *run.data_at_hand()), settings)
    assert isinstance(view, EmbeddingMap)
    return view


def test_examples_are_what_the_head_reads(moons_run: nw.Run) -> None:
    view = shown(moons_run, points=20)
    assert view.num_dimensions == 16
    assert len(view.points) == len(view.classes) == 20
    assert shown(moons_run, layer="head").num_dimensions == 2


def test_reals_are_coloured_by_their_value() -> None:
    run = nw.fit("ridge", "diabetes", quiet=True)
    view = shown(run)
    targets = run.data.split("test").targets.cpu()[:, 0]
    torch.testing.assert_close(torch.tensor(view.values), targets, check_dtype=False)


def test_tokens_of_texts_and_of_the_vocabulary_are_points() -> None:
    settings: dict[str, Any] = {"n": 40, "hidden": 4, "embedding": 3, "epochs": 1, "quiet": True}
    run = nw.fit("encoder-decoder", "reverse", **settings)
    said = shown(run, points=30)
    assert len(said.points) == 30
    assert said.class_names[-1] == "other"
    vocabulary = shown(run, of="tokens")
    assert len(vocabulary.points) == run.spec.vocab_size - len(SPECIALS)  # which say nothing
    assert vocabulary.labels == tuple(input_token_names(run)[len(SPECIALS) :])


def test_a_text_is_one_point_and_its_padding_does_not_count() -> None:
    rows = [f"{'good ' * (1 + row % 3)}film\tyes\nbad\tno" for row in range(15)]
    Path("reviews.tsv").write_text("words\tliked\n" + "\n".join(rows) + "\n")
    settings: dict[str, Any] = {"text": "words", "target": "liked", "hidden": 4, "epochs": 1}
    run = nw.fit("gru", "reviews.tsv", quiet=True, **settings)
    assert len(shown(run, points=3).points) == 3
    view = shown(run, points=4, layer="embedding")
    assert ", the mean over its tokens, a vector of" in view.caption
    inputs = Subject(run, *run.data_at_hand()).batch(4).inputs
    table = next(part for part in run.model.modules() if isinstance(part, nn.Embedding))
    means = [table(text[text != run.spec.padding]).mean(dim=0) for text in inputs]
    expected = measure_embedding_map(torch.stack(means), "the same")
    torch.testing.assert_close(
        torch.tensor(view.points).abs(), torch.tensor(expected.points).abs(), atol=1e-5, rtol=0
    )


def test_models_without_layers_and_without_tokens_are_refused(moons_run: nw.Run) -> None:
    tree = nw.fit("decision-tree", "iris", quiet=True)
    sentence = "^an embedding map needs a network with layers, decision-tree has none$"
    with pytest.raises(ConfigError, match=sentence):
        shown(tree)
    with pytest.raises(ConfigError, match=r"^mlp has no token embedding to show$"):
        shown(moons_run, of="tokens")
