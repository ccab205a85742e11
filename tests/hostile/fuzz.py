"""`python -m tests.hostile.fuzz PARSER SECONDS`: content that hypothesis thinks of, for one parser.

Whatever it is given, a parser ends in a value or in an error of netwright, within 1 GB. Content is
what an honest file holds, spoilt here and there, so that it comes past the first check.
"""

import json
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from netwright.core.errors import NetwrightError
from netwright.core.files.manifest import read_folder
from netwright.data.files.idx import read_idx
from netwright.data.images.decoding import ImageForm, decode_file, read_header
from netwright.data.npy import map_npy
from netwright.data.shards.parquet_samples import index_parquet
from netwright.data.shards.shard_files import ShardFiles, local_shard
from netwright.data.shards.tar_samples import index_tar
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table
from netwright.data.text.conllu import parse_conllu
from netwright.data.text.text_rows import read_text_rows
from netwright.models.exchange.foreign_weights import read_foreign_weights
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.recipe_file import read_yaml
from netwright.recipes.saved.run_folder import SavedModel
from netwright.recipes.search.storage import JOURNAL, open_study
from netwright.recipes.search.workers import LOCKS
from netwright.train.profiling.profile_file import read_profile
from netwright.train.saving.checkpoint_store import check_checkpoint
from netwright.train.watching.history import read_history
from netwright.train.watching.layer_history import read_layer_history
from tests.hostile.edits import seal
from tests.hostile.image_cases import saved
from tests.hostile.recipe_cases import WHOLE
from tests.hostile.shard_cases import CLASSES, IMAGES, parquet, tar
from tests.hostile.spoiling import either, jsons
from tests.hostile.table_cases import NUMBERS, array, table
from tests.hostile.text_cases import pairs, tags
from tests.inspection.training.profiles import ON_CUDA
from tests.memory_limit import limit_memory
from tests.recipes.search.search_plans import plan

MEMORY = 1 << 30


class TimeIsUp(BaseException):
    """Not an Exception, so that hypothesis lets it pass instead of thinking of more contents."""


@dataclass(frozen=True)
class Parser:
    """Something that reads what comes from elsewhere.

    Args:
        content: what it is given.
        read: reads it; the folder is there to write the content to.
    """

    content: SearchStrategy[bytes]
    read: Callable[[bytes, Path], object]


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """A reader of a file."""

    def reader(content: bytes, folder: Path) -> object:
        (folder / name).write_bytes(content)
        return read(folder / name)

    return reader


