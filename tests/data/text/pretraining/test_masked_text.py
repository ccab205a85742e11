"""Text for pre-training: framed pairs, documents by empty lines, notes and refusals."""

from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.data.spec import IGNORED
from netwright.data.text.pretraining.framing import segments_of
from netwright.data.text.pretraining.masking import unmask_tokens
from netwright.data.text.tokenizer import BOS, EOS

WORDS = "one two three four five six seven eight nine ten"


def text(folder: Path, documents: int = 12) -> Path:
    file = folder / "notes.txt"
    file.write_text("\n\n".join(f"{WORDS} {WORDS}" for _ in range(documents)))
    return file


def loaded(folder: Path, **settings: object) -> Data:
    given = {"tokenizer": "word", "window": 13, "val_size": 0.3, **settings}
    return load("masked-text", path=str(text(folder)), **given)


def test_an_example_is_cls_a_sep_b_sep_and_says_at_cls_whether_b_follows(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    inputs, targets = data.train.inputs, data.train.targets
    assert (data.spec.inputs, data.spec.target) == ("masked", "tokens")
    assert data.spec.vocab_size == data.spec.num_outputs + 1 == 4 + 10 + 1
    assert inputs.shape == (len(data.train), 13)
    assert bool((inputs[:, 0] == BOS).all())
    assert bool((inputs[:, [6, 12]] == EOS).all())
    assert segments_of(inputs[:1]).tolist() == [[0] * 7 + [1] * 6]
    assert set(targets[:, 0].tolist()) == {0, 1}
    whole = unmask_tokens(inputs[:, 1:], targets[:, 1:])
    first, second = whole[:, :5], whole[:, 6:11]
    follows = targets[:, 0] == 0
    half = len(data.train) - len(data.train) // 2
    assert int(follows.sum()) == half
    assert bool((targets[:, 1:] != IGNORED).any())
    assert first.shape == second.shape
    assert data.notes[0] == "the splits are cut by position: train then val"
    assert data.notes[2].startswith(f"train: {len(data.train)} pairs of segments of 5 tokens")
    assert "1 of 9 documents are shorter than a pair and joined to the next" in data.notes[2]


def test_the_seed_draws_pairs_and_masks(tmp_path: Path) -> None:
    one, same = loaded(tmp_path), loaded(tmp_path)
    assert torch.equal(one.train.inputs, same.train.inputs)
    assert not torch.equal(one.train.inputs, loaded(tmp_path, mask_seed=1).train.inputs)


def test_what_cannot_be_learned_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^path is empty, wanted a .txt file"):
        load("masked-text")
    with pytest.raises(ConfigError, match=r"window must be odd, two equal segments and 3 special"):
        loaded(tmp_path, window=12)
    with pytest.raises(DataError, match=r"^no token of notes.txt occurs min_count=99 times$"):
        loaded(tmp_path, min_count=99)
    with pytest.raises(
        DataError, match=r"^\w+: .*, \d+ tokens give \d; give a longer text or a smaller window$"
    ):
        loaded(tmp_path, window=1001)
