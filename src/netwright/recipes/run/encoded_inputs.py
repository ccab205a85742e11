"""Raw inputs of any kind as a run's model takes them.

Shapes: N rows.
"""

from typing import Any

from netwright.core.errors import DataError
from netwright.core.trees import Tree, count_rows
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.data.tables.array_reading import is_tabular, read_input_array
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.recipes.run.answers import check_is_file


def encode_inputs(source: Any, spec: DataSpec, preprocessor: Preprocessor) -> Tree:
    """The inputs (N, ...), at least one; see `Run.predict` for what they may be."""
    inputs = encode_any(source, spec, preprocessor)
    if not count_rows(inputs):
        raise DataError("no inputs were given to predict")
    return inputs


def encode_any(source: Any, spec: DataSpec, preprocessor: Preprocessor) -> Tree:
    """The same, where there may be none."""
    if is_table_for_arrays(source, preprocessor):
        source = read_input_array(source, spec)
    if isinstance(preprocessor, TextEncoder | PairEncoder):
        check_is_file(source)
    return preprocessor.encode(source)


def remarks_on(source: Any, spec: DataSpec, preprocessor: Preprocessor) -> tuple[str, ...]:
    """What is new in the inputs, in sentences."""
    if is_table_for_arrays(source, preprocessor):
        source = read_input_array(source, spec)
    if isinstance(preprocessor, ArrayEncoder):
        return preprocessor.remarks(source, spec.feature_names)
    return preprocessor.remarks(source)


def is_table_for_arrays(source: Any, preprocessor: Preprocessor) -> bool:
    """Whether a table is given to a model that learned from arrays."""
    return preprocessor.kind == "arrays" and is_tabular(source)
