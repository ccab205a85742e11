"""A tokenizer of ours as `tokenizer.json`, the file of Hugging Face's `tokenizers`.

Byte pairs and WordPiece are theirs anyhow. Characters and words are a vocabulary (WordLevel) behind
a pattern that splits the text. There the special tokens are read from text as well: "<eos>" in a
text is the end of it, while ours reads five characters.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from netwright.core.errors import DataError
from netwright.data.text.pretraining.sentinel_tokenizer import SentinelTokenizer
from netwright.data.text.subword_tokenizer import SubwordTokenizer
from netwright.data.text.tokenizer import BOS, EOS, PAD, SPECIALS, UNK, Tokenizer
from netwright.data.text.word_tokenizer import WORD, WordTokenizer

CHARACTER = r"[\s\S]"


def to_tokenizer_json(tokenizer: Tokenizer) -> str:
    """The content of tokenizer.json."""
    write = WRITERS.get(type(tokenizer).kind)
    if write is None:
        raise DataError(f"a tokenizer of kind {tokenizer.kind!r} has no tokenizer.json")
    return write(tokenizer)


def tokenizer_config(context: int | None) -> dict[str, Any]:
    """The content of tokenizer_config.json.

    Args:
        context: the tokens that the model has room for; None: any number.
    """
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": SPECIALS[PAD],
        "unk_token": SPECIALS[UNK],
        "bos_token": SPECIALS[BOS],
        "eos_token": SPECIALS[EOS],
        "clean_up_tokenization_spaces": False,
        **({} if context is None else {"model_max_length": context}),
    }


def framing_json(tokenizer: Tokenizer, mask: str) -> str:
    """The content of tokenizer.json where texts are framed, as BERT reads them, and have masks.

    Args:
        tokenizer: its <bos> and <eos> are put around a text, and <eos> behind a second one.
        mask: the name of the token behind the vocabulary.
    """
    library = _imported()
    theirs = library.Tokenizer.from_str(to_tokenizer_json(tokenizer))
    begin, end = SPECIALS[BOS], SPECIALS[EOS]
    theirs.post_processor = library.processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} $B:1 {end}:1",
        special_tokens=[(begin, BOS), (end, EOS)],
    )
    theirs.add_special_tokens([mask])
    content: str = theirs.to_str()
    return content


def framing_config(context: int, mask: str) -> dict[str, Any]:
    """The content of tokenizer_config.json for `framing_json`; BERT's own names of its tokens."""
    names = {"cls_token": SPECIALS[BOS], "sep_token": SPECIALS[EOS], "mask_token": mask}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return {**tokenizer_config(context), **names, "model_input_names": inputs}


def _sentinels(tokenizer: Tokenizer) -> str:
    """The tokenizer inside, and the sentinels behind its vocabulary."""
    library, ours = _imported(), cast(SentinelTokenizer, tokenizer)
    theirs = library.Tokenizer.from_str(to_tokenizer_json(ours.plain))
    theirs.add_special_tokens(list(ours.tokens[ours.plain.size :]))
    content: str = theirs.to_str()
    return content


def _subwords(tokenizer: Tokenizer) -> str:
    return cast(SubwordTokenizer, tokenizer).library_json()


def _characters(tokenizer: Tokenizer) -> str:
    library = _imported()
    theirs = _of_vocabulary(library, tokenizer)
    pattern = library.Regex(CHARACTER)
    theirs.pre_tokenizer = library.pre_tokenizers.Split(pattern, "isolated")
    theirs.decoder = library.decoders.Fuse()
    return _written(library, theirs, lower=tokenizer.lower)


def _words(tokenizer: Tokenizer) -> str:
    library, ours = _imported(), cast(WordTokenizer, tokenizer)
    theirs, end = _of_vocabulary(library, tokenizer), SPECIALS[EOS]
    if ours.split_at == "spaces":
        theirs.pre_tokenizer = library.pre_tokenizers.WhitespaceSplit()
    else:
        pattern = library.Regex(f"{end}|{WORD.pattern}" if ours.line_ends else WORD.pattern)
        theirs.pre_tokenizer = library.pre_tokenizers.Split(pattern, "removed", invert=True)
    ends = [library.normalizers.Replace("\n", f" {end} ")] if ours.line_ends else []
    return _written(library, theirs, *ends, lower=ours.lower)


WRITERS: Mapping[str, Callable[[Tokenizer], str]] = {
    "char": _characters,
    "word": _words,
    "bpe": _subwords,
    "wordpiece": _subwords,
    "sentinels": _sentinels,
}


def _of_vocabulary(library: Any, tokenizer: Tokenizer) -> Any:
    vocabulary = {name: token for token, name in enumerate(tokenizer.tokens)}
    return library.Tokenizer(library.models.WordLevel(vocabulary, unk_token=SPECIALS[UNK]))


def _written(library: Any, theirs: Any, *normalizers: Any, lower: bool) -> str:
    steps = [*([library.normalizers.Lowercase()] if lower else []), *normalizers]
    if steps:
        theirs.normalizer = library.normalizers.Sequence(steps)
    content: str = theirs.to_str()
    return content


def _imported() -> Any:
    try:
        import tokenizers  # noqa: PLC0415 - optional
    except ImportError:
        raise DataError(
            "tokenizer.json needs the package tokenizers: pip install 'netwright[text]'"
        ) from None
    return tokenizers
