"""Files that cannot be read: all are named, not the first alone."""

from pathlib import Path

from netwright.data.checkup.bad_files import find_bad_images, find_bad_texts
from tests.data.images.pictures import folder_of


def test_every_bad_image_is_found_also_one_whose_end_is_cut_off(tmp_path: Path) -> None:
    root = folder_of(tmp_path, *(f"cat/{place}.png" for place in range(6)))
    files = sorted(root.rglob("*.png"))
    assert find_bad_images(files) is None
    files[1].write_bytes(b"no image")
    files[4].write_bytes(files[4].read_bytes()[:-20])
    found = find_bad_images(files)
    assert found is not None
    assert found.sentence.startswith("2 of 6 (33.3%) files cannot be read: ")
    assert files[1].name in found.sentence
    assert files[4].name in found.sentence
    assert "--set data.on_bad=skip" in found.fix


def test_every_bad_text_is_found(tmp_path: Path) -> None:
    files = [tmp_path / f"{place}.txt" for place in range(4)]
    for file in files:
        file.write_text("some words", encoding="utf-8")
    assert find_bad_texts(files) is None
    files[0].write_bytes(b"caf\xe9")
    files[3].write_text("", encoding="utf-8")
    found = find_bad_texts(files)
    assert found is not None
    assert found.sentence == (
        "2 of 4 (50.0%) files cannot be read: 0.txt: byte 3 is 0xe9, which is not UTF-8; save the "
        "file as UTF-8, 3.txt: the file is empty"
    )
