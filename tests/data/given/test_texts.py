"""Texts with labels are a table of texts; alone they are a corpus."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.given.given import Given
from netwright.data.given.texts import LABELLED_TEXTS, TEXTS
from netwright.data.text.corpus import TextConfig
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.text_table import TextTableConfig, text_table_data

FILMS = ["a fine film", "a dull film", "what fun", "how boring"] * 3
LABELS = [1, 0, 1, 0] * 3
NONE: dict[str, Any] = {"val_size": 0.0, "test_size": 0.0}


def labelled(*pair: Any, **beside: Any) -> Any:
    return LABELLED_TEXTS.load(Given(data=pair, **beside), TextTableConfig(**NONE))


def test_texts_with_labels_are_a_table_of_texts() -> None:
    data = labelled(FILMS, LABELS, validation=(pd.Series(FILMS[:2]), np.array(LABELS[:2])))
    frame = read_text_rows(pd.DataFrame({"text": FILMS, "target": LABELS}))
    table = text_table_data(frame, TextTableConfig(text="text", target=("target",), **NONE))
    assert data.spec == table.spec
    assert data.preprocessor == table.preprocessor
    assert data.train.inputs.equal(table.train.inputs)
    assert data.split("val").inputs.equal(data.train.inputs[:2])
    assert data.split("val").targets.tolist() == [1, 0]


def test_words_that_mean_missing_in_a_table_are_texts_here() -> None:
    assert len(labelled([*FILMS, "None"], [*LABELS, 1]).train) == 13
    with pytest.raises(DataError, match="'text' is missing in 1 of 13 rows"):
        labelled([*FILMS, " "], [*LABELS, 1])


def test_targets_and_weights() -> None:
    data = labelled(FILMS, np.linspace(0, 1, 12), np.arange(1, 13))
    assert data.spec.target == "real"
    assert data.train.weights.tolist() == list(range(1, 13))
    several = labelled(FILMS, np.random.default_rng(0).random((12, 2)))
    assert several.spec.num_outputs == 2
    assert labelled(FILMS, np.array([[0, 1], [1, 1]] * 6)).spec.target == "labels"
    with pytest.raises(DataError, match="texts has 12 rows, but 2 of 'target'"):
        labelled(FILMS, [1, 0])
    with pytest.raises(ConfigError, match="text and target name columns of a table"):
        config = TextTableConfig(text="text", **NONE)
        LABELLED_TEXTS.load(Given(data=(FILMS, LABELS)), config)


def test_texts_alone_are_cut_by_position_or_as_given() -> None:
    config = TextConfig(window=4, val_size=0.25)
    cut = TEXTS.load(Given(data=FILMS), config)
    assert cut.spec.target == "tokens"
    assert cut.val is not None
    assert "the splits are cut by position: train then val" in cut.notes
    given = TEXTS.load(Given(data=FILMS, test=FILMS[:3]), config)
    assert (given.val is not None, given.test_is_given) == (True, True)
    assert len(given.split("test")) < len(cut.train)
    with pytest.raises(DataError, match="validation must be texts in a list"):
        TEXTS.load(Given(data=FILMS, validation=3), config)


def test_forms_are_told_apart() -> None:
    assert LABELLED_TEXTS.recognises((FILMS, LABELS))
    assert not LABELLED_TEXTS.recognises(("train.csv", "test.csv"))
    assert TEXTS.recognises(FILMS)
    assert not TEXTS.recognises((FILMS[0], FILMS[1]))


def test_weights_stay_with_their_texts_where_some_are_dropped() -> None:
    texts = [" ", *FILMS]
    config = TextTableConfig(drop_missing_text=True, **NONE)
    given = Given(data=(texts, [1, *LABELS], np.arange(13)))
    weights = LABELLED_TEXTS.load(given, config).train.weights
    assert weights is not None
    assert weights.tolist() == list(range(1, 13))
