"""The tokenizer of a run: what a model was pre-trained with, it is fine-tuned with."""

from pathlib import Path
from typing import Annotated

from netwright.core.config import Doc
from netwright.core.errors import DataError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json
from netwright.data.text.catalog import load_tokenizer
from netwright.data.text.tokenizer import Tokenizer

RunVocabulary = Annotated[
    str, Doc("a run whose tokenizer is used as it is, in place of one fitted to the texts")
]


def read_run_tokenizer(run: Path) -> Tokenizer:
    """The tokenizer with which a run reads its texts.

    Args:
        run: its folder.
    """
    file = run.expanduser() / "model" / "preprocessor.json"
    if not has_file(file):
        raise DataError(f"vocabulary must be the folder of a run on texts, got {run}")
    told = read_json(file)
    values = told.get("tokenizer") if isinstance(told, dict) else None
    if not isinstance(values, dict) or not isinstance(values.get("kind"), str):
        raise DataError(f"vocabulary must be a run on texts: {run} has no tokenizer")
    try:
        return load_tokenizer(values)
    except (KeyError, TypeError) as error:
        raise DataError(f"the tokenizer of {run} cannot be read: {error!r:.60}") from None
