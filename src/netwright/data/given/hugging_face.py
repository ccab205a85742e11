"""A Hugging Face `Dataset` or `DatasetDict` as it is given: columns by name, of the type they say.

    an image column and a target           pictures
    a text column and a target             texts with labels; `text=` names it where there are more
    a text column alone                    texts for a language model
    columns of tokens, perhaps a target    several inputs by name; texts beside them are left out
    all others, with `target=`             a table

The target is `target=`, else the only class label, else a column named label or labels. The splits
of a `DatasetDict` are train, validation and test.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from netwright.core.config import Config
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.data.given.form import GivenForm, is_of
from netwright.data.given.frames import FRAME
from netwright.data.given.given import Given
from netwright.data.given.pictures import LABELLED_PICTURES
from netwright.data.given.texts import LABELLED_TEXTS, TEXTS
from netwright.data.given.token_columns import TOKEN_COLUMNS, filled, next_tokens, token_inputs
from netwright.data.spec import IGNORED
from netwright.data.tables.frames import values_table

SPLITS = {
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test",),
}
PARTS = ("data", *SPLITS)
LABELS = ("label", "labels")
NAMED: dict[str, Any] = {"target": (), "text": ""}  # settings that name columns, when they do not
WHOLE = re.compile("u?int|bool")  # dtypes of lists that are tokens, tags or masks
WAY_OUT = "give a torch DataLoader over dataset.with_format('torch')"

is_dict = is_of("datasets", "DatasetDict")
is_dataset = is_of("datasets", "Dataset")


@dataclass(frozen=True)
class Columns:
    """Which columns of a dataset are read.

    Args:
        form: what they are as a whole.
        inputs: the columns of pictures, texts or tokens; none for a table.
        target: the column to predict; empty for a language model.
    """

    form: GivenForm
    inputs: tuple[str, ...]
    target: str

    @classmethod
    def of(cls, dataset: Any, settings: Mapping[str, Any]) -> "Columns":
        """Tell by the types of the columns, and by the settings that name some."""
        kinds = {name: _kind(feature) for name, feature in dataset.features.items()}
        target = _target(kinds, settings.get("target", ""))
        others = [name for name in kinds if name != target]
        images = [name for name in others if kinds[name] == "image"]
        nested = [name for name in others if kinds[name] == "nested"]
        tokens = tuple(name for name in others if kinds[name] == "tokens")
        text = settings.get("text", "")
        if not text and len(others) == 1 and kinds[others[0]] == "text":
            text = others[0]
        if len(images) == 1 and target:
            return cls(LABELLED_PICTURES, (images[0],), target)
        if images:
            raise DataError(
                f"the dataset must have one column of images and a target, got "
                f"{', '.join(kinds)}: choose with dataset.select_columns and target="
            )
        if tokens and not text:
            return cls(TOKEN_COLUMNS, tokens, target)
        if text:
            return cls(LABELLED_TEXTS if target else TEXTS, (text,), target)
        if nested:
            raise DataError(
                f"column {nested[0]!r} of the dataset holds lists, wanted one value a cell: "
                f"{WAY_OUT}"
            )
        return cls(FRAME, (), target)

    def read(self, dataset: Any) -> Any:
        """A dataset in the form that its columns have."""
        if self.form is FRAME:
            names = dataset.column_names
            return values_table("dataset", {name: _values(dataset, name) for name in names})
        if self.form is TOKEN_COLUMNS:
            tokens = token_inputs({name: _values(dataset, name) for name in self.inputs})
            return tokens, self._targets(dataset) if self.target else next_tokens(tokens)
        inputs = _values(dataset, *self.inputs)
        return (inputs, _values(dataset, self.target)) if self.target else inputs

    def _targets(self, dataset: Any) -> Any:
        """One value a row, or one for each token."""
        values = _values(dataset, self.target)
        is_by_token = _kind(dataset.features[self.target]) == "tokens"
        return filled(values, IGNORED) if is_by_token else values


def _target(kinds: Mapping[str, str], given: Any) -> str:
    named = (given,) if isinstance(given, str) else tuple(given)
    if len(named) > 1:
        raise ConfigError(
            f"target must be one column of a dataset, got {', '.join(named)}: give "
            f"dataset.to_pandas(), which may have several"
        )
    if named and named[0]:
        if named[0] not in kinds:
            raise ConfigError(
                f"the dataset has no column {named[0]!r}; there are {', '.join(kinds)}"
            )
        return str(named[0])
    labels = [name for name, kind in kinds.items() if kind == "class"]
    return labels[0] if len(labels) == 1 else next((name for name in LABELS if name in kinds), "")


def _kind(feature: Any) -> str:
    """What a column holds: images, classes, texts, numbers, tokens or lists of anything else."""
    name = type(feature).__name__
    if name in {"Image", "ClassLabel"}:
        return {"Image": "image", "ClassLabel": "class"}[name]
    if name in {"List", "LargeList", "Sequence"}:
        inner = getattr(feature.feature, "dtype", "")
        return "tokens" if WHOLE.match(inner) else "nested"
    if name != "Value":
        return "nested"
    return "text" if feature.dtype in {"string", "large_string"} else "number"


def _values(dataset: Any, name: str) -> list[Any]:
    """A column as Python values; classes by their names."""
    values, feature = list(dataset.with_format(None)[name]), dataset.features[name]
    if _kind(feature) != "class":
        return values
    for row, value in enumerate(values):
        if value is None or not 0 <= value < len(feature.names):
            raise DataError(
                f"column {name!r} of the dataset has no class in row {row}, got {value}: leave "
                f"such rows out with dataset.filter"
            )
    return [feature.names[value] for value in values]


def unpacked(given: Given) -> Given:
    """The splits of a dict as what is given; those given beside it are refused."""
    splits = given.data
    if "train" not in splits:
        raise DataError(
            f"a {type(splits).__name__} must have a split named train, got {', '.join(splits)}"
        )
    found = {
        part: next((splits[name] for name in names if name in splits), None)
        for part, names in SPLITS.items()
    }
    for part, split in found.items():
        if split is not None and getattr(given, part) is not None:
            raise ConfigError(
                f"the {type(splits).__name__} has a {part} split, and {part} is given beside it: "
                f"leave out one of them"
            )
        found[part] = getattr(given, part) if split is None else split
    return replace(given, data=splits["train"], **found)


def _load(given: Given, config: Any) -> Data:
    """The columns as the form that they have, whose settings name no columns any more."""
    parts = {name: part for name in PARTS if (part := getattr(given, name)) is not None}
    for name, part in parts.items():
        if not is_dataset(part):
            raise ConfigError(f"{name} must be a Dataset as the data is, got {type(part).__name__}")
    columns = Columns.of(given.data, {name: getattr(config, name, "") for name in NAMED})
    if columns.form is FRAME:
        config = replace(config, target=(columns.target,) if columns.target else ())
    else:
        config = replace(config, **{k: v for k, v in NAMED.items() if hasattr(config, k)})
    read = {name: columns.read(part) for name, part in parts.items()}
    return columns.form.load(replace(given, **read), config)


def _settings(source: Any, given: Mapping[str, Any]) -> type[Config]:
    dataset = unpacked(Given(data=source)).data if is_dict(source) else source
    return Columns.of(dataset, given).form.settings(source, {})


HUGGING_FACE = GivenForm(
    name="a Hugging Face Dataset or DatasetDict",
    recognises=lambda source: is_dict(source) or is_dataset(source),
    settings=_settings,
    load=_load,
    unpack=lambda given: unpacked(given) if is_dict(given.data) else given,
)
