"""Bugs planted on purpose, each of which undoes one guard: the corpus must turn red.

A bug is planted in the process of the command, so that no other notices it.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml

from netwright.core import limits, visible
from netwright.core.errors import DataError
from netwright.core.files import inside, json_text, manifest, regular_file
from netwright.data.images import layout, listing
from netwright.data.shards import parquet_samples, tar_members
from netwright.data.text import text_files
from netwright.models.exchange import foreign_weights
from netwright.recipes.plan import recipe_file
from netwright.recipes.saved import model_of_run
from netwright.recipes.search import folder as search_folder
from netwright.recipes.search import storage


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A bug.

    Args:
        plant: called in the process of a command before it begins.
        seen_by: the names of cases that must turn red.
    """

    plant: Callable[[], None]
    seen_by: tuple[str, ...]


def set_in(module: object, **names: Any) -> None:
    """Put something else in the place of functions or constants of a module."""
    for name, other in names.items():
        if not hasattr(module, name):
            raise AttributeError(f"{module} has no {name}: this bug is not planted")
        setattr(module, name, other)


def _nothing(*_: object, **__: object) -> None:
    """Look at nothing."""


def _follow_links() -> None:
    set_in(inside, _PLAIN=inside._PLAIN & ~os.O_NOFOLLOW)
    set_in(inside.Folder, status=lambda self, name: os.stat(self._at(name), dir_fd=self.handle))


def _without(*undone: limits.Limit) -> Callable[[], None]:
    def plant() -> None:
        for limit in undone:
            object.__setattr__(limit, "default", float("inf"))

    return plant


def _plain_sums(content: bytes, _: Path) -> dict[str, str]:
    sums: dict[str, str] = json.loads(content)["sha256"]
    return sums


def _any_beginning(_: Path, found: str, wanted: str) -> None:
    if not found.startswith(wanted):
        raise DataError("damaged")


def _short_sums() -> None:
    set_in(manifest, SHA256=re.compile("[0-9a-f]*"), _check_sum=_any_beginning)


def _show_all() -> None:
    never = re.compile("(?!)")
    set_in(visible, _IN_TEXT=never, _IN_A_LINE=never)


def _load_pickles() -> None:
    set_in(foreign_weights, _read=lambda path: torch.load(path, weights_only=False))


def _load_tags() -> None:
    set_in(recipe_file, _PlainLoader=yaml.UnsafeLoader)


def _follow_links_to_data() -> None:
    set_in(text_files, check_no_links=_nothing)
    set_in(listing, check_no_links=_nothing)
    set_in(layout, check_no_links=_nothing, check_no_links_between=_nothing)


def _trust_databases() -> None:
    set_in(storage, check_database=_nothing)
    set_in(search_folder, check_entries=_nothing)


PLANTED: dict[str, Planted] = {
    "links inside a folder are followed": Planted(
        plant=_follow_links,
        seen_by=(
            "results.json is a link to a secret",
            "members of members is a link to folder",
            "a new folder holds .lock as a link",
            "a leftover is a link",
            "search, the monitor is a shell's text, the journal a link",
        ),
    ),
    "links in data are followed": Planted(
        plant=_follow_links_to_data,
        seen_by=(
            "a folder of texts with a link and a pipe",
            "a folder of images with a link to a secret",
            "a folder of images with a class that is a link to a folder",
        ),
    ),
    "the files of a database are not looked at": Planted(
        plant=_trust_databases,
        seen_by=("study.db of a search is a dangling link",),
    ),
    "devices are read": Planted(
        plant=lambda: set_in(regular_file, _check=_nothing),
        seen_by=("a recipe, data.path is a link to a device",),
    ),
    "JSON may be as deep as it likes": Planted(
        plant=lambda: set_in(json_text, json_value=json.loads),
        seen_by=("config.json deeply nested behind a right sha256",),
    ),
    "YAML may be as deep as it likes": Planted(
        plant=lambda: set_in(recipe_file, DEEPEST=10**9, MOST=10**9),
        seen_by=("a recipe with 10,000 mappings in each other",),
    ),
    "numbers of YAML may be as long as they like": Planted(
        plant=lambda: set_in(recipe_file, LONGEST=10**9),
        seen_by=("a recipe with a sexagesimal float",),
    ),
    "tags of YAML are obeyed": Planted(
        plant=_load_tags, seen_by=("a recipe with a tag that runs a command",)
    ),
    "pickles are loaded": Planted(
        plant=_load_pickles, seen_by=("torch archive as .pt for train --from",)
    ),
    "archives may burst": Planted(
        plant=_without(limits.UNPACKED), seen_by=("a gzip file of 3 GB as data",)
    ),
    "texts and tables may be of any size": Planted(
        plant=lambda: set_in(limits.Limit, check=_nothing),
        seen_by=("a table larger than the user allows",),
    ),
    "images may be of any size": Planted(
        plant=_without(limits.PIXELS, limits.DECODING),
        seen_by=("an image of 13,000 x 13,000 alone",),
    ),
    "a model is built before its weights are compared": Planted(
        plant=lambda: set_in(model_of_run, check_fits_weights=_nothing),
        seen_by=("hidden of 60,000 x 60,000",),
    ),
    "a header of a tar file may be of any size": Planted(
        plant=lambda: set_in(tar_members, MOST_NAME=1 << 60),
        seen_by=("shards, one of which is a header of 8 GB that is there",),
    ),
    "images in a parquet file may repeat at will": Planted(
        plant=lambda: set_in(parquet_samples, _check_unpacked=_nothing),
        seen_by=("shards of parquet, one of which is or has an image of 2 MB 2,000 times",),
    ),
    "a manifest may name any file": Planted(
        plant=lambda: set_in(manifest, listed_sums=_plain_sums),
        seen_by=("a manifest names '../../../outside/secret.txt'",),
    ),
    "the beginning of a sum is enough": Planted(
        plant=_short_sums, seen_by=("a manifest has the first half of each sum",)
    ),
    "control characters are printed": Planted(
        plant=_show_all,
        seen_by=(
            "a manifest names '\\x1b]0;owned\\x07'",
            "columns, categories and classes of escape codes in every command",
        ),
    ),
}
