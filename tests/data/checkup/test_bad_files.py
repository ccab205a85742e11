"""Files that cannot be read: all are named, not the first alone."""

from pathlib import Path

from netwright.data.checkup.bad_files import find_bad_images, find_bad_texts
from tests.data.images.pictures import folder_of


def test_every_bad_image_is_found_also_one_whose_end_is_cut_off(tmp_path: Path) -> None:
    root = folder_of(tmp_path, *(f"cat/{place}.png" for place in range(6)))
    files = sorted(root.rglob("*.png"))
    assert find_bad_images(files, "; an option skips them", "images") is None
    files[1].write_bytes(b"no image")
    files[4].write_bytes(files[4].read_bytes()[:-20])
    found = find_bad_images(files, "; an option skips them", "images")
    assert found is not None
    assert found.sentence.startswith("2 of 6 (33.3%) files cannot be read: ")
    assert files[1].name in found.sentence
    assert files[4].name in found.sentence
    assert found.fix == "Fix or remove them; an option skips them"
    assert (found.illness, found.see) == ("unreadable-files", "images")


def test_every_bad_text_is_found(tmp_path: Path) -> None:
    files = [tmp_path / f"{place}.txt" for place in range(4)]
    for file in files:
        file.write_text("some words", encoding="utf-8")
    assert find_bad_texts(files, "text") is None
    files[0].write_bytes(b"caf\xe9")
    files[3].write_text("", encoding="utf-8")
    found = find_bad_texts(files, "text")
    assert found is not None
    assert found.sentence == (
        "2 of 4 (50.0%) files cannot be read: 0.txt:1: byte 0xe9 at position 3 is not UTF-8; save "
        "the file as UTF-8, 3.txt: the file is empty"
    )
    assert found.fix == "Save them as UTF-8, or remove them from the folder"
    found = find_bad_texts(files, "text", "latin-1")
    assert found is not None
    assert found.sentence == "1 of 4 (25.0%) files cannot be read: 3.txt: the file is empty"


def test_a_file_alone_stands_in_no_folder(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("", encoding="utf-8")
    found = find_bad_texts([tmp_path / "e.txt"], "text")
    assert found is not None
    assert found.sentence == "the only file cannot be read: e.txt: the file is empty"
    assert found.fix == "Put text into it, saved as UTF-8"
