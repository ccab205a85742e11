"""Images that stay files: the same floats, known by their content, usable in other processes."""

import os
import pickle
from pathlib import Path

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.reading import read_digests
from netwright.data.images.stored_images import StoredImages
from tests.data.images.pictures import bytes_of, folder_of, save

ENCODER = ImageEncoder(
    input_shape=(1, 4, 4),
    mode="L",
    target="class",
    num_outputs=2,
    class_names=("cat", "dog"),
    mean=(0.5,),
    scale=(0.25,),
)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    names = ["0.png", "1.png", "2.png"]
    folder_of(tmp_path, *names)
    return [tmp_path / name for name in names]


def stored(files: list[Path]) -> StoredImages:
    return StoredImages(files, ENCODER, read_digests(files, ENCODER.form)[0])


def test_rows_are_what_the_encoder_gives(files: list[Path]) -> None:
    images = stored(files)
    assert (len(images), images.shape, repr(images)) == (3, (1, 4, 4), "StoredImages(3 files)")
    wanted = ENCODER.encode(files)
    assert torch.equal(images.read(torch.tensor([2, 0])), wanted[[2, 0]])


def test_another_process_reads_the_same(files: list[Path]) -> None:
    images = stored(files)
    copy = pickle.loads(pickle.dumps(images))
    assert torch.equal(copy.read(torch.tensor([1])), images.read(torch.tensor([1])))
    assert copy.fingerprint() == images.fingerprint()


def test_the_fingerprint_is_that_of_content_not_of_time(files: list[Path]) -> None:
    before = stored(files).fingerprint()
    os.utime(files[0], (1, 1))
    assert stored(files).fingerprint() == before
    assert stored(files[::-1]).fingerprint() != before
    save(files[0], bytes_of(9, 4, 4))
    assert stored(files).fingerprint() != before


def test_a_byte_in_the_middle_of_a_large_file_is_noticed(tmp_path: Path) -> None:
    path = save(tmp_path / "x.bmp", bytes_of(0, 200, 200))  # not compressed
    before, content = stored([path]).fingerprint(), bytearray(path.read_bytes())
    content[20_000] ^= 1
    path.write_bytes(content)
    assert stored([path]).fingerprint() != before


def test_a_file_that_goes_bad_is_refused_by_its_name(files: list[Path]) -> None:
    images = stored(files)
    files[1].write_bytes(files[1].read_bytes()[:-20])
    images.read(torch.tensor([0, 2]))
    with pytest.raises(DataError, match=r"1.png cannot be read as an image: "):
        images.read(torch.tensor([0, 1]))
