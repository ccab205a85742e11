"""Uploads: a plain name, a bounded size, and nothing left of what was refused."""

import errno
import os
import threading
import time

import pytest

from tests.apps.server.asking import Answer
from tests.apps.studio.conftest import LET_IN, Open, Visitor


def send(visitor: Visitor, name: str, body: bytes = b"a,b\n1,2\n") -> Answer:
    return visitor.asking.ask("POST", f"/api/upload?name={name}", body, LET_IN)


def test_a_file_is_kept_and_none_is_replaced(studio: Open) -> None:
    visitor = studio()
    assert send(visitor, "a.csv").json == {"path": "uploads/a.csv"}
    assert send(visitor, "a.csv", b"other").json == {"path": "uploads/a-2.csv"}
    assert (visitor.folder / "uploads" / "a.csv").read_bytes() == b"a,b\n1,2\n"
    assert (visitor.folder / "uploads" / "a-2.csv").read_bytes() == b"other"


def test_names_that_lead_elsewhere_are_refused(studio: Open) -> None:
    visitor = studio()
    for name in (
        "",
        "..",
        "../a.csv",
        ".a.csv",
        "a/b.csv",
        "%2e%2e%2fa.csv",
        "a.py",
        "a.csv%00",
        "a",
    ):
        assert send(visitor, name).status == 400
    assert not (visitor.folder / "uploads").exists()


def test_what_is_too_large_leaves_nothing(studio: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.apps.studio.uploads.MOST_BYTES", 5)
    visitor = studio()
    assert send(visitor, "a.csv", b"123456").status == 413
    assert list((visitor.folder / "uploads").iterdir()) == []
    (visitor.folder / "uploads").rmdir()
    declared = {**LET_IN, "Content-Length": "6"}  # enough to refuse it before a file is made
    answer = visitor.asking.ask("POST", "/api/upload?name=a.csv", b"123456", declared)
    assert answer.status == 413 and not (visitor.folder / "uploads").exists()


def test_a_slow_disk_holds_up_nobody_else(studio: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    is_written, write = threading.Event(), os.write

    def slow(handle: int, part: bytes) -> int:
        is_written.wait(30)
        return write(handle, part)

    visitor = studio()
    monkeypatch.setattr("netwright.apps.studio.uploads.os.write", slow)
    sent = visitor.asking.begin("POST", "/api/upload?name=a.csv", b"1", LET_IN)
    health = visitor.asking.begin("GET", "/health", headers=LET_IN)
    try:
        assert health.result(20).status == 200 and not sent.done()
    finally:
        is_written.set()
    assert sent.result(30).status == 200


def test_a_file_has_its_name_when_it_is_whole(
    studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A studio that is killed meanwhile leaves no half of a table that is taken for all of it."""
    seen: list[str] = []
    visitor, write = studio(), os.write

    def look(handle: int, part: bytes) -> int:
        seen.extend(path.name for path in (visitor.folder / "uploads").iterdir())
        return write(handle, part)

    monkeypatch.setattr("netwright.apps.studio.uploads.os.write", look)
    assert send(visitor, "a.csv").json == {"path": "uploads/a.csv"}
    (part,) = seen
    assert part.startswith(".") and part.endswith(".part")  # no data that is offered
    assert [path.name for path in (visitor.folder / "uploads").iterdir()] == ["a.csv"]


def test_what_a_killed_studio_left_is_cleared_when_nobody_can_write_to_it_any_more(
    studio: Open,
) -> None:
    visitor = studio()
    folder = visitor.folder / "uploads"
    folder.mkdir()
    for name, age in ((".old.part", 700), (".new.part", 500), ("old.part", 700)):
        (folder / name).write_text("half")
        os.utime(folder / name, times=(time.time() - age,) * 2)
    send(visitor, "a.csv")
    assert {path.name for path in folder.iterdir()} == {"a.csv", ".new.part", "old.part"}


def test_the_refusal_of_a_name_says_what_names_may_hold(studio: Open) -> None:
    visitor = studio()
    assert send(visitor, "my%20file.csv").json == {"path": "uploads/my file.csv"}
    assert "letters, digits, spaces and . _ -" in send(visitor, "é.csv").error


def test_a_full_disk_is_told_and_leaves_nothing(
    studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, part: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    visitor = studio()
    monkeypatch.setattr("netwright.apps.studio.uploads.os.write", full)
    answer = send(visitor, "a.csv")
    monkeypatch.undo()
    assert answer.status == 507 and "No space left" in answer.error
    assert list((visitor.folder / "uploads").iterdir()) == []


def test_a_folder_that_is_a_link_is_not_written_to(studio: Open) -> None:
    visitor = studio()
    (visitor.folder / "uploads").symlink_to(visitor.folder.parent)
    assert send(visitor, "a.csv").status == 400
    assert not (visitor.folder.parent / "a.csv").exists()
