"""The checkpoints of a run: names in order, pointers that hold, and nobody else's files touched."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.core.files.manifest import check_folder
from netwright.core.files.storage import as_json, new_folder, write_json
from netwright.train.saving.checkpoint_content import FILES
from netwright.train.saving.checkpoint_store import (
    CheckpointStore,
    check_checkpoint,
    list_checkpoints,
    list_saved,
    newest_good,
    step_name,
    step_of,
)
from tests.odd_files import is_untouched, outside_of, plant, refusal


def write(place: Path, step: int) -> Path:
    """A checkpoint in small: its files, its step and its manifest."""
    place.parent.mkdir(exist_ok=True)
    with new_folder(place) as staging:
        for name in FILES:
            staging.write(name, as_json({"step": step}))
    return place


def save(store: CheckpointStore, step: int, *, is_best: bool = False) -> str:
    place = write(store.place_for(step), step)
    store.add(place, choose=lambda saved, before: saved[-1] if is_best else None)
    return place.name


def unchanged(saved: Sequence[str], before: str | None) -> None:
    """The best stays."""


def names(run: Path) -> list[str]:
    return [place.name for place in list_checkpoints(run)]


def pointer(run: Path, name: str) -> Any:
    return json.loads((run / name).read_text())["checkpoint"]


def test_names_sort_like_steps_up_to_a_million() -> None:
    assert [step_name(7), step_name(7, 2)] == ["step-000007", "step-000007-2"]
    assert step_name(1_234_567) == "step-1234567"
    assert [step_of("step-000007-2"), step_of("step-1234567"), step_of("mine")] == [7, 1234567, -1]


def test_a_step_that_is_there_gets_the_next_number(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    found = []
    for _ in range(11):
        found.append(write(store.place_for(5), 5).name)
    assert found == ["step-000005", *(f"step-000005-{number}" for number in range(2, 12))]
    (tmp_path / "checkpoints" / "step-000006-40").write_text("a file of somebody else")
    assert store.place_for(6).name == "step-000006-41"
    assert store.place_for(7).name == "step-000007"


def test_the_newest_and_the_best_stay(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=2)
    for step in range(1, 7):
        save(store, step, is_best=step == 2)
    assert names(tmp_path) == ["step-000002", "step-000005", "step-000006"]
    assert pointer(tmp_path, "best.json") == "step-000002"
    assert pointer(tmp_path, "last.json") == "step-000006"
    save(store, 7, is_best=True)  # a former best goes like the others
    assert names(tmp_path) == ["step-000006", "step-000007"]


def test_a_store_opened_again_knows_what_is_its_own(tmp_path: Path) -> None:
    save(CheckpointStore(tmp_path, keep=1), 1, is_best=True)
    write(tmp_path / "checkpoints" / "step-000002", 2)  # of somebody else
    store = CheckpointStore(tmp_path, keep=1)
    assert (store.saved, store.best) == (["step-000001"], "step-000001")
    for step in (3, 4, 5):
        save(store, step)
    assert store.saved == ["step-000001", "step-000005"]
    assert set(names(tmp_path)) == {"step-000001", "step-000002", "step-000005"}


def test_what_a_killed_process_could_not_point_to_is_found_and_pointed_to(tmp_path: Path) -> None:
    save(CheckpointStore(tmp_path, keep=1), 1)
    place = write(tmp_path / "checkpoints" / "step-000002", 2)
    assert newest_good(tmp_path) == (place, [])
    store = CheckpointStore(tmp_path, keep=1)
    store.add(place, choose=unchanged)
    assert pointer(tmp_path, "last.json") == "step-000002"
    save(store, 3)
    assert names(tmp_path) == ["step-000003"]


def test_a_run_that_goes_on_from_an_older_one_has_its_newest_there(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=9)
    for step in (10, 20, 30):
        save(store, step)
    older = tmp_path / "checkpoints" / "step-000010"
    CheckpointStore(tmp_path, keep=9).add(older, choose=unchanged)
    assert newest_good(tmp_path) == (older, [])
    killed = write(tmp_path / "checkpoints" / "step-000020-2", 20)  # no time left to point there
    assert newest_good(tmp_path) == (killed, [])
    store = CheckpointStore(tmp_path, keep=2)
    store.add(killed, choose=unchanged)
    assert store.saved == ["step-000010", "step-000020-2"]
    save(store, 30)
    assert newest_good(tmp_path) == (tmp_path / "checkpoints" / "step-000030", [])
    assert names(tmp_path) == ["step-000020-2", "step-000030"]


def test_a_checkpoint_of_another_run_stays_there(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    save(CheckpointStore(tmp_path / "a"), 1)
    store = CheckpointStore(tmp_path / "b", keep=1)
    store.add(tmp_path / "a" / "checkpoints" / "step-000001", choose=unchanged)
    assert store.saved == []
    for step in (2, 3):
        save(store, step)
    assert (names(tmp_path / "a"), names(tmp_path / "b")) == (["step-000001"], ["step-000003"])


def test_checkpoints_are_listed_by_number_and_other_names_are_not(tmp_path: Path) -> None:
    for step, name in [
        (999_999, "step-999999"),
        (1_000_000, "step-1000000"),
        (4, "step-000004-10"),
        (4, "step-000004-2"),
        (4, "step-000004"),
    ]:
        write(tmp_path / "checkpoints" / name, step)
    for name in ("step-4", "step-000004-x", "step-000004.old", "mine"):
        (tmp_path / "checkpoints" / name).mkdir()
    (tmp_path / "checkpoints" / "step-000005").write_text("no folder")
    assert names(tmp_path) == [
        "step-000004",
        "step-000004-2",
        "step-000004-10",
        "step-999999",
        "step-1000000",
    ]


def test_where_nothing_is_there_nothing_is_found(tmp_path: Path) -> None:
    assert newest_good(tmp_path) == (None, [])
    assert list_checkpoints(tmp_path) == []


def test_going_back_to_an_older_checkpoint_is_said_for_each_newer_one(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=3)
    for step in (1, 2, 3):
        save(store, step)
    places = list_checkpoints(tmp_path)
    (places[2] / "model.safetensors").write_bytes(b"x")
    (places[1] / "state.json").unlink()
    assert newest_good(tmp_path) == (
        places[0],
        [
            f"{places[2]}/model.safetensors is damaged: its sha256 differs from the manifest; "
            f"falling back to an older checkpoint",
            f"{places[1]}/state.json is missing, but the manifest lists it; falling back to an "
            f"older checkpoint",
        ],
    )


def test_a_checkpoint_in_the_place_of_another_is_refused(tmp_path: Path) -> None:
    place = write(tmp_path / "checkpoints" / "step-000009", 8)
    with pytest.raises(DataError) as refusal:
        check_checkpoint(place)
    assert str(refusal.value) == (
        f"{place} holds the state of step 8, which does not match its name"
    )


def test_what_somebody_put_into_a_checkpoint_stays_and_the_rest_goes(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=1)
    first = tmp_path / "checkpoints" / save(store, 1)
    (first / "notes.txt").write_text("mine")
    save(store, 2)
    assert [file.name for file in first.iterdir()] == ["notes.txt"]
    assert newest_good(tmp_path)[0] == tmp_path / "checkpoints" / "step-000002"
    (first / "notes.txt").unlink()
    save(store, 3)  # it is tried again
    assert names(tmp_path) == ["step-000003"]


def test_one_that_cannot_be_deleted_does_not_keep_the_others_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CheckpointStore(tmp_path, keep=1)
    stuck = tmp_path / "checkpoints" / save(store, 1)
    with monkeypatch.context() as patch:
        unlink = os.unlink

        def refuse(name: str, *, dir_fd: int) -> None:
            if os.path.samestat(os.stat(dir_fd), stuck.stat()):
                raise PermissionError(13, "Permission denied")
            unlink(name, dir_fd=dir_fd)

        patch.setattr(os, "unlink", refuse)
        for step in (2, 3, 4):
            save(store, step)
        assert names(tmp_path) == ["step-000001", "step-000004"]
        check_folder(stuck)
    save(store, 5)
    assert names(tmp_path) == ["step-000005"]


def test_the_manifest_goes_first_so_that_a_rest_is_never_taken_for_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CheckpointStore(tmp_path, keep=1)
    cut_off = tmp_path / "checkpoints" / save(store, 1)
    unlink = os.unlink

    def once(path: Any, **options: Any) -> None:
        if len(list(cut_off.iterdir())) <= len(FILES):
            raise OSError(5, "Input/output error")
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", once)
    save(store, 2)
    assert {file.name for file in cut_off.iterdir()} == set(FILES)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"saved": 3}', "\0\0"])
def test_pointers_that_are_damaged_point_to_nothing(tmp_path: Path, content: str) -> None:
    save(CheckpointStore(tmp_path), 1, is_best=True)
    for name in ("last.json", "best.json"):
        (tmp_path / name).write_text(content)
    store = CheckpointStore(tmp_path)
    assert (store.saved, store.best) == ([], None)
    place, remarks = newest_good(tmp_path)
    assert (place, remarks) == (tmp_path / "checkpoints" / "step-000001", [])
    assert place is not None
    store.add(place, choose=unchanged)
    assert list_saved(tmp_path) == ["step-000001"]


def test_a_pointer_that_names_a_place_outside_deletes_nothing_there(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    outside = write(tmp_path / "elsewhere" / "step-000001", 1)
    forged = ["../../elsewhere/step-000001", str(outside), "..", "", 3]
    write_json(run / "last.json", {"checkpoint": "step-000001", "saved": forged})
    store = CheckpointStore(run, keep=1)
    for step in (2, 3):
        save(store, step)
    check_folder(outside)
    assert names(run) == ["step-000003"]


def test_a_checkpoint_that_is_a_link_is_named_and_nothing_outside_is_read_or_removed(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    outside = write(tmp_path / "checkpoints" / "step-000002", 2)
    store = CheckpointStore(run, keep=1)
    first = run / "checkpoints" / save(store, 1)
    (run / "checkpoints" / "step-000002").symlink_to(outside)
    place, remarks = newest_good(run)
    assert place == first
    said = f"{run / 'checkpoints' / 'step-000002'} is a symbolic link, which is not followed"
    assert [remark.startswith(said) for remark in remarks] == [True]
    write_json(run / "last.json", {"checkpoint": "x", "saved": ["step-000002", "step-000001"]})
    with pytest.raises(DataError, match=refusal(run / "checkpoints" / "step-000002", "link")):
        save(CheckpointStore(run, keep=1), 3)
    check_folder(outside)


@pytest.mark.parametrize("kind", ["link to a folder", "dangling link", "pipe"])
def test_checkpoints_and_pointers_that_are_no_folder_and_no_files_are_refused(
    tmp_path: Path, kind: str
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    outside = outside_of(run)
    plant(run / "checkpoints", kind, outside)
    for act in (
        lambda: CheckpointStore(run).place_for(1),
        lambda: newest_good(run),
        lambda: check_checkpoint(run / "checkpoints" / "step-000001"),
    ):
        with pytest.raises(DataError, match=refusal(run / "checkpoints", kind)):
            act()
    (run / "checkpoints").unlink()
    plant(run / "last.json", kind, outside)
    with pytest.raises(DataError, match=refusal(run / "last.json", kind)):
        CheckpointStore(run)
    assert is_untouched(outside)


def test_a_manifest_without_the_state_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "checkpoints" / "step-000001"
    place.parent.mkdir()
    with new_folder(place) as staging:
        staging.write("model.safetensors", b"")
    (place / "state.json").write_text('{"step": 1}')
    with pytest.raises(
        DataError, match=r"step-000001 lacks 'state\.json': the checkpoint is incomplete$"
    ):
        check_checkpoint(place)


def test_the_newest_is_pointed_to_before_anything_is_dropped(tmp_path: Path) -> None:
    """A process that is killed in between leaves a pointer to what is there."""
    store = CheckpointStore(tmp_path, keep=1)
    save(store, 1)
    seen = []

    def look(saved: Sequence[str], before: str | None) -> None:
        seen.append((pointer(tmp_path, "last.json"), names(tmp_path)))

    place = write(store.place_for(2), 2)
    store.add(place, choose=look)
    assert seen == [(place.name, [step_name(1), step_name(2)])]
    assert names(tmp_path) == [step_name(2)]


def test_a_folder_that_is_not_called_like_a_checkpoint_is_none(tmp_path: Path) -> None:
    place = write(tmp_path / "checkpoints" / "mine", 1)
    with pytest.raises(DataError, match="mine holds the state of step 1, which does not match its"):
        check_checkpoint(place)
