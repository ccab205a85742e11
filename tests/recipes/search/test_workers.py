"""Who is known to be at work in a folder; a server's workers are in `test_server.py`."""

from pathlib import Path

from netwright.recipes.search.workers import NAME, FolderWorkers, new_process_name


def test_a_process_lives_from_its_entry_until_it_leaves(tmp_path: Path) -> None:
    one, other = FolderWorkers(tmp_path), FolderWorkers(tmp_path)
    assert not other.lives(one.process)
    one.enter()
    assert other.lives(one.process)
    one.leave()
    assert not other.lives(one.process)


def test_what_is_no_name_of_a_process_does_not_live(tmp_path: Path) -> None:
    workers = FolderWorkers(tmp_path)
    for name in ("", "study", "../1-00000000", 7, None):
        assert not workers.lives(name)


def test_names_are_never_the_same() -> None:
    names = {new_process_name() for _ in range(50)}
    assert len(names) == 50
    assert all(NAME.fullmatch(name) for name in names)
