"""Many files: the same as one by one, in order, with a sentence for each bad one."""

import hashlib
from pathlib import Path

import pytest
import torch
from PIL import Image

from netwright.core.errors import DataError
from netwright.core.terminal.console import Bar
from netwright.data.images import reading
from netwright.data.images.decoding import ImageForm, ImageHeader, decode_file
from netwright.data.images.reading import for_each, read_digests, read_headers, read_pixels
from tests.data.images.pictures import folder_of

FORM = ImageForm(mode="L", height=4, width=4)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    names = [f"{place}.png" for place in range(70)]  # more than two threads take at a time
    root = folder_of(tmp_path, *names)
    (root / "41.png").write_bytes(b"no image")
    return [root / name for name in names]


@pytest.mark.parametrize("threads", [1, 3])
def test_every_file_is_read_into_its_place(
    files: list[Path], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    pixels, bad = read_pixels(files, FORM)
    assert list(bad) == [41]
    assert str(bad[41]).startswith(f"{files[41]} cannot be read as an image: it is none of PNG")
    for place in (0, 7, 8, 69):
        assert torch.equal(pixels[place], decode_file(files[place], FORM))
    assert not pixels[41].any()


def test_the_same_files_are_bad_where_no_pixel_is_kept(files: list[Path]) -> None:
    files[5].write_bytes(files[5].read_bytes()[:-20])  # its head is good
    digests, bad = read_digests(files, FORM)
    assert {place: str(end) for place, end in bad.items()} == {
        place: str(end) for place, end in read_pixels(files, FORM)[1].items()
    }
    good = [file for place, file in enumerate(files) if place not in {5, 41}]
    assert digests == [hashlib.sha256(file.read_bytes()).digest() for file in good]


def test_every_header_is_read_or_refused(files: list[Path]) -> None:
    headers = read_headers(files)
    plain = ImageHeader(height=4, width=4, is_grey=True, has_frames=False)
    assert headers[:41] + headers[42:] == [plain] * 69
    assert isinstance(headers[41], DataError)


def test_only_refusals_are_kept_back(files: list[Path]) -> None:
    assert for_each(files[:3], lambda place: place**2) == [0, 1, 4]
    with pytest.raises(ZeroDivisionError):
        for_each(files[:3], lambda place: 1 / place)
    assert for_each([], lambda place: place) == []


def test_the_bar_says_from_the_start_what_is_under_way(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []

    class Watched(Bar):
        def __init__(self, total: int | None, *, text: str = "training") -> None:
            said.append((total, text))
            super().__init__(total, text=text)

    monkeypatch.setattr(reading, "Bar", Watched)
    for_each(files[:3], lambda place: place, "counting images")
    assert said == [(3, "counting images")]


def test_images_that_come_to_far_more_than_their_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FREE", 10**6)
    files = [tmp_path / f"{place}.png" for place in range(8)]
    for file in files:
        Image.new("L", (600, 600)).save(file)  # 360,000 pixels in some 400 bytes
    form = ImageForm(mode="L", height=600, width=600)
    with pytest.raises(DataError) as refusal:
        read_pixels(files, form)
    assert str(refusal.value) == (
        "8 images take 0.00288 GB when decoded, far more than their files, at most 100 times the "
        "packed "
        "bytes are allowed; if you trust it, raise NETWRIGHT_MAX_UNPACK_RATIO"
    )
    monkeypatch.setenv("NETWRIGHT_MAX_UNPACK_RATIO", "1e4")
    assert read_pixels(files, form)[0].shape == (8, 1, 600, 600)
