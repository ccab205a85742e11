"""Parts of a saved model that are whole by themselves and do not fit each other are refused."""

import re
from dataclasses import replace
from typing import Any

import pytest
import torch

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.preprocessing import Preprocessor
from netwright.data.series.symbols import SymbolEncoder
from netwright.data.series.table import SeriesConfig
from netwright.data.series.table import from_frame as series_of
from netwright.data.spec import DataSpec
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table import from_frame as table_of
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.recipes.saved.fitting_parts import check_fitting
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.regression import Regression
from tests.repetition import for_each

CLASSES: dict[str, Any] = {"target": "class", "num_outputs": 2, "class_names": ("no", "yes")}
SPEC = DataSpec(inputs="features", input_shape=(3,), **CLASSES)
ARRAYS = ArrayEncoder(input_shape=(3,), **CLASSES)
TEXTS = RowEncoder(
    tokenizer=WordTokenizer.fit(["a b"]),
    length=3,
    column="text",
    target="class",
    target_columns=("y",),
    class_names=("no", "yes"),
)
SYMBOLS = SymbolEncoder(symbols="ab", length=3, class_names=("no", "yes"))
GUESS = torch.tensor([0.5, 0.5])
ROWS = [{"x": f"{row}.5", "y": "ab"[row % 2]} for row in range(12)]


def fitting(spec: DataSpec = SPEC, encoder: Preprocessor = ARRAYS) -> None:
    check_fitting(spec, encoder, Classification(2), GUESS)


def test_parts_of_one_model_are_taken() -> None:
    for encoder in (ARRAYS, TEXTS, SYMBOLS):
        fitting(encoder=encoder)
    real = DataSpec(inputs="features", input_shape=(3,), target="real", num_outputs=2)
    reals = ArrayEncoder(input_shape=(3,), target="real", num_outputs=2)
    check_fitting(real, reals, Regression.plain(2), torch.zeros(2))
    bare = DataSpec(inputs="features", input_shape=(3,), target="tokens", num_outputs=2)
    fitting(bare, SymbolEncoder(symbols="ab", length=3, class_names=()))


@for_each(
    ("encoder", "sentence"),
    [
        (replace(ARRAYS, input_shape=(4,)), "input_shape (4,) in preprocessor.json, not (3,)"),
        (replace(TEXTS, length=4), "input_shape (4,) in preprocessor.json, not (3,)"),
        (replace(SYMBOLS, length=4), "input_shape (4,) in preprocessor.json, not (3,)"),
        (replace(ARRAYS, num_outputs=3), "num_outputs 3 in preprocessor.json, not 2"),
        (replace(SYMBOLS, class_names=("a", "b", "c")), "3 class names for 2 outputs"),
    ],
)
def test_an_encoder_of_another_model_is_refused(encoder: Preprocessor, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        fitting(encoder=encoder)


def test_tables_and_series_fit_in_their_width_steps_and_classes() -> None:
    table = table_of(ROWS, TableConfig(target=("y",)))
    series = series_of(ROWS, SeriesConfig(target=("y",), window=2, val_size=0, test_size=0))
    for data in (table, series):
        fitting(data.spec, data.preprocessor)
        fitting(replace(data.spec, class_names=("A", "B")), data.preprocessor)
        more = replace(data.spec, class_names=("a", "b", "c"), num_outputs=3)
        with pytest.raises(ValueError, match=r"^2 class names for 3 outputs$"):
            fitting(more, data.preprocessor)
    longer = replace(series.spec, input_shape=(3, *series.spec.input_shape[1:]))
    with pytest.raises(ValueError, match=r"^input_shape \(2, \d\) in preprocessor.json, not \(3,"):
        fitting(longer, series.preprocessor)


def test_more_or_fewer_names_than_outputs_are_refused() -> None:
    fitting(replace(SPEC, class_names=()))
    for names in (("no",), ("no", "yes", "perhaps")):
        with pytest.raises(ValueError, match=f"^{len(names)} class names for 2 outputs$"):
            fitting(replace(SPEC, class_names=names))


@pytest.mark.parametrize(("center", "scale"), [(1, 1), (3, 3), (2, 3)])
def test_a_task_of_other_reals_is_refused(center: int, scale: int) -> None:
    spec = DataSpec(inputs="features", input_shape=(3,), target="real", num_outputs=2)
    encoder = ArrayEncoder(input_shape=(3,), target="real", num_outputs=2)
    task = Regression(torch.zeros(center), torch.ones(scale))
    with pytest.raises(ValueError, match=r"^a task of \d reals for 2 outputs$"):
        check_fitting(spec, encoder, task, torch.zeros(2))


@for_each(
    ("guess", "sentence"),
    [
        (torch.tensor(0.5), "a baseline that is not a list"),
        (torch.tensor([]), "a baseline of shape (0,), not (2,)"),
        (torch.zeros(3), "a baseline of shape (3,), not (2,)"),
        (torch.zeros(2, 1), "a baseline of shape (2, 1), not (2,)"),
    ],
)
def test_a_guess_of_other_outputs_is_refused(guess: torch.Tensor, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        check_fitting(SPEC, ARRAYS, Classification(2), guess)
