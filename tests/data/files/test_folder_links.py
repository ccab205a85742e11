"""Links inside a folder of data."""

from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.files.folder_links import check_no_links, check_no_links_between


def test_a_link_in_a_folder_of_data_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    link = tmp_path / "b.txt"
    link.symlink_to(tmp_path / "a.txt")
    check_no_links([tmp_path / "a.txt", tmp_path / "gone.txt"])
    with pytest.raises(DataError, match=r"b\.txt is a symbolic link, which is not followed"):
        check_no_links([tmp_path / "a.txt", link])


def test_a_link_that_leads_nowhere_or_to_itself_is_let_be(tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to("gone")
    (tmp_path / "ring").symlink_to("ring")
    check_no_links(tmp_path.iterdir())


def test_a_file_behind_a_link_is_refused_and_links_above_the_folder_are_not(tmp_path: Path) -> None:
    (tmp_path / "real" / "cats").mkdir(parents=True)
    (tmp_path / "real" / "cats" / "1.png").touch()
    root = tmp_path / "root"
    root.symlink_to("real")
    (root / "again").symlink_to("cats")
    check_no_links_between(root, [root / "cats" / "1.png"])
    with pytest.raises(DataError, match="again is a symbolic link"):
        check_no_links_between(root, [root / "again" / "1.png"])
