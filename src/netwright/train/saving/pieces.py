"""The pieces of a saved state, by their paths: none may be missing where a run goes on exactly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError


def check_whole(folder: Path, saved: Any, fresh: Any, path: str = "") -> None:
    """Refuse saved trees that lack a key which the freshly started state has."""
    if isinstance(fresh, dict):
        for key, value in fresh.items():
            here = f"{path}/{key}" if path else str(key)
            if not isinstance(saved, dict) or key not in saved:
                raise lacks(folder, here)
            check_whole(folder, saved[key], value, here)
    elif isinstance(fresh, list):
        for index, (old, new) in enumerate(zip(saved, fresh, strict=False)):
            check_whole(folder, old, new, f"{path}/{index}")


def pieces_of(tree: Any, path: str = "") -> Iterator[str]:
    """The path of every key in a tree."""
    if isinstance(tree, dict | list | tuple):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            here = f"{path}/{key}" if path else str(key)
            yield here
            yield from pieces_of(value, here)


def lacks(folder: Path, name: str) -> DataError:
    """The refusal of a state without this piece."""
    return DataError(f"{folder} lacks {name!r}: it cannot be resumed exactly")
