"""Where models look: any that has `attention_weights` is asked, whatever its class."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.text.pair_encoder import PairEncoder
from netwright.recipes.views.inside import attention

WORDS = "the quick brown fox jumps over the lazy dog "


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def text() -> Path:
    path = Path("words.txt")
    path.write_text(WORDS * 20)
    return path


class LooksEvenly(nn.Module):
    """A model of one's own in which each token looks at all as much."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(tokens, 3), nn.Linear(3, tokens)

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.head(self.embedding(tokens))
        return logits

    def attention_weights(self, tokens: Tensor) -> list[Tensor]:
        count = tokens.shape[1]
        return [torch.full((len(tokens), 2, count, count), 1 / count)]


def test_a_transformer_shows_where_every_head_looks() -> None:
    settings: dict[str, Any] = {"layers": 2, "heads": 2, "width": 4, "window": 30, "epochs": 1}
    run = nw.fit("gpt", text(), quiet=True, **settings)
    views = run.views()
    assert list(views) == ["curves", "next-tokens", "attention", "summary"]
    shown = views["attention"].to_json()
    assert "".join(shown["queries"]) in (WORDS * 20).replace(" ", "␣")  # spaces are seen
    maps = shown["maps"]
    assert [one["name"] for one in maps] == [f"layer {i}, head {j}" for i in (0, 1) for j in (0, 1)]
    looked = np.array(maps[0]["weights"])
    assert looked.shape == (attention.MOST_TOKENS, attention.MOST_TOKENS)
    assert np.allclose(looked.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(np.triu(looked, k=1), 0)


def test_a_new_transformer_has_attention_maps_by_having_attention_weights() -> None:
    data = nw.data.load("text", path=str(text()), window=8)
    run = nw.fit(LooksEvenly(data.spec.vocab_size), data, epochs=1, quiet=True)
    maps = nw.inspect(run, "attention").to_json()["maps"]
    assert [one["name"] for one in maps] == ["layer 0, head 0", "layer 0, head 1"]
    assert maps[1]["weights"] == [[0.125] * 8] * 8


def test_what_has_no_attention_is_refused(moons_run: nw.Run) -> None:
    for view in ("attention", "alignment"):
        with pytest.raises(ConfigError, match=f"^{view} needs a model with `attention_weights`"):
            nw.inspect(moons_run, view)


@pytest.mark.parametrize(("kind", "shown"), [("luong-dot", True), ("none", False)])
def test_pairs_show_where_the_decoder_looked_if_it_can(kind: str, shown: bool) -> None:
    data: dict[str, Any] = {"n": 60, "length": 5, "symbols": 3}
    tiny: dict[str, Any] = {"hidden": 4, "embedding": 3, "epochs": 1, "device": "cpu"}
    run = nw.fit("encoder-decoder", "reverse", attention=kind, quiet=True, **data, **tiny)
    views = run.views()
    assert ("alignment" in views) is shown
    assert "attention" not in views
    if shown:
        (one,) = views["alignment"].to_json()["maps"]
        weights = np.array(one["weights"])
        pairs = run.data.split(run.results["split"]).inputs[: attention.MOST_TOKENS]
        source = int((pairs[:, : run.spec.source_length] != 0).sum(dim=1).max())
        assert weights.shape == (source + 1, source)  # said is also the end
        assert np.allclose(weights.sum(axis=1), 1, atol=1e-5)  # nothing falls on padding
    else:
        with pytest.raises(ConfigError, match=r"^this encoder-decoder has no attention$"):
            nw.inspect(run, "alignment")


def test_of_a_transformer_every_head_of_every_block_is_shown() -> None:
    data: dict[str, Any] = {"n": 60, "length": 5, "symbols": 3}
    tiny: dict[str, Any] = {"layers": 2, "heads": 2, "width": 4, "epochs": 1, "device": "cpu"}
    run = nw.fit("transformer", "reverse", quiet=True, **data, **tiny)
    maps = nw.inspect(run, "alignment").to_json()["maps"]
    assert [one["name"] for one in maps] == [f"layer {i}, head {j}" for i in (0, 1) for j in (0, 1)]
    for one in maps:
        assert np.allclose(np.array(one["weights"]).sum(axis=1), 1, atol=1e-5)


def test_a_typed_source_is_shown_with_what_the_model_itself_says_of_it() -> None:
    data: dict[str, Any] = {"n": 60, "length": 5, "symbols": 3}
    tiny: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "epochs": 1, "device": "cpu"}
    run = nw.fit("transformer", "reverse", quiet=True, **data, **tiny)
    (text,) = run.predict(["abca"])
    view = nw.inspect(run, "alignment", text="abca").to_json()
    for one in view["maps"]:
        weights = np.array(one["weights"])
        assert weights.shape[1] == 4
        assert weights.shape[0] in {len(text), len(text) + 1}  # with the end, where it comes
        assert np.allclose(weights.sum(axis=1), 1, atol=1e-5)
    encoder = cast(PairEncoder, run.preprocessor)
    told = encoder.encode_pairs(["abca"], [text])[0]
    wanted = cast(Any, run.model.eval()).attention_weights(told)[0][0, 0]
    shown = np.array(view["maps"][0]["weights"])
    assert np.allclose(shown, wanted[: len(shown), :4].numpy(), atol=1e-5)
    with pytest.raises(ConfigError, match=r"text must have at most 5 tokens, .* got 6"):
        nw.inspect(run, "alignment", text="abcabc")
