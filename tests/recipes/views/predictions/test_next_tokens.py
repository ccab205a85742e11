"""What a language model expects next, of real tokens."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.text.encoder import TextEncoder

WORDS = "the quick brown fox jumps over the lazy dog "


def test_letters_have_the_next_tokens_and_what_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("words.txt")
    path.write_text(WORDS * 20)
    settings: Any = {"hidden": 4, "embedding": 3, "window": 8, "epochs": 1}
    run = nw.fit("lstm", path, device="cpu", quiet=True, **settings)
    views = run.views()
    names = ["curves", "gradient-norms", "next-tokens", "state-norms", "summary"]
    assert list(views) == names
    split = run.data.split(run.results["split"])
    places = views["next-tokens"].to_json()["places"]
    assert isinstance(run.preprocessor, TextEncoder)
    read = [run.preprocessor.tokenizer.tokens[token] for token in split.inputs[0].tolist()]
    assert [place["read"] for place in places] == [token.replace(" ", "␣") for token in read]
    with torch.no_grad():
        likeliest = run.model(split.inputs[:1])[0].softmax(dim=-1).max(dim=-1).values
    shown = [place["likeliest"][0]["probability"] for place in places]
    assert shown == pytest.approx(likeliest.tolist(), abs=1e-5)


def test_what_says_no_tokens_expects_none(moons_run: nw.Run) -> None:
    with pytest.raises(
        ConfigError, match=r"^next tokens are for tokens, this run predicts classes"
    ):
        nw.inspect(moons_run, "next-tokens")
