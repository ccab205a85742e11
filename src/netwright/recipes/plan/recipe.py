"""A recipe: model, data, training and seed, by name, as one validated config."""

import os
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from netwright.core.checks import check_no_nul, check_seed, nearest
from netwright.core.config import Config, describe, parse, to_mapping
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.learner import Learner
from netwright.data.catalog import SOURCES
from netwright.data.files.addresses import is_address
from netwright.data.files.file_names import shown
from netwright.data.images.listing import is_image_name
from netwright.data.images.pairs import is_pairs_folder
from netwright.data.npy import is_npy_folder
from netwright.data.shards.source import holds_image_shards
from netwright.data.tables.parquet_folder import is_parquet_folder
from netwright.data.text.conllu import CONLLU
from netwright.data.text.pretraining.run_tokenizer import has_run_tokenizer
from netwright.data.text.shards.token_folder import holds_token_files
from netwright.data.text.text_files import PLAIN, PUBLISHED_TEXTS, has_ending, holds_files
from netwright.data.text.text_rows import read_text_rows
from netwright.inspection.drawing.page import code, folded, text
from netwright.models.catalog import MODELS
from netwright.recipes.plan.given_settings import check_places
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.plan.recipe_paths import whole_path, with_whole_paths
from netwright.train.settings import TrainConfig

