"""Text with spans left out, as data: whole examples in their order, notes and refusals."""

from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.data.text.pretraining.span_corruption import put_back, spans_of
from tests.data.text.pretraining.test_masked_text import text


def loaded(folder: Path, **settings: object) -> Data:
    given = {"tokenizer": "word", "window": 20, "val_size": 0.3, **settings}
    return load("corrupted-text", path=str(text(folder)), **given)


def test_examples_are_stretches_of_the_text_in_their_order(tmp_path: Path) -> None:
    data, spans = loaded(tmp_path), spans_of(20)
    assert (data.spec.inputs, data.spec.target, data.spec.sentinels) == ("pairs", "tokens", 2)
    assert data.spec.vocab_size == data.spec.num_outputs == 4 + 10 + 2
    assert data.spec.shared_vocabulary
    for split in (data.train, data.split("val")):
        whole = put_back(split.inputs, split.targets, spans, 4 + 10)
        turns = whole.flatten()[1:] - whole.flatten()[:-1]
        words = data.preprocessor.decode(split.inputs)[0]
        assert "<extra_id_0>" in words["source"]
        assert int((turns == 0).sum()) <= 1  # the ten words by turns; one was cut in two
    assert data.notes[0] == "the splits are cut by position: train then val"
    assert data.notes[1] == "vocabulary of the training part: 14 tokens, and 2 sentinels"
    assert data.notes[2] == (
        "examples of 20 tokens: 8 train, 3 val; 3 tokens of each are left out, in 1 spans"
    )


def test_the_seed_draws_the_spans(tmp_path: Path) -> None:
    one, same = loaded(tmp_path), loaded(tmp_path)
    assert torch.equal(one.train.inputs, same.train.inputs)
    assert not torch.equal(one.train.inputs, loaded(tmp_path, span_seed=1).train.inputs)


def test_what_cannot_be_learned_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^path is empty, wanted a .txt file"):
        load("corrupted-text")
    with pytest.raises(ConfigError, match="window"):
        loaded(tmp_path, window=7)
    with pytest.raises(DataError, match=r"^no token of notes.txt occurs min_count=99 times$"):
        loaded(tmp_path, min_count=99)
    with pytest.raises(DataError, match=r"^the train part has \d+ tokens.*a smaller window$"):
        loaded(tmp_path, window=1001)
