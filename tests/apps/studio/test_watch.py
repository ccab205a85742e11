"""Events: the whole state at first, then whenever it changes; one look for all."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from netwright.apps.studio import watch as room
from netwright.apps.studio.jobs import Jobs
from netwright.apps.studio.watch import RunWatch
from netwright.core.files.folder_lock import FolderLock
from netwright.train.watching.history import append_rows
from tests.recipes.saved.test_loss_curves import row
from tests.recipes.saved.test_run_list import begun


async def told(events: AsyncIterator[str]) -> Any:
    async for event in events:
        if event.startswith("data: "):
            return json.loads(event.removeprefix("data: "))
    return None


def test_a_run_appears_and_its_curve_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LOOK_EVERY", 0.01)

    async def watched() -> None:
        ends: list[bool] = []
        watch = RunWatch(tmp_path, Jobs(tmp_path), lambda: bool(ends))
        looking = asyncio.create_task(watch.keep_looking())
        events = watch.events()
        assert (await told(events))["runs"] == []
        run = begun(tmp_path / "a")
        with FolderLock(run):
            state = await told(events)
            while state["runs"][0]["state"] != "training":
                state = await told(events)
            append_rows(run / "metrics.jsonl", [row(1, 3.0), row(2, 2.0)])
            while not (state := await told(events))["runs"][0]["curves"]:
                pass
        assert state["runs"][0]["curves"] == {"train/loss": [[1, 3.0], [2, 2.0]]}
        while (await told(events))["runs"][0]["state"] != "interrupted":
            pass
        ends.append(True)
        assert await told(events) is None and watch.watchers == 0
        looking.cancel()

    asyncio.run(asyncio.wait_for(watched(), 30))


def test_one_look_at_a_time_although_who_asked_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = threading.Lock()
    overlaps: list[bool] = []

    def look() -> dict[str, Any]:
        overlaps.append(not looking.acquire(blocking=False))
        time.sleep(0.05)
        if not overlaps[-1]:
            looking.release()
        return {"runs": [], "jobs": []}

    async def watched() -> None:
        watch = RunWatch(tmp_path, Jobs(tmp_path), lambda: False)
        monkeypatch.setattr(watch, "look", look)
        gone = asyncio.create_task(watch.refresh())
        while not overlaps:
            await asyncio.sleep(0.001)
        gone.cancel()
        first, second = await asyncio.gather(watch.refresh(), watch.refresh())
        assert first is second  # what has not changed is not told again

    asyncio.run(asyncio.wait_for(watched(), 30))
    assert overlaps == [False, False, False]


def test_a_look_that_fails_tells_what_was_seen_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> dict[str, Any]:
        raise OSError("gone")

    async def watched() -> None:
        watch = RunWatch(tmp_path, Jobs(tmp_path), lambda: False)
        monkeypatch.setattr(watch, "look", fails)
        assert await watch.refresh() == {"runs": [], "jobs": []}

    asyncio.run(watched())


def test_a_thousand_streams_are_one_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    async def watched() -> None:
        watch = RunWatch(tmp_path, Jobs(tmp_path), lambda: False)
        streams = [watch.events() for _ in range(1000)]
        for stream in streams:
            await told(stream)

        def look() -> dict[str, Any]:
            looks.append(1)
            return {"runs": [1], "jobs": []}

        monkeypatch.setattr(watch, "look", look)
        waiting = [asyncio.create_task(told(stream)) for stream in streams]
        await asyncio.sleep(0)
        await watch.refresh()
        assert await asyncio.gather(*waiting) == [{"runs": [1], "jobs": []}] * 1000

    asyncio.run(watched())
    assert looks == [1]
