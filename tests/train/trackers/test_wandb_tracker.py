"""The offline file of a run, read by W&B's own messages; it is offline in any case."""

import importlib
import json
import struct
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.train.trackers.tracked_runs import resumed_run

# It starts a process of its own for each run, and is imported by nobody who leaves them out.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("wandb") is None, reason="wandb is not installed"),
]

HEADER, BLOCK, PREFIX = 7, 32768, 7  # bytes: of the file, of a block, before a piece of a record


def contents(path: Path) -> Iterator[bytes]:
    """The records of a .wandb file, which is a log as LevelDB keeps it: pieces in blocks."""
    content, place, record = path.read_bytes(), HEADER, b""
    assert content.startswith(b":W&B")
    while place + PREFIX <= len(content):
        left = BLOCK - place % BLOCK
        if left < PREFIX:  # the rest of a block that has no room for a piece
            place += left
            continue
        _, length, kind = struct.unpack("<IHB", content[place : place + PREFIX])
        record += content[place + PREFIX : place + PREFIX + length]
        place += PREFIX + length
        if kind in {1, 4}:  # a whole record, or the last piece of one
            yield record
            record = b""


def records(path: Path) -> list[Any]:
    """All records, as W&B's own messages."""
    messages = importlib.import_module("wandb.proto.wandb_internal_pb2")
    return [messages.Record.FromString(content) for content in contents(path)]


def named(items: Any) -> dict[str, Any]:
    return {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in items}


def test_its_file_holds_the_run_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    run = resumed_run(tmp_path, "wandb")
    folder = tmp_path / "run" / "tracking"
    assert not [path for path in folder.rglob("*") if path.is_symlink()]
    (path,) = folder.rglob("*.wandb")
    assert path.parent.name.startswith("offline-run-")
    found = records(path)
    (begun,) = [record.run for record in found if record.HasField("run")][:1]
    assert begun.run_id == (folder / "id").read_text()
    assert (begun.display_name, begun.host) == ("run", "localhost")
    settings = named(begun.config.update)
    assert settings["train.epochs"] == 4
    told: dict[str, list[tuple[int, float]]] = {}
    for record in found:
        if record.HasField("history"):
            values = named(record.history.item)
            for name, value in values.items():
                told.setdefault(name, []).append((values["_step"], value))
    for key in run.history.keys():
        rows = [(row.step, row.value) for row in run.history if row.key == key]
        assert told[key] == rows
    summary: dict[str, Any] = {}
    for record in found:
        if record.HasField("summary"):
            summary |= named(record.summary.update)
    for name, value in run.results["metrics"].items():
        assert summary[f"final/{name}"] == value
