"""BERT's vocabulary as ours: the same word pieces, behind our four special tokens.

    ours     <pad>  <unk>  <bos>  <eos>   the others in their order      and [MASK] behind them
    theirs   [PAD]  [UNK]  [CLS]  [SEP]   at any place, [MASK] too

It is in vocab.txt, a token a line, or in tokenizer.json, which also says how texts are cleaned:
BERT drops control characters, sets Chinese characters apart and, where it lowers letters, strips
their accents. Of a vocab.txt the tokenizer_config.json beside it says whether letters are lowered;
without one they are if no token has a capital letter. A vocabulary that begins with our special
tokens, as that of an exported run does, keeps its order.

Shapes: V tokens of the file.
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 3;
`tokenizers`' BertNormalizer and BertPreTokenizer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json
from netwright.data.text.pretraining.framing import CLS, MASK, SEP
from netwright.data.text.subword_tokenizer import GOES_ON, WordPieceTokenizer
from netwright.data.text.text_files import read_text
from netwright.data.text.tokenizer import SPECIALS

THEIR_SPECIALS = ("[PAD]", "[UNK]", CLS, SEP)
LINES, JSON, SETTINGS = "vocab.txt", "tokenizer.json", "tokenizer_config.json"
USUAL = {"clean_text": True, "handle_chinese_chars": True}


@dataclass(frozen=True, kw_only=True)
class BertVocabulary:
    """A tokenizer of ours, and where each of its tokens is in the file that it was made from.

    Args:
        tokenizer: word pieces.
        places: of each of its tokens, and last of [MASK]: (V,).
    """

    tokenizer: WordPieceTokenizer
    places: tuple[int, ...]


def vocabulary_file(source: Path) -> Path | None:
    """The file with BERT's vocabulary: this one, or the one beside a file of weights."""
    source = source.expanduser()
    if source.name in {LINES, JSON}:
        return source if has_file(source) else None
    if source.suffix != ".safetensors" or not has_file(source):
        return None
    found = (source.with_name(name) for name in (JSON, LINES))
    return next((file for file in found if has_file(file) and _is_bert(file)), None)


def read_bert_vocabulary(file: Path) -> BertVocabulary:
    """The word pieces in a vocab.txt or tokenizer.json; other tokenizers are refused.

    Args:
        file: of `vocabulary_file`.
    """
    if file.name == LINES:
        names = read_text(file).removesuffix("\n").split("\n")
        return _ordered(file, names, lower=_lowers(file, names), as_bert=True)
    told = read_json(file)
    if not _is_word_piece(told):
        raise DataError(f"{file} must be a WordPiece tokenizer, as BERT's is")
    cleaning = told.get("normalizer") or {}
    as_bert = cleaning.get("type") == "BertNormalizer"
    lower = cleaning.get("type") == "Lowercase" or bool(as_bert and cleaning.get("lowercase"))
    accents = cleaning.get("strip_accents")
    is_usual = all(cleaning.get(name) is value for name, value in USUAL.items())
    if as_bert and not (is_usual and accents in {None, lower}):
        raise DataError(f"{file} must clean texts as BERT does, got {cleaning}")
    return _ordered(file, _numbered(file, told), lower=lower, as_bert=as_bert)


def _is_bert(file: Path) -> bool:
    """Whether a file that lies beside weights is a vocabulary such as BERT's."""
    return file.name == LINES or _is_word_piece(read_json(file))


def _is_word_piece(told: Any) -> bool:
    """Whether a tokenizer.json splits as BERT's does, cleaned by BERT's rules, lowered or as is."""
    if not isinstance(told, Mapping):
        return False
    model, splitter, cleaning = (
        told.get(part) or {} for part in ("model", "pre_tokenizer", "normalizer")
    )
    if not all(isinstance(part, Mapping) for part in (model, splitter, cleaning)):
        return False
    return (
        model.get("type") == "WordPiece"
        and model.get("continuing_subword_prefix") == GOES_ON
        and splitter.get("type") == "BertPreTokenizer"
        and cleaning.get("type") in {None, "Lowercase", "BertNormalizer"}
    )


def _numbered(file: Path, told: Mapping[str, Any]) -> list[str]:
    """The tokens of a tokenizer.json in the order of their numbers, added ones among them."""
    numbers = told["model"].get("vocab")
    numbers = dict(numbers) if isinstance(numbers, Mapping) else {}
    for added in told.get("added_tokens") or ():
        if isinstance(added, Mapping):
            numbers.setdefault(added.get("content"), added.get("id"))
    if not all(type(number) is int for number in numbers.values()) or sorted(
        numbers.values()
    ) != list(range(len(numbers))):
        raise DataError(f"the tokens of {file} must be numbered from 0 on")
    return sorted(numbers, key=numbers.__getitem__)


def _lowers(file: Path, names: Sequence[str]) -> bool:
    """Whether letters are lowered before a vocab.txt is looked into."""
    beside = file.with_name(SETTINGS)
    told = read_json(beside) if has_file(beside) else None
    if isinstance(told, Mapping) and isinstance(told.get("do_lower_case"), bool):
        return bool(told["do_lower_case"])
    return not any(name != name.lower() for name in names if not name.startswith("["))


def _ordered(file: Path, names: Sequence[str], *, lower: bool, as_bert: bool) -> BertVocabulary:
    """The tokens in our order."""
    where = {name: place for place, name in enumerate(names)}
    first = SPECIALS if tuple(names[: len(SPECIALS)]) == SPECIALS else THEIR_SPECIALS
    for name in (*first, MASK):
        if name not in where:
            raise DataError(f"{file} must have the token {name}, as BERT's vocabulary has")
    others = [name for name in names if name not in first and name != MASK]
    tokenizer = WordPieceTokenizer(tokens=(*SPECIALS, *others), lower=lower, as_bert=as_bert)
    return BertVocabulary(
        tokenizer=tokenizer, places=tuple(where[name] for name in (*first, *others, MASK))
    )