def _sealed(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """A reader of a folder whose manifest is right for this content of one file."""

    def reader(content: bytes, folder: Path) -> object:
        for file, honest in MODEL.items():
            (folder / file).write_bytes(content if file == name else honest)
        seal(folder, MODEL)
        return read(folder)

    return reader


def _image(path: Path) -> None:
    read_header(path)
    decode_file(path, ImageForm(mode="RGB", height=8, width=8))


def _shard(path: Path) -> None:
    files = ShardFiles([local_shard(str(path))])
    if path.suffix == ".tar":
        index_tar(files, 0, "", "")
    else:
        index_parquet(files, 0, "", image="", target="")


def _state(content: bytes, folder: Path) -> None:
    place = folder / "step-000003"
    place.mkdir(exist_ok=True)
    (place / "state.json").write_bytes(content)
    seal(place, ["state.json"])
    check_checkpoint(place)


def _encoded(folder: Path) -> object:
    return SavedModel(folder).preprocessor.encode(["a b", "ab"])


def texts(tokenizer: dict[str, Any]) -> dict[str, Any]:
    """The preprocessor of a run on rows of text, which fits the spec of CONFIG."""
    return {
        "kind": "text",
        "form": "rows",
        "tokenizer": tokenizer,
        "length": 2,
        "encoding": "",
        "column": "text",
        "target": "class",
        "target_columns": ["label"],
        "class_names": ["no", "yes"],
        "inputs": "tokens",
        "weights": [],
    }


def _study(content: bytes, folder: Path) -> None:
    (folder / LOCKS).mkdir(exist_ok=True)
    (folder / JOURNAL).write_bytes(content)
    open_study(folder, plan())


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


WEIGHTS = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
HEADER = {"weight": WEIGHTS, "bias": {"dtype": "F32", "shape": [2], "data_offsets": [16, 24]}}
TENSORS = struct.pack("<Q", len(json.dumps(HEADER))) + json.dumps(HEADER).encode() + bytes(24)
SUMS = {
    "format": 1,
    "sha256": {"a": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
}
CONFIG = {
    "format": 1,
    "name": "mlp",
    "settings": {"hidden": [4], "dropout": 0.2},
    "class": "MLP",
    "data": "table.csv",
    "spec": {
        "inputs": "features",
        "input_shape": [2],
        "target": "class",
        "num_outputs": 2,
        "class_names": ["no", "yes"],
        "feature_names": ["a", "b"],
    },
    "task": {
        "kind": "classification",
        "num_classes": 2,
        "class_weights": None,
        "loss": "cross-entropy",
        "smoothing": 0.0,
    },
    "baseline": [0.5, 0.5],
}
ENCODER = {
    "kind": "arrays",
    "input_shape": [2],
    "target": "class",
    "num_outputs": 2,
    "class_names": ["no", "yes"],
    "mean": [0.0, 0.0],
    "scale": [1.0, 1.0],
    "factor": 1.0,
    "columns": ["a", "b"],
}
MODEL = {
    "model.safetensors": TENSORS,
    "config.json": json.dumps(CONFIG).encode(),
    "preprocessor.json": json.dumps(ENCODER).encode(),
}
ROW = {
    "step": 1,
    "epoch": 0,
    "samples": 9,
    "time": 0.5,
    "split": "val",
    "name": "loss",
    "value": 1.5,
}
LAYERS = {
    "step": 1,
    "epoch": 0,
    "loss": 1.5,
    "gradient": [1, 2],
    "weight": [1, 2],
    "update": [1, 2],
}
NAMES = b'{"layers": ["a", "b"]}\n'
TOKENIZER = {
    "kind": "bpe",
    "tokens": ["<pad>", "<unk>", "<bos>", "<eos>", "a", "b", "ab"],
    "lower": False,
    "merges": ["a b"],
}
WORDS = {
    "kind": "word",
    "tokens": ["<pad>", "<unk>", "<bos>", "<eos>", "a"],
    "lower": True,
    "split_at": "words",
    "line_ends": False,
}
STUDY = {"op_code": 0, "worker_id": "w", "study_name": "netwright", "directions": [1]}
TRIAL: dict[str, Any] = {
    **{"op_code": 4, "worker_id": "w", "study_id": 0, "datetime_start": None, "state": 4},
    **{"value": None, "values": None, "distributions": {}, "params": {}},
    **{"user_attrs": {}, "system_attrs": {}, "intermediate_values": {}},
}
LINES = jsons(TRIAL).map(lambda line: json.dumps(STUDY).encode() + b"\n" + line + b"\n")
IDX = struct.pack(">BBBBII", 0, 0, 8, 2, 3, 4) + bytes(12)


def _shown_profile(path: Path) -> None:
    profile = read_profile(path)
    if profile is not None:
        profile.text()
        profile.table_rows()
        profile.operation_rows()
        profile.memory_rows()


PARSERS: dict[str, Parser] = {
    "manifest": Parser(
        jsons(SUMS), _in_file("manifest.json", lambda path: read_folder(path.parent))
    ),
    "config": Parser(jsons(CONFIG), _sealed("config.json", SavedModel)),
    "preprocessor": Parser(jsons(ENCODER), _sealed("preprocessor.json", SavedModel)),
    "weights": Parser(either(TENSORS), _sealed("model.safetensors", SavedModel)),
    "state": Parser(jsons({"format": 1, "step": 3, "history": [ROW]}), _state),
    "metrics": Parser(
        jsons(ROW).map(lambda row: row + b"\n"), _in_file("metrics.jsonl", read_history)
    ),
    "layers": Parser(
        jsons(LAYERS).map(lambda row: NAMES + row + b"\n"),
        _in_file("layers.jsonl", read_layer_history),
    ),
    "profile": Parser(
        jsons({"format": 1, **ON_CUDA.to_json()}), _in_file("profile.json", _shown_profile)
    ),
    "recipe": Parser(
        either(WHOLE.encode()), lambda content, _: parse_recipe(read_yaml(_text(content), "x.yaml"))
    ),
    "cells": Parser(either(table()), lambda content, _: parse_delimited("x.csv", content)),
    "table": Parser(
        either(table()),
        _in_file("x.csv", lambda path: load_table(TableConfig(path=str(path), target=("y",)))),
    ),
    "text-table": Parser(either(pairs()), _in_file("x.tsv", read_text_rows)),
    "conllu": Parser(either(tags()), lambda content, _: parse_conllu("x.conllu", _text(content))),
    "idx": Parser(either(IDX), _in_file("x-idx2-ubyte", read_idx)),
    "npy": Parser(either(array("(20, 2)", data=NUMBERS)), _in_file("x.npy", map_npy)),
    "safetensors": Parser(
        either(TENSORS),
        _in_file("x.safetensors", lambda path: read_foreign_weights(path, torch.nn.Linear(2, 2))),
    ),
    "bpe": Parser(jsons(texts(TOKENIZER)), _sealed("preprocessor.json", _encoded)),
    "words": Parser(jsons(texts(WORDS)), _sealed("preprocessor.json", _encoded)),
    "journal": Parser(LINES, _study),
    "tar": Parser(either(tar()), _in_file("x.tar", _shard)),
    "parquet": Parser(either(parquet(IMAGES, CLASSES)), _in_file("x.parquet", _shard)),
    "png": Parser(either(saved("PNG")), _in_file("x.png", _image)),
    "jpeg": Parser(either(saved("JPEG")), _in_file("x.jpg", _image)),
    "gif": Parser(either(saved("GIF")), _in_file("x.gif", _image)),
    "tiff": Parser(either(saved("TIFF")), _in_file("x.tif", _image)),
}


def fuzz(name: str, *, examples: int, seconds: float) -> int:
    """Give a parser so many contents, or as many as there is time for; an error of Python's fails.

    What comes back is how many it was given.

    The seed is fixed: where there is time enough, the contents are the same each time.
    """
    parser, end, tried = PARSERS[name], time.monotonic() + seconds, 0

    @seed(0)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(parser.content)
    def ends_well(content: bytes) -> None:
        nonlocal tried
        if time.monotonic() > end:
            raise TimeIsUp
        tried += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                parser.read(content, Path(folder))
            except NetwrightError:
                pass

    with suppress(TimeIsUp):
        ends_well()
    return tried


if __name__ == "__main__":
    limit_memory(MEMORY)
    fuzz(sys.argv[1], examples=1_000_000, seconds=float(sys.argv[2]))
