"""Texts as they are given: with labels to predict, or alone for a language model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from netwright.core.config import Config
from netwright.core.errors import ConfigError, DataError
from netwright.data.arrays import read_weights
from netwright.data.dataset import Data, check_data
from netwright.data.given.arrays import check_same_form, is_pair
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.given.held_out import add_splits
from netwright.data.given.table_groups import with_groups
from netwright.data.tables.frames import with_columns
from netwright.data.tables.raw_table import RawTable
from netwright.data.targets import infer_kind, read_targets
from netwright.data.text.catalog import fit_tokenizer
from netwright.data.text.corpus import TextConfig, corpus_data, cut_texts
from netwright.data.text.text_lists import texts_of
from netwright.data.text.text_table import TextTableConfig, text_table_data

NAME, COLUMN = "texts", "text"


def is_labelled(source: Any) -> bool:
    """Whether these are texts with their targets."""
    return is_pair(source) and texts_of(source[0]) is not None


def is_alone(source: Any) -> bool:
    """Whether these are texts alone; a tuple of two or three would be inputs and targets."""
    return not isinstance(source, tuple) and texts_of(source) is not None


def _load_labelled(given: Given, config: TextTableConfig) -> Data:
    check_same_form(given, "(texts, targets[, weights])")
    if config.target or config.text:
        raise ConfigError("text and target name columns of a table: texts and targets are given")
    texts, targets, *weights = given.data
    rows = [text.strip() for text in texts_of(texts) or ()]
    table = RawTable(name=NAME, columns={COLUMN: rows}, positions=range(len(rows)))
    table, names = with_columns(table, "target", targets)
    # The dtype decides, as for arrays: a table has text alone, and would look at the values.
    kind = infer_kind(read_targets(targets))[0] if config.target_kind == "auto" else None
    config = replace(config, text=COLUMN, target=names, target_kind=kind or config.target_kind)
    table, config = with_groups(table, config, given.groups)
    counted = read_weights(weights[0], len(rows)) if weights else None
    return add_splits(text_table_data(table, config, weights=counted), given)


def _load_alone(given: Given, config: TextConfig) -> Data:
    """The parts are stretches of all texts in their order, or the texts that are given for them."""
    texts = texts_of(given.data) or []
    parts = cut_texts(texts, val_size=config.val_size, test_size=config.test_size)
    for part, name in (("val", "validation"), ("test", "test")):
        source = getattr(given, name)
        if source is not None:
            own = texts_of(source)
            if own is None:
                raise DataError(
                    f"{name} must be texts in a list as the data is, got {type(source).__name__}"
                )
            parts[part] = own
    how = "as given" if given.has_splits else "cut by position: " + " then ".join(parts)
    notes = [f"the splits are {how}"]
    if len(texts) > 1:
        notes.append(f"{len(texts)} texts, each ends in <eos>")
    tokenizer = fit_tokenizer(parts["train"], config, NAME)
    is_given = given.test is not None
    data = corpus_data(NAME, parts, tokenizer, config, notes, test_is_given=is_given)
    check_data(data)
    return data


def _table_settings(_texts: Any, _given: Mapping[str, Any]) -> type[Config]:
    return TextTableConfig


def _corpus_settings(_texts: Any, _given: Mapping[str, Any]) -> type[Config]:
    return TextConfig


LABELLED_TEXTS = GivenForm(
    name="(texts, targets[, weights])",
    recognises=is_labelled,
    settings=_table_settings,
    load=_load_labelled,
)
TEXTS = GivenForm(
    name="texts in a list",
    recognises=is_alone,
    settings=_corpus_settings,
    load=_load_alone,
    has_rows=False,
)
