"""What a folder says of its images: classes, parts, a table; and what it must not say."""

import re
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.images.layout import find_images
from tests.data.images.pictures import folder_of


def test_folders_are_classes_in_the_order_of_their_names(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "dog/1.png", "cat/deep/er.png", "cat/2.png", "10/1.png")
    found = find_images(root)
    assert found.class_names == ("10", "cat", "dog")
    assert [str(file.relative_to(root)) for file in found.files] == [
        "10/1.png",
        "cat/2.png",
        "cat/deep/er.png",
        "dog/1.png",
    ]
    assert found.targets.tolist() == [0, 1, 1, 2]
    assert (found.target, found.parts, found.notes) == ("class", (), ())


@pytest.mark.parametrize("word", ["val", "valid", "Validation", "dev"])
def test_folders_above_the_classes_are_parts(tmp_path: Path, word: str) -> None:
    names = ["train/a/1.png", "train/b/1.png", f"{word}/a/1.png", "test/b/1.png"]
    found = find_images(folder_of(tmp_path, *names))
    assert found.class_names == ("a", "b")
    by_part = dict(zip(found.parts, found.targets.tolist(), strict=True))
    assert by_part == {"train": 1, "val": 0, "test": 1}
    assert found.parts.count("train") == 2


def test_among_other_folders_one_that_is_named_like_a_part_is_a_class(tmp_path: Path) -> None:
    assert find_images(folder_of(tmp_path, "test/1.png", "prod/1.png")).class_names == (
        "prod",
        "test",
    )


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "a/1.png", "b/1.png", "loose.png")
    (root / "a" / "Thumbs.db").touch()
    (root / "a" / ".DS_Store").touch()
    (root / "a" / "more").symlink_to(root / "b", target_is_directory=True)
    (root / "c").mkdir()
    assert find_images(root).notes == (
        "the folder 'c' has no images: it is not a class",
        "left out: 2 files without an image extension",
        "left out: 1 links to folders inside class folders",
        "left out: 1 images outside class folders",
    )


def test_beside_and_inside_of_parts_the_same_is_counted(tmp_path: Path) -> None:
    names = ["train/a/1.png", "train/b/1.png", "train/loose.png", "test/loose.png", "loose.png"]
    assert find_images(folder_of(tmp_path, *names)).notes == (
        "left out: 3 images outside class folders",
    )


def test_class_names_are_shown_without_line_ends(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "two\nlines/1.png", "b/1.png")
    assert find_images(root).class_names == ("b", r"two\nlines")


METADATA = "file_name,kind,big,score,split\n1.png,cat,1,0.5,train\n2.png,dog,0,1.5,test\n"


@pytest.mark.parametrize(
    ("settings", "kind", "targets", "names"),
    [
        ({"target": ("kind",)}, "class", [0, 1], ("cat", "dog")),
        ({"target": ("score",)}, "real", [[0.5], [1.5]], ()),
        ({"target": ("big",), "target_kind": "labels"}, "labels", [[1], [0]], ("big",)),
    ],
)
def test_a_table_names_targets_of_every_kind(
    tmp_path: Path, settings: dict[str, Any], kind: str, targets: list[Any], names: tuple[str, ...]
) -> None:
    root = folder_of(tmp_path, "1.png", "2.png", "3.png")
    (root / "metadata.csv").write_text(METADATA)
    found = find_images(root, **settings)
    assert (found.target, found.targets.tolist(), found.class_names) == (kind, targets, names)
    assert (found.target_names, found.num_outputs) == (settings["target"], len(names) or 1)
    assert (found.parts, found.how) == (("train", "test"), "column 'split'")
    assert found.notes == ("left out: 1 images without a row in metadata.csv",)


def test_a_column_of_true_and_false_divides_where_it_is_named(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "1.png", "2.png")
    (root / "metadata.csv").write_text("file_name,kind,learn\n1.png,cat,TRUE\n2.png,dog,FALSE\n")
    found = find_images(root, target=("kind",), split_column="learn")
    assert (found.parts, found.how) == (("train", "test"), "column 'learn'")


def test_the_one_column_of_a_table_is_the_target(tmp_path: Path) -> None:
    (tmp_path / "metadata.csv").write_text("file_name,kind\n1.png,cat\n2.png,dog\n")
    found = find_images(tmp_path)  # that the files are not there shows when they are opened
    assert (found.target_names, found.parts) == (("kind",), ())


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([], "holds no folders of images, and no metadata.csv"),
        (["1.png"], "holds images, but no class folders, and no metadata.csv"),
        (
            ["train/a/1.png", "cat/1.png"],
            "holds a folder to train on and also 'cat', wanted folders named train, val and test "
            "alone",
        ),
        (
            ["val/a/1.png", "test/a/1.png"],
            "contains only test and val, wanted a folder named train as well",
        ),
    ],
)
def test_refuses_folders_that_do_not_say_it(
    tmp_path: Path, names: list[str], sentence: str
) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(f'{tmp_path} {sentence}')}$"):
        find_images(folder_of(tmp_path, *names))


def test_refuses_settings_that_do_not_fit(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "a/1.png")
    sentence = (
        f"{root} is a folder without a metadata.csv, so target, target_kind and split_column "
        f"have no meaning there; for a table, name its file"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        find_images(root, target=("kind",))
    (root / "metadata.csv").write_text(METADATA)
    with pytest.raises(
        ConfigError,
        match=r"^target is missing, wanted a column of metadata.csv: kind, big, score$",
    ):
        find_images(root)
    with pytest.raises(DataError, match=r"^metadata.csv has no column 'knd'; did you mean 'kind'"):
        find_images(root, target=("knd",))


@pytest.mark.parametrize("name", ["b", "b/2.png", "train/b"])
def test_no_link_in_the_folder_is_followed_to_a_class_or_an_image(
    tmp_path: Path, name: str
) -> None:
    folder_of(tmp_path, "elsewhere/1.png")
    above = "train/" if name.startswith("train") else ""
    root = folder_of(tmp_path / "root", f"{above}a/1.png", f"{above}c/1.png")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(tmp_path / "elsewhere" / ("1.png" if "." in name else ""))
    with pytest.raises(DataError, match=f"{re.escape(str(root / name))} is a symbolic link"):
        find_images(root)


def test_a_table_of_images_names_none_behind_a_link_and_is_none_itself(tmp_path: Path) -> None:
    folder_of(tmp_path, "elsewhere/1.png")
    root = folder_of(tmp_path / "root", "1.png")
    (root / "far").symlink_to(tmp_path / "elsewhere")
    (root / "metadata.csv").write_text("file_name,y\n1.png,a\nfar/1.png,b\n")
    with pytest.raises(DataError, match="root/far is a symbolic link"):
        find_images(root)
    (root / "metadata.csv").rename(tmp_path / "metadata.csv")
    (root / "metadata.csv").symlink_to(tmp_path / "metadata.csv")
    with pytest.raises(DataError, match=r"root/metadata\.csv is a symbolic link"):
        find_images(root)
