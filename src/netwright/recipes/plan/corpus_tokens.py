"""The tokenizer that a corpus is prepared with: a kind to be fitted, or one that exists already."""

from dataclasses import dataclass
from pathlib import Path

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json
from netwright.data.text.catalog import TOKENIZERS
from netwright.data.text.pretraining.run_tokenizer import read_run_tokenizer
from netwright.data.text.shards.index import VOCABULARY, read_vocabulary
from netwright.data.text.tokenizer import Tokenizer
from netwright.models.exchange import gpt2_vocabulary


@dataclass(frozen=True, kw_only=True)
class FittedTokens:
    """How a tokenizer is fitted.

    Args:
        tokenizer: its name in the table.
        vocab_size: the most tokens; None: as many as usual.
        min_count: how often a token occurs at least.
        lower: text is converted to lower case.
    """

    tokenizer: str
    vocab_size: int | None = None
    min_count: int = 1
    lower: bool = False


def corpus_tokens(
    source: str, *, vocab_size: int | None = None, lower: bool = False
) -> FittedTokens | Tokenizer:
    """A kind of tokenizer by its name, or the tokenizer that lies at a path.

    Args:
        source: char, word, bpe or wordpiece; a run; a folder of token files; a tokenizer.json of
            GPT-2 or BERT.
        vocab_size: the most tokens of one that is fitted; refused with a path.
        lower: text is converted to lower case, where one is fitted; refused with a path.
    """
    if source in TOKENIZERS:
        return FittedTokens(tokenizer=source, vocab_size=vocab_size, lower=lower)
    path = Path(source).expanduser()
    if not path.exists():
        hint = nearest(source, TOKENIZERS) or f"; there are {', '.join(TOKENIZERS)}, or a path"
        raise UnknownNameError(f"unknown tokenizer {source!r}{hint}")
    if lower or vocab_size is not None:
        raise ConfigError(
            f"--lower and --vocab-size are for a tokenizer that is fitted, {source} is used as it "
            f"is: leave them out, or give --tokenizer {' or '.join(TOKENIZERS)}"
        )
    if has_file(path / VOCABULARY):
        return read_vocabulary(path)
    if path.name == "tokenizer.json" and _is_byte_pairs(path):
        return gpt2_vocabulary.read_vocabulary(read_json(path)).tokenizer
    return read_run_tokenizer(path)


def _is_byte_pairs(path: Path) -> bool:
    told = read_json(path)
    model = told.get("model") if isinstance(told, dict) else None
    return isinstance(model, dict) and model.get("type") == "BPE"
