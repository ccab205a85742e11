"""Bad files by policy: all are named, a cap holds, and no file moves."""

from pathlib import Path

import pytest

from netwright.core.errors import DataError, RunError
from netwright.data.images.bad_files import OnBad, handle_bad_files
from tests.data.images.pictures import folder_of
from tests.odd_files import is_untouched, outside_of, plant, refusal


def handled(
    root: Path, *names: str, count: int = 100, on_bad: OnBad = "skip", most_bad: float = 0.02
) -> tuple[str, ...]:
    bad = {root / name: f"{name} is bad" for name in names}
    return handle_bad_files(bad, root=root, count=count, on_bad=on_bad, most_bad=most_bad)


@pytest.mark.parametrize("on_bad", ["stop", "skip", "quarantine"])
def test_without_bad_files_there_is_nothing_to_say(tmp_path: Path, on_bad: OnBad) -> None:
    assert handled(tmp_path, on_bad=on_bad) == ()


def test_stop_names_all_of_them(tmp_path: Path) -> None:
    sentence = (
        r"^2 of 100 files cannot be read as images; data.on_bad=skip skips them: "
        r"a is bad; b is bad$"
    )
    with pytest.raises(DataError, match=sentence):
        handled(tmp_path, "a", "b", on_bad="stop")


def test_of_very_many_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"n0 is bad; .*n19 is bad; and 5 more$"):
        handled(tmp_path, *(f"n{place}" for place in range(25)), on_bad="stop")
    with pytest.raises(DataError, match=r"n0 is bad; .*n19 is bad$"):
        handled(tmp_path, *(f"n{place}" for place in range(20)), on_bad="stop")


def test_skipped_ones_are_named_and_counted_up_to_a_share(tmp_path: Path) -> None:
    said = ("2 of 100 files were unreadable and skipped", "a is bad", "b is bad")
    assert handled(tmp_path, "a", "b") == said
    sentence = r"^3 of 100 files cannot be read as images, more than most_bad=0.02: a is bad; b"
    with pytest.raises(DataError, match=sentence):
        handled(tmp_path, "a", "b", "c")


def test_quarantine_lists_them_and_moves_none(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "cat/1.png", "cat/2.png")
    place = root / ".quarantine/bad_files.txt"
    for _ in range(2):  # the folder is read again to evaluate a run
        said = handled(root, "cat/1.png", "cat/gone.png", on_bad="quarantine")
        assert said[0] == f"2 of 100 files were unreadable and skipped; {place} lists them"
        assert place.read_text() == "cat/1.png is bad\ncat/gone.png is bad\n"
        assert (root / "cat/1.png").is_file()


def test_above_the_share_nothing_is_listed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="more than most_bad=0:"):
        handled(tmp_path, "1.png", on_bad="quarantine", most_bad=0)
    assert list(tmp_path.iterdir()) == []


def test_a_list_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / ".quarantine").touch()
    with pytest.raises(RunError, match=r"\.quarantine cannot be written: File exists$"):
        handled(tmp_path, "cat/1.png", on_bad="quarantine")


@pytest.mark.parametrize("place", [".quarantine", ".quarantine/bad_files.txt"])
def test_the_list_is_not_written_where_a_link_leads(tmp_path: Path, place: str) -> None:
    root = tmp_path / "pictures"
    (root / place).parent.mkdir(parents=True)
    outside = outside_of(root)
    plant(root / place, "link to a folder" if place == ".quarantine" else "dangling link", outside)
    with pytest.raises(DataError, match=refusal(root / place, "link")):
        handled(root, "cat/1.png", on_bad="quarantine")
    assert is_untouched(outside)
