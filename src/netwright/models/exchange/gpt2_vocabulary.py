"""GPT-2's vocabulary as ours: the same byte pairs, behind our four special tokens.

    ours     <pad>  <unk>  <bos>  <eos>            !  "  ...
    theirs   -      -      -      <|endoftext|>    !  "  ...

What their model has no vector for gets that of <|endoftext|>: no text holds such tokens, and
generating never says them. A vocabulary that begins with our special tokens stays as it is.

Shapes: V tokens, D width.
Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), section 2.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.text.subword_tokenizer import BytePairTokenizer
from netwright.data.text.tokenizer import SPECIALS

END = "<|endoftext|>"
TABLES = ("wte.weight", "head.weight")  # one row a token


@dataclass(frozen=True)
class ForeignVocabulary:
    """A tokenizer of ours, and where each of its tokens is in the vocabulary that it was made from.

    Args:
        tokenizer: byte pairs.
        places: of each of its tokens, (V,).
    """

    tokenizer: BytePairTokenizer
    places: Tensor

    def reordered(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights of a GPT by our names, with a row for each of our tokens."""
        return {
            name: weight[self.places] if name in TABLES else weight
            for name, weight in weights.items()
        }


def read_vocabulary(told: Any) -> ForeignVocabulary:
    """The byte pairs in a tokenizer.json; another kind of tokenizer is refused.

    Args:
        told: what the file holds.
    """
    model = told.get("model") if isinstance(told, Mapping) else None
    if not isinstance(model, Mapping) or model.get("type") != "BPE" or not _is_byte_level(told):
        raise DataError("the tokenizer must be byte-level BPE, as GPT-2's is")
    vocabulary, merges = model.get("vocab"), model.get("merges")
    if not isinstance(vocabulary, dict) or not isinstance(merges, list):
        raise DataError("the tokenizer must have a vocabulary and merges")
    numbers = [number for number in vocabulary.values() if type(number) is int]
    if sorted(numbers) != list(range(len(vocabulary))):
        raise DataError("the tokens of the tokenizer must be numbered from 0 on")
    names = sorted(vocabulary, key=vocabulary.__getitem__)
    pairs = tuple(" ".join(map(str, one)) if isinstance(one, list) else one for one in merges)
    if tuple(names[: len(SPECIALS)]) == SPECIALS:
        return ForeignVocabulary(
            BytePairTokenizer(tokens=tuple(names), merges=pairs), torch.arange(len(names))
        )
    if END not in vocabulary:
        raise DataError(f"the tokenizer must have the token {END}, as GPT-2's has")
    end = vocabulary[END]
    others = [name for name in names if name != END]
    places = [*([end] * len(SPECIALS)), *(vocabulary[name] for name in others)]
    tokenizer = BytePairTokenizer(tokens=(*SPECIALS, *others), merges=pairs)
    return ForeignVocabulary(tokenizer, torch.tensor(places))


def _is_byte_level(told: Mapping[str, Any]) -> bool:
    """Whether texts are split and written as bytes before pairs are joined, and nothing else is."""
    splitter = told.get("pre_tokenizer")
    if not isinstance(splitter, Mapping) or told.get("normalizer"):
        return False
    return splitter.get("type") == "ByteLevel" and not splitter.get("add_prefix_space")
