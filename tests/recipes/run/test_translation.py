"""Translating: the likeliest target of a run, and which runs have none."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, DataError
from netwright.data.text.tokenizer import BOS, EOS
from netwright.decoding.source_decoder import SourceDecoder, say_by_beams
from netwright.recipes.run.translation import translate

TINY: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "epochs": 1, "quiet": True}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    folder = tmp_path_factory.mktemp("translation") / "run"
    return nw.fit("transformer", "reverse", n=50, length=4, symbols=3, out=folder, **TINY)


def test_one_beam_is_what_the_run_predicts_and_many_are_a_search(run: nw.Run) -> None:
    texts = ["ab", "cab", "b"]
    assert list(translate(run, texts, beams=1)) == list(run.predict(texts))
    model, encoder = run.model, run.preprocessor
    assert isinstance(model, SourceDecoder)
    source = encoder.encode(texts)[:, :4].to(device_of(model))
    with torch.no_grad():
        said = say_by_beams(model, source, 5, begin=BOS, end=EOS, beams=9, length_penalty=0.6)
    assert list(translate(run, texts, beams=9)) == encoder.write(said)  # type: ignore[attr-defined]


def test_texts_may_be_more_than_are_searched_at_a_time(
    run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["ab", "cab", "b", "ccc", "a"]
    whole = translate(run, texts, beams=3)
    for together in (1, 6):  # one source at a time, two at a time
        monkeypatch.setattr("netwright.recipes.run.translation.TOGETHER", together)
        assert translate(run, texts, beams=3) == whole


def test_beams_are_counted_and_only_pairs_have_them(run: nw.Run, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^beams must be a whole number, got 2.5$"):
        translate(run, ["ab"], beams=2.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^beams must be from 1 to 1000, got 0$"):
        translate(run, ["ab"], beams=0)
    with pytest.raises(ConfigError, match=r"^beams must be from 1 to 1000, got 1000000000$"):
        translate(run, ["ab"], beams=10**9)
    with pytest.raises(ConfigError, match=r"^length_penalty must be finite, got nan$"):
        translate(run, ["ab"], length_penalty=float("nan"))
    with pytest.raises(DataError, match=r"^no inputs were given to translate$"):
        translate(run, [])
    other = nw.fit("mlp", "iris", epochs=1, out=tmp_path / "run", quiet=True)
    with pytest.raises(
        ConfigError, match=r"^beams are for pairs of texts, this run takes features"
    ):
        translate(other, ["ab"])
