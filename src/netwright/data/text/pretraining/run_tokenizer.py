"""The tokenizer of a run or of a published BERT: a model is fine-tuned with the one it knows."""

from pathlib import Path
from typing import Annotated, Any

from netwright.core.config import Doc
from netwright.core.errors import DataError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json
from netwright.data.text.catalog import load_tokenizer
from netwright.data.text.pretraining.bert_vocabulary import read_bert_vocabulary, vocabulary_file
from netwright.data.text.tokenizer import Tokenizer

RunVocabulary = Annotated[
    str,
    Doc(
        "a run, or the vocab.txt or tokenizer.json of a BERT, whose tokenizer is used as it is, in "
        "place of one fitted to the texts"
    ),
]


def read_run_tokenizer(run: Path) -> Tokenizer:
    """The tokenizer with which a run, or a BERT, reads its texts.

    Args:
        run: its folder; or a vocab.txt or tokenizer.json, or the weights beside one.
    """
    file = vocabulary_file(run)
    if file is not None:
        return read_bert_vocabulary(file).tokenizer
    if not has_file(_file(run)):
        raise DataError(
            "vocabulary must be the folder of a run on texts, or the vocab.txt or tokenizer.json "
            f"of a BERT, got {run}"
        )
    values = _tokenizer_in(run)
    if not values:
        raise DataError(f"vocabulary must be a run on texts: {run} has no tokenizer, or has two")
    try:
        return load_tokenizer(values)
    except (KeyError, TypeError) as error:
        raise DataError(f"the tokenizer of {run} cannot be read: {error!r:.60}") from None


def has_run_tokenizer(run: Path) -> bool:
    """Whether this is the folder of a run with one tokenizer, or has a BERT's beside it."""
    if vocabulary_file(run) is not None:
        return True
    return has_file(_file(run)) and bool(_tokenizer_in(run))


def _file(run: Path) -> Path:
    return run.expanduser() / "model" / "preprocessor.json"


def _tokenizer_in(run: Path) -> dict[str, Any]:
    """The tokenizer as it was saved, of pairs the one of both sides; empty where there is none."""
    told = read_json(_file(run))
    if not isinstance(told, dict):
        return {}
    is_shared = told.get("source") == told.get("target")
    values = told.get("tokenizer", told.get("source") if is_shared else None)
    if not isinstance(values, dict) or not isinstance(values.get("kind"), str):
        return {}
    return values
