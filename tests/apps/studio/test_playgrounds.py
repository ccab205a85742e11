"""Playgrounds of the studio: messages of pictures, what is done to one, and what is refused."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.recipes.playground.picture import Picture

pytest.importorskip("starlette")

from netwright.apps.server.refusal import RefusalError
from netwright.apps.studio.playgrounds import MOST_OPEN, Playgrounds, Watched, packed

PLAN: dict[str, Any] = {
    "data": "moons",
    "model": "mlp",
    "settings": {"model.hidden": "3", "data.n": "60"},
}
ROWS = [[x / 10, -x / 10, 1 * (x > 4)] for x in range(10)]


def unpacked(message: bytes) -> tuple[Any, dict[str, Any]]:
    size, head = (int.from_bytes(message[at : at + 4], "little") for at in (0, 4))
    assert len(message) == 4 + size
    numbers, arrays, at = json.loads(message[8 : 8 + head]), {}, 8 + head
    for name, shape in numbers["arrays"].items():
        length = int(np.prod(shape))
        arrays[name] = np.frombuffer(message[at : at + length], np.uint8).reshape(shape)
        at += length
    assert at == len(message)
    return numbers, arrays


async def until(messages: AsyncIterator[bytes], kind: str, step: int = 0) -> Any:
    async for message in messages:
        numbers, _ = unpacked(message)
        if numbers["kind"] == kind and numbers.get("step", 0) >= step:
            return numbers
    raise AssertionError(f"there was no {kind}")


def in_one(
    story: Callable[[Playgrounds, Watched, AsyncIterator[bytes]], Awaitable[None]],
    top: Path,
    asked: dict[str, Any],
) -> None:
    """Tell a story of one playground, which is closed at its end."""

    async def told() -> None:
        playgrounds = Playgrounds(top)
        watched = await playgrounds.open(asked)
        try:
            await story(playgrounds, watched, watched.messages(lambda: False))
        finally:
            watched.close()
            watched.playground.__exit__()
        with pytest.raises(RefusalError, match="has ended"):
            await playgrounds.act({"name": watched.name, "action": "play"})

    asyncio.run(told())


def test_a_message_holds_numbers_and_arrays() -> None:
    arrays = {"a": np.arange(6, dtype=np.uint8).reshape(2, 3), "b": np.zeros(0, np.uint8)}
    numbers, found = unpacked(packed(Picture(numbers={"loss": float("nan")}, arrays=arrays)))
    assert numbers["loss"] is None
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


def test_it_is_opened_stepped_played_changed_and_restarted(tmp_path: Path) -> None:
    async def story(
        playgrounds: Playgrounds, watched: Watched, messages: AsyncIterator[bytes]
    ) -> None:
        name = (await until(messages, "begun"))["name"]
        assert (await until(messages, "opening"))["features"] == ["x0", "x1"]
        await playgrounds.act({"name": name, "action": "step"})
        assert (await until(messages, "picture", 1))["step"] == 1
        await playgrounds.act({"name": name, "action": "play"})
        assert (await until(messages, "picture", 20))["playing"]
        await playgrounds.act({"name": name, "action": "pause"})
        await playgrounds.act({**PLAN, "name": name, "action": "restart"})
        while (await until(messages, "picture"))["step"]:
            pass
        await playgrounds.act({**PLAN, "name": name, "action": "change", "points": ROWS})
        told = await until(messages, "opening")
        assert len(told["points"]["train"]) == 8 and told["x"] == [-1, 1]

    in_one(story, tmp_path, PLAN)


def test_drawings_are_learned_from_and_one_is_looked_at(tmp_path: Path) -> None:
    drawings = [[place % 16] * 64 + [place % 2] for place in range(10)]
    asked = {**PLAN, "settings": {"model.hidden": "3"}, "drawings": drawings}

    async def story(
        playgrounds: Playgrounds, watched: Watched, messages: AsyncIterator[bytes]
    ) -> None:
        told = await until(messages, "opening")
        assert told["shape"] == [1, 8, 8] and told["classes"] == ["0", "1"]
        assert len(told["targets"]) == 10 and told["arrays"]["images"] == [10, 1, 8, 8]
        look = {"name": watched.name, "action": "look"}
        async for message in messages:  # the first picture, before it looks at something else
            before = unpacked(message)[1]["inputs"]
            break
        await playgrounds.act({**look, "pixels": [255] * 32 + [0] * 32})
        async for message in messages:
            after = unpacked(message)[1]["inputs"]
            break
        assert not np.array_equal(before, after)
        for pixels in ([255] * 63, [256] * 64, None, "x"):
            with pytest.raises(Exception, match="64 whole numbers"):
                await playgrounds.act({**look, "pixels": pixels})
        with pytest.raises(RefusalError, match=r"drawings must be a list of \[pixel"):
            await playgrounds.act({**look, "action": "change", "drawings": {}})
        await playgrounds.act({**PLAN, "name": watched.name, "action": "change"})
        with pytest.raises(Exception, match="no images to look at"):
            await playgrounds.act({**look, "pixels": [0] * 64})

    in_one(story, tmp_path, asked)


def test_what_is_refused_leaves_it_as_it_was(tmp_path: Path) -> None:
    async def story(
        playgrounds: Playgrounds, watched: Watched, messages: AsyncIterator[bytes]
    ) -> None:
        name = watched.name
        refused: list[tuple[dict[str, Any], str]] = [
            ({"action": "fly"}, "one of play"),
            ({"action": "speed", "speed": -1}, "steps a second"),
            ({"action": "speed", "speed": "x"}, "steps a second"),
            ({"action": "speed", "speed": 1e-300}, "steps a second"),
            ({"action": "speed", "speed": 10**400}, "steps a second"),
            ({"action": "speed", "speed": float("inf")}, "steps a second"),
            ({**PLAN, "action": "change", "model": "mlq"}, "mlp"),
            ({**PLAN, "action": "change", "data": "../x.csv"}, "in this folder"),
            ({**PLAN, "action": "change", "points": {}}, "a list of"),
            ({**PLAN, "action": "change", "points": ROWS, "settings": 3}, "a list of"),
            ({**PLAN, "action": "change", "points": ROWS[:2]}, "got 2"),
        ]
        for asked, words in refused:
            with pytest.raises(Exception, match=words):
                await playgrounds.act({"name": name, **asked})
        await playgrounds.act({"name": name, "action": "step"})
        assert (await until(messages, "picture", 1))["step"] == 1

    in_one(story, tmp_path, PLAN)


def test_training_waits_for_who_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.studio.playgrounds.UNREAD", 0.05)

    async def story(
        playgrounds: Playgrounds, watched: Watched, messages: AsyncIterator[bytes]
    ) -> None:
        pace = watched.playground.pace
        assert pace.is_playing
        while pace.is_playing:
            await asyncio.sleep(0.01)

    in_one(story, tmp_path, {**PLAN, "playing": True})


def test_a_change_does_not_wait_for_a_long_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.studio.playgrounds.PATIENCE", 0.05)

    async def story(
        playgrounds: Playgrounds, watched: Watched, messages: AsyncIterator[bytes]
    ) -> None:
        begun, goes_on = threading.Event(), threading.Event()

        def long_step() -> None:
            begun.set()
            goes_on.wait(60)

        step = watched.playground.pace.ask(long_step)
        begun.wait(60)
        before = watched.playground._prepared
        with pytest.raises(RefusalError, match="still making a step"):
            await playgrounds.act({**PLAN, "name": watched.name, "action": "change"})
        goes_on.set()
        step.result(60)
        watched.playground.pace.ask(lambda: None).result(60)
        assert watched.playground._prepared is before

    in_one(story, tmp_path, PLAN)


def test_those_that_are_opened_at_once_are_counted(tmp_path: Path) -> None:
    async def told() -> None:
        playgrounds = Playgrounds(tmp_path)
        with pytest.raises(Exception, match="mlp"):
            await playgrounds.open({**PLAN, "model": "mlq"})
        asked = [playgrounds.open(PLAN) for _ in range(3 * MOST_OPEN)]
        opened = await asyncio.gather(*asked, return_exceptions=True)
        found = [one for one in opened if isinstance(one, Watched)]
        assert len(found) == MOST_OPEN
        for watched in found:
            watched.close()
            watched.playground.__exit__()

    asyncio.run(told())


def test_there_are_only_a_few_at_a_time(tmp_path: Path) -> None:
    async def told() -> None:
        playgrounds = Playgrounds(tmp_path)
        opened = [await playgrounds.open(PLAN) for _ in range(MOST_OPEN)]
        with pytest.raises(RefusalError, match="playgrounds are open"):
            await playgrounds.open(PLAN)
        for watched in opened:
            watched.close()
            watched.playground.__exit__()
        (await playgrounds.open(PLAN)).close()

    asyncio.run(told())
