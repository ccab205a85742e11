"""Framed texts: the special tokens, segments and padding by hand."""

import pytest
import torch

from netwright.data.text.pretraining.framing import frame_pair, frame_texts, segments_of
from netwright.data.text.tokenizer import BOS, EOS, PAD


@pytest.mark.covers("special-tokens")
def test_a_pair_is_cls_a_sep_b_sep_with_segments_and_padding_of_its_lengths() -> None:
    pair = frame_pair([5, 6], [7])
    assert pair == [BOS, 5, 6, EOS, 7, EOS]
    assert frame_pair([5, 6], []) == [BOS, 5, 6, EOS]
    framed = torch.tensor([[*pair, PAD, PAD]])
    assert segments_of(framed).tolist() == [[0, 0, 0, 0, 1, 1, 0, 0]]
    assert (framed != PAD).sum(dim=1).tolist() == [2 + 1 + 3]


def test_texts_of_any_length_get_their_end_behind_their_last_token() -> None:
    texts = torch.tensor([[5, 6, 7], [5, PAD, PAD], [PAD, PAD, PAD]])
    framed = frame_texts(texts)
    assert framed.tolist() == [
        [BOS, 5, 6, 7, EOS],
        [BOS, 5, EOS, PAD, PAD],
        [BOS, EOS, PAD, PAD, PAD],
    ]
    assert segments_of(framed).eq(0).all()
    assert texts.tolist()[0] == [5, 6, 7]  # left as they were
