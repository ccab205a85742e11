"""Samples of tar files: those that are not whole are named."""

from pathlib import Path

import pytest

from netwright.core.errors import DataError
from tests.data.shards.written_shards import (
    load,
    picture,
    write_members,
)


def test_reals_are_told_from_classes(folder: Path) -> None:
    members = [(f"{n}.png", picture(n)) for n in range(20)]
    told = [(f"{n}.json", b'{"label": "x", "age": %d.5}' % n) for n in range(20)]
    pairs = [one for two in zip(members, told, strict=True) for one in two]
    write_members(folder / "a.tar", pairs)
    data = load(folder, target="age")
    assert data.spec.target == "real" and data.spec.target_names == ("age",)


SAMPLES: dict[str, tuple[list[tuple[str, bytes]], str]] = {
    "no label": ([("1.png", picture(1))], r"sample '1' has no \.cls and no \.json file"),
    "two images": ([("1.png", b""), ("1.jpg", b"")], r"sample '1' must have one image, got 2"),
    "no image": ([("1.cls", b"0")], r"sample '1' must have one image, got 0"),
    "no json": ([("1.png", b""), ("1.json", b"{")], r"1\.json is not JSON"),
    "a list": ([("1.png", b""), ("1.json", b"[1]")], r"1\.json must be an object with label or"),
    "a label of lists": (
        [("1.png", b""), ("1.json", b'{"label": [1]}')],
        r"the label of sample 1 must be a text or a number, got \[1\]",
    ),
    "an empty label": ([("1.png", b""), ("1.cls", b" \n")], "the label of sample 1 must be"),
    "no picture": (
        [("1.png", b"x"), ("1.cls", b"0")],
        r"a\.tar: 1\.png cannot be read as an image",
    ),
    "a long label": ([("1.png", b""), ("1.cls", b"0" * 2**21)], "2,097,152 bytes, at most"),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_samples_that_are_not_whole_are_named(folder: Path, case: str) -> None:
    members, said = SAMPLES[case]
    write_members(folder / "a.tar", members)
    with pytest.raises(DataError, match=rf"a\.tar.*{said}" if "a\\.tar" not in said else said):
        load(folder)
