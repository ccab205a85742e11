"""A saved state that lacks a piece is refused by the name of the piece."""

from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.train.saving.pieces import check_whole, pieces_of

TREE = {"a": {"b": 1, "c": [2, {"d": 3}]}}


def test_the_path_of_every_key_is_a_piece() -> None:
    assert list(pieces_of(TREE)) == ["a", "a/b", "a/c", "a/c/0", "a/c/1", "a/c/1/d"]


def test_a_missing_key_is_named() -> None:
    check_whole(Path("here"), TREE, TREE)
    without = {"a": {"b": 1, "c": [2, {}]}}
    with pytest.raises(DataError, match=r"^here lacks 'a/c/1/d': it cannot be resumed exactly$"):
        check_whole(Path("here"), without, TREE)