SECTIONS = ("format", "seed", "model", "data", "train", "own", "from")
FORMAT = 1
DEFAULTS = {"model": {"name": "mlp"}, "data": {"name": "digits"}}  # where a recipe names none
READERS = (  # they read files
    *("table", "npy", "images", "image-shards", "segmentation"),
    *("text", "text-table", "tagged", "text-pairs", "words", "token-shards"),
)
TABLE, ARRAYS, IMAGES, IMAGE_SHARDS, PAIRS, *_TEXTS = READERS
TEXT, TEXT_TABLE, TAGGED, TEXT_PAIRS, WORDS, SHARDS = _TEXTS
FOLDERS: Mapping[Callable[[str], bool], str] = {  # folders that are known by what they hold
    is_npy_folder: ARRAYS,
    is_pairs_folder: PAIRS,
    holds_token_files: SHARDS,
    holds_image_shards: IMAGE_SHARDS,
}
QUESTIONS = "questions"
QUESTION_COLUMNS = {"question", "context", "answer"}  # what they are called
NAMED_COLUMNS = {  # settings that name a column -> who reads such a table
    "text": TEXT_TABLE,
    "source": TEXT_PAIRS,
    "question": QUESTIONS,
    "answer": QUESTIONS,
}
VOCABULARY = "vocabulary"  # the setting of data that names a run whose tokens they take
MASKED = {TEXT: "masked-text", "wikitext-2": "masked-wikitext-2"}  # the same texts, masked
CORRUPTED = {  # and with spans left out
    TEXT: "corrupted-text",
    "tinyshakespeare": "corrupted-tinyshakespeare",
    "wikitext-2": "corrupted-wikitext-2",
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides a run's result.

    Args:
        model: a name in the catalog of models; empty for a module of the user's own.
        model_settings: its config, or None with a module of the user's own.
        data: a name in the catalog of data; empty for arrays handed over.
        data_settings: its config, or None for arrays handed over.
        train: how to train.
        seed: of weights, order and dropout.
        start_from: a run, or a file, whose weights are the first ones; empty: drawn by seed.
        own: what else came from Python, by name: a loss, an optimizer ...
    """

    model: str
    model_settings: Config | None
    data: str
    data_settings: Config | None
    train: TrainConfig
    seed: int = 0
    start_from: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        model, data = self.model or "a module of your own", self.data or "arrays"
        return f"Recipe({model} on {data}, seed {self.seed})"

    def __str__(self) -> str:
        return to_yaml(self.to_mapping()).rstrip()

    def _repr_html_(self) -> str:
        return str(text(repr(self)) + folded("The recipe", code(str(self))))

    def to_mapping(self) -> dict[str, Any]:
        """The recipe as it stands in `config.yaml`."""
        model = {} if self.model_settings is None else to_mapping(self.model_settings)
        data = {} if self.data_settings is None else to_mapping(self.data_settings)
        mapping: dict[str, Any] = {
            "format": FORMAT,
            "seed": self.seed,
            "model": {"name": self.model, **with_whole_paths("model", model)},
            "data": {"name": self.data, **with_whole_paths("data", data)},
            "train": to_mapping(self.train),
        }
        if self.own:
            mapping["own"] = dict(self.own)
        return {**mapping, "from": self.start_from} if self.start_from else mapping


def parse_recipe(values: Mapping[str, Any]) -> Recipe:
    """A recipe from the mapping that a YAML file or the command line gives."""
    for section in values:
        if section not in SECTIONS:
            hint = nearest(str(section), SECTIONS) or f"; there are {', '.join(SECTIONS)}"
            raise ConfigError(f"unknown section {section!r}{hint}")
    if values.get("format", FORMAT) != FORMAT:
        raise ConfigError(f"format must be {FORMAT}, got {values['format']!r}")
    for part, name in own_parts(values).items():
        raise ConfigError(
            f"the recipe was trained with a {part} of your own, {name}: give it again in Python, "
            f"nw.fit(..., {part}=...)"
        )
    seed = values.get("seed", 0)
    check_seed(seed)
    model, model_settings = _section(values, "model")
    data, data_settings = _section(values, "data")
    data_settings = words_for(model, {"name": data, **data_settings})
    data = data_settings.pop("name")
    _check_names(model, data, is_imported=is_imported(values["data"]))
    train = values.get("train", {})
    if not isinstance(train, Mapping):
        raise ConfigError(f"train must be a mapping of settings, got {train!r}")
    model_settings, train = with_own_settings(model, model_settings, train)
    of_model, of_data = MODELS.load(model).settings, SOURCES.load(data).config
    given = {"model": model_settings, "data": data_settings, "train": train}
    check_places(given, {"model": of_model, "data": of_data, "train": TrainConfig})
    recipe = Recipe(
        model=model,
        model_settings=parse(of_model, model_settings, "model"),
        data=data,
        data_settings=parse(of_data, data_settings, "data"),
        train=parse(TrainConfig, train, "train"),
        seed=seed,
    )
    return starting_from(recipe, _start_from(values.get("from", "")))


def starting_from(recipe: Recipe, source: str) -> Recipe:
    """The recipe with a run or file to start from; where its data can, they take the run's tokens.

    Args:
        recipe: what is to be trained; tokens that its data are told to take stay.
        source: the folder of a run, or a file of weights; empty: neither.
    """
    settings = recipe.data_settings
    if settings is not None and getattr(settings, VOCABULARY, None) == "" and has_tokens(source):
        settings = parse(type(settings), {**to_mapping(settings), VOCABULARY: source}, "data")
    return replace(recipe, start_from=source, data_settings=settings)


def has_tokens(source: str) -> bool:
    """Whether this is a run whose tokens other texts can be read with."""
    return bool(source) and has_run_tokenizer(Path(source))


def is_imported(section: Any) -> bool:
    """Whether a data section is that of a run with published weights, which has no data."""
    return isinstance(section, Mapping) and "imported" in section


def _check_names(model: str, data: str, *, is_imported: bool) -> None:
    """Refuse the recipe of a run on what came from Python, or of one that was never trained."""
    if not model:
        raise ConfigError(
            "the recipe is that of a module of your own, which it cannot name: give it again in "
            "Python, nw.fit(model, ...)"
        )
    if is_imported:
        raise ConfigError(
            "the recipe is that of imported weights and names no data: name it, and start from "
            "the imported run with --from"
        )
    if not data:
        raise ConfigError(
            "the recipe is that of a run on arrays or other objects from Python: name its data, or "
            "give them again, nw.fit(model, data, ...)"
        )


def own_parts(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """What came from Python beside model and data: what it is for -> its name."""
    own = values.get("own", {})
    if not isinstance(own, Mapping):
        raise ConfigError(f"own must be a mapping of names, got {own!r:.60}")
    return own


def has_own_rule(model: str) -> bool:
    """Whether the model of this name learns by a rule of its own, not by gradient steps."""
    return bool(model) and issubclass(MODELS.load(model), Learner)


def with_own_settings(
    model: str, settings: Mapping[str, Any], train: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give a model with a rule of its own the epochs, lr ... that were said of training."""
    names = {field.name for field in describe(MODELS.load(model).settings)}
    moved = names & train.keys() if has_own_rule(model) else set()
    rest = {name: value for name, value in train.items() if name not in moved}
    return {**{name: train[name] for name in moved}, **settings}, rest


def _start_from(value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"from must be a run or a .safetensors file, got {value!r}")
    check_no_nul("from", value)
    return whole_path(value) if value else ""


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two recipes as one; the second wins. Where it names another part, it replaces the section."""
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            other = "name" in value and value["name"] != before.get("name", value["name"])
            merged[key] = dict(value) if other else {**before, **value}
        elif value != {} or before is None:  # no settings change nothing, also nothing wrong
            merged[key] = value
    return merged


def words_for(model: str, section: Mapping[str, Any]) -> dict[str, Any]:
    """The data section for this model: as words, masked for a BERT, with spans out for a T5.

    A table of questions is one to a model that marks answers.
    """
    if has_questions(model, section):
        return {**section, "name": QUESTIONS}
    name, for_pretraining = section.get("name"), pretraining_texts(model)
    if name in for_pretraining:
        return {**section, "name": for_pretraining[name]}
    if reads_words(model) and name == TEXT:
        return {**section, "name": WORDS}
    if reads_words(model) and name in PUBLISHED_TEXTS:
        return {**section, "name": WORDS, "path": name}
    return dict(section)


def has_questions(model: str, section: Mapping[str, Any]) -> bool:
    """Whether a model that marks answers gets a table with questions, contexts and answers."""
    is_table = section.get("name") == TABLE and section.get("path") and "target" not in section
    if not is_table or model not in MODELS or "span" not in MODELS.load(model).targets:
        return False
    table = read_text_rows(section["path"], section.get("encoding", ""))
    return set(table.columns) >= QUESTION_COLUMNS


def reads_words(model: str) -> bool:
    """Whether the model of this name learns from texts without targets."""
    return model in MODELS and MODELS.load(model).targets == {"none"}


def pretraining_texts(model: str) -> Mapping[Any, str]:
    """Sources of text -> those that give the model of this name the same texts to pre-train on."""
    if model not in MODELS:
        return {}
    kind = MODELS.load(model)
    if kind.says_spans:
        return CORRUPTED
    return MASKED if "masked" in kind.inputs else {}


def data_section(source: str | Path, given: Container[str] = ()) -> dict[str, Any]:
    """The data section for a name or a path; what looks like a file is one.

    Args:
        source: the name or the path.
        given: the names of the settings that are given beside it: `text` is a column of a table,
            `source` is one of a table of pairs, `question` one of questions, and a .txt file with a
            `target` is a table too.
    """
    text = str(source)
    if _is_path(source):
        return {"name": reader_of(text, given), "path": text}
    if text not in SOURCES:
        close = nearest(text, [*SOURCES, *os.listdir()])
        if not close or close != nearest(text, SOURCES):  # else the catalog says it
            hint = close or "; `netwright list data` shows the data sets"
            raise UnknownNameError(f"there is no data set, file or folder {text!r}{hint}")
    return {"name": text}


def names_data(text: str) -> bool:
    """Whether this is the name of a data set, or looks like a file."""
    return text in SOURCES or _is_path(text)


def _is_path(source: str | Path) -> bool:
    """Whether a file is meant; `images` and other sources of files may be the name of one."""
    text = str(source)
    if text in SOURCES:
        return text in READERS and os.path.exists(text)
    looks_like_path = isinstance(source, Path) or any(mark in text for mark in "/.\\")
    return looks_like_path or os.path.exists(text)


def reader_of(path: str, given: Container[str] = ()) -> str:
    """The source that reads what lies there: arrays, images or text by name, else a table."""
    for is_of, reader in FOLDERS.items():
        if is_of(path):
            return reader
    for column, reader in NAMED_COLUMNS.items():
        if column in given:
            return reader
    if is_address(path) and has_ending(path, PLAIN):
        raise ConfigError(
            f"{shown(path)} is a text, which is read from this machine: copy it, or make token "
            f"files with netwright prepare and bring those to the address"
        )
    if has_ending(path, CONLLU) or holds_files(path, CONLLU):
        return TAGGED
    if holds_files(path, PLAIN) or (has_ending(path, PLAIN) and "target" not in given):
        return TEXT
    is_table = is_parquet_folder(path) or not (os.path.isdir(path) or is_image_name(path))
    return TABLE if is_table else IMAGES


def _section(values: Mapping[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    section = values.get(name)
    if isinstance(section, str):
        section = {"name": section} if name == "model" else data_section(section)
    if not isinstance(section, Mapping) or not isinstance(section.get("name"), str):
        raise ConfigError(f"{name} must be a name, or a mapping with a name, got {section!r}")
    settings = dict(section)
    return settings.pop("name"), settings
