"""Views of text and series: each kind of run has its own, of real tokens, in the order of time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import netwright as nw
from netwright.data.dataset import Split
from netwright.data.spec import IGNORED
from netwright.data.text.encoder import TextEncoder
from netwright.inspection.inside.state_norms import measure_state_norms
from netwright.models.sequence.gru import GRU
from netwright.recipes.views import sequence_views
from netwright.recipes.views.sequence_views import inner_views, tag_views
from netwright.train.evaluate import predict

WORDS = "the quick brown fox jumps over the lazy dog "
TINY: dict[str, Any] = {"hidden": 4, "epochs": 1, "device": "cpu", "quiet": True}


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def text() -> Path:
    path = Path("words.txt")
    path.write_text(WORDS * 20)
    return path


def reviews() -> Path:
    """Short texts among long ones, so that there is padding."""
    rows = [f"{'good ' * (1 + row % 3)}film\tyes\nbad\tno" for row in range(30)]
    path = Path("reviews.tsv")
    path.write_text("words\tliked\n" + "\n".join(rows) + "\n")
    return path


def test_letters_have_the_next_tokens_and_what_is_remembered() -> None:
    run = nw.fit("lstm", text(), embedding=3, window=8, **TINY)
    views = run.views()
    assert list(views) == ["curves", "next-tokens", "state-norms", "summary"]
    split = run.data.split(run.results["split"])
    places = views["next-tokens"].to_json()["places"]
    assert isinstance(run.preprocessor, TextEncoder)
    names = [run.preprocessor.tokenizer.tokens[token] for token in split.inputs[0].tolist()]
    assert [place["read"] for place in places] == [name.replace(" ", "␣") for name in names]
    with torch.no_grad():
        likeliest = run.model(split.inputs[:1])[0].softmax(dim=-1).max(dim=-1).values
    shown = [place["likeliest"][0]["probability"] for place in places]
    assert shown == pytest.approx(likeliest.tolist(), abs=1e-5)


def test_a_transformer_shows_where_every_head_looks() -> None:
    settings: dict[str, Any] = {"layers": 2, "heads": 2, "width": 4, "window": 30, "epochs": 1}
    run = nw.fit("gpt", text(), quiet=True, **settings)
    views = run.views()
    assert list(views) == ["curves", "next-tokens", "attention", "summary"]
    attention = views["attention"].to_json()
    assert "".join(attention["queries"]) in (WORDS * 20).replace(" ", "␣")  # spaces are seen
    maps = attention["maps"]
    assert [one["name"] for one in maps] == [f"layer {i}, head {j}" for i in (0, 1) for j in (0, 1)]
    looked = np.array(maps[0]["weights"])
    assert looked.shape == (sequence_views.MOST_TOKENS, sequence_views.MOST_TOKENS)
    assert np.allclose(looked.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(np.triu(looked, k=1), 0)


def test_texts_of_any_length_are_looked_at_without_their_padding() -> None:
    run = nw.fit("gru", reviews(), text="words", target="liked", embedding=3, **TINY)
    views = run.views()
    assert "confusion" in views
    split = run.data.split(run.results["split"])
    length = int((split.inputs[0] != 0).sum())
    assert length < split.inputs.shape[1]
    assert isinstance(run.model, GRU)
    with torch.no_grad():
        steps = run.model.embed(split.inputs[0, :length])
    own = measure_state_norms(run.model.backbone.step, steps, run.model.backbone.start(1))
    assert views["state-norms"] == own


def test_a_text_without_words_has_nothing_to_look_at() -> None:
    run = nw.fit("gru", reviews(), text="words", target="liked", embedding=3, **TINY)
    empty = Split(inputs=torch.zeros(1, 4, dtype=torch.int64), targets=torch.zeros(1).long())
    assert inner_views(run.model, run.preprocessor, empty) == {}


def test_a_large_state_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    run = nw.fit("lstm", "adding", n=60, length=4, **TINY)
    split = run.data.split("test")
    monkeypatch.setattr(sequence_views, "MOST_STATE", 8)  # 4 outputs and 4 cells
    assert list(inner_views(run.model, run.preprocessor, split)) == ["state-norms"]
    monkeypatch.setattr(sequence_views, "MOST_STATE", 7)
    assert inner_views(run.model, run.preprocessor, split) == {}


@pytest.mark.parametrize(("attention", "shown"), [("luong-dot", True), ("none", False)])
def test_pairs_show_where_the_decoder_looked_if_it_can(attention: str, shown: bool) -> None:
    data: dict[str, Any] = {"n": 60, "length": 5, "symbols": 3}
    run = nw.fit("encoder-decoder", "reverse", attention=attention, embedding=3, **data, **TINY)
    views = run.views()
    assert ("alignment" in views) is shown
    if shown:
        (one,) = views["alignment"].to_json()["maps"]
        weights = np.array(one["weights"])
        pairs = run.data.split(run.results["split"]).inputs[: sequence_views.MOST_TOKENS]
        source = int((pairs[:, : run.spec.source_length] != 0).sum(dim=1).max())
        assert weights.shape == (source + 1, source)  # said is also the end
        assert np.allclose(weights.sum(axis=1), 1, atol=1e-5)  # nothing falls on padding


def test_tags_are_compared_where_there_is_a_word() -> None:
    targets = torch.tensor([[0, 1, IGNORED], [1, IGNORED, IGNORED]])
    split = Split(inputs=torch.ones_like(targets), targets=targets)

    def always_first(inputs: Tensor) -> Tensor:
        return torch.tensor([0.75, 0.25]).expand(*inputs.shape, 2)

    views = tag_views(split, always_first, ("noun", "verb"), is_sample=False)
    assert views["confusion"].to_json()["counts"] == [[1, 0], [2, 0]]


def test_a_series_is_forecast_in_the_order_of_time() -> None:
    rows = "\n".join(f"{day},{np.sin(day):.6f}" for day in range(60))
    Path("waves.csv").write_text(f"day,height\n{rows}\n")
    settings: dict[str, Any] = {"target": ("height",), "time": "day", "window": 3}
    run = nw.fit("elman", nw.data.load("series", path="waves.csv", **settings), **TINY)
    views = run.views()
    assert {"residuals", "forecast", "worst-errors", "state-norms"} <= views.keys()
    assert not {"prediction-surface", "fitted-curve"} & views.keys()
    (told,) = views["forecast"].to_json()["outputs"]
    split = run.data.split("test")
    assert told["true"] == pytest.approx(split.targets[:, 0].tolist())
    said = predict(run.model, split.inputs, run.task)
    assert told["predicted"] == pytest.approx(said[:, 0].tolist())
    changes = np.diff(np.sin(np.arange(60)))[-len(split) :]
    assert told["persistence_rmse"] == pytest.approx(np.sqrt((changes**2).mean()), abs=1e-5)
