"""Texts as they are generated: the same as `run.stream`; bounded in number, length and time."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

import netwright as nw
from netwright.apps.server.generation_stream import Streams, TextStream, as_events
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig
from netwright.core.errors import ConfigError, NetwrightError
from netwright.recipes.run.run import Run


@pytest.fixture(scope="module")
def run(folders: dict[str, Path]) -> Run:
    return nw.open_run(folders["letters"])


def streams(**settings: Any) -> Streams:
    return Streams(ServerConfig(**settings), Measurements())


async def all_of(stream: TextStream) -> list[str]:
    pieces = [piece async for piece in stream.pieces()]
    stream.close()
    return pieces


async def generated(run: Run, asked: dict[str, Any], **settings: Any) -> list[str]:
    return await all_of(await streams(**settings).open(run, asked))


@pytest.mark.parametrize(
    "asked",
    [
        {"prompt": "the", "max_tokens": 9, "seed": 3},
        {"max_tokens": 5, "temperature": 0},
        {"prompt": "the cat", "max_tokens": 4, "beams": 2},
        {"prompt": "the", "max_tokens": 4, "beams": None, "top_k": 3, "top_p": 0.9},
    ],
)
def test_the_pieces_are_those_of_the_run(run: Run, asked: dict[str, Any]) -> None:
    settings = {name: value for name, value in asked.items() if value is not None}
    wanted = list(run.stream(settings.pop("prompt", ""), **settings))
    assert asyncio.run(generated(run, asked)) == wanted


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"prompt": 3}, "prompt must be a text"),
        ({"temprature": 1}, "unknown key 'temprature'; did you mean 'temperature'"),
        ({"stop": 3}, "unknown key 'stop'"),
        ({"max_tokens": 0}, "max_tokens must be greater than 0"),
        ({"max_tokens": 101}, "max_tokens must be at most 100, got 101"),
        ({"max_tokens": "many"}, "max_tokens must be a number"),
        ({"max_tokens": "300"}, "max_tokens must be a number"),
        ({"seed": "9" * 30}, "seed must be a number"),
        ({"beams": 17}, "beams must be at most 16, got 17"),
        ({"beams": 0}, "beams"),
        ({"beams": "two"}, "beams must be a number"),
        ({"beams": 1.5}, "beams must be a whole number"),
        ({"beams": True}, "beams must be a number"),
        ({"max_tokens": []}, "max_tokens must be a number"),
        ({"seed": 2**70}, "seed must be at most"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"temperature": -1}, "temperature must be at least 0"),
        ({"top_p": 2}, "top_p must be at most 1"),
    ],
)
def test_refuses_before_anything_is_generated(
    run: Run, asked: dict[str, Any], sentence: str
) -> None:
    room = streams(max_tokens=100, max_streams=1)

    async def ask_twice() -> None:
        for _ in range(2):  # what is refused takes no room
            with pytest.raises(NetwrightError, match=sentence):
                await room.open(run, asked)

    asyncio.run(ask_twice())


def test_a_run_that_is_no_language_model_is_refused(folders: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match="generation needs a language model"):
        asyncio.run(generated(nw.open_run(folders["things"]), {"prompt": "x"}))


def test_there_is_room_again_when_a_text_is_closed(run: Run) -> None:
    async def ask() -> None:
        room = streams(max_streams=2)
        first, _ = [await room.open(run, {"max_tokens": 3}) for _ in range(2)]
        with pytest.raises(RefusalError, match="2 texts are being generated already") as refusal:
            await room.open(run, {})
        assert refusal.value.status == 429
        first.close()
        first.close()
        await room.open(run, {"max_tokens": 3})
        with pytest.raises(RefusalError):
            await room.open(run, {})

    asyncio.run(ask())


def test_a_text_ends_when_its_time_is_over() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "x"

    stream = TextStream("a", endless(), time.monotonic() - 1, lambda: None)
    assert asyncio.run(all_of(stream)) == ["a"]


async def until_there_is_room(room: Streams, run: Run) -> None:
    """Open a text when one is done with, and close it."""
    while True:
        try:
            (await room.open(run, {"max_tokens": 1})).close()
            return
        except RefusalError as refusal:
            assert refusal.status == 429
            await asyncio.sleep(0.001)


def test_beams_are_searched_no_longer_than_allowed(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, may_go, steps = nw.open_run(folders["letters"]), threading.Event(), list[int]()
    model: Any = run.model
    step = model.step

    def held_up(tokens: Tensor, state: Any) -> Any:
        steps.append(len(tokens))
        assert may_go.wait(60)
        return step(tokens, state)

    monkeypatch.setattr(model, "step", held_up)

    async def ask() -> None:
        room = streams(timeout=0.05, max_streams=1)
        with pytest.raises(RefusalError, match=r"no text had begun within 0\.05 s") as refusal:
            await room.open(run, {"prompt": "the", "beams": 2, "max_tokens": 4000})
        assert refusal.value.status == 503
        if steps:  # a thread that is at work has its place still
            with pytest.raises(RefusalError, match="1 texts are being generated already"):
                await room.open(run, {})
        may_go.set()
        room._config = ServerConfig(max_streams=1)
        await until_there_is_room(room, run)

    asyncio.run(ask())
    assert steps in ([], [2])  # the one that it was at is the last


@pytest.mark.parametrize("beams", [None, 2])
def test_a_prompt_of_too_many_tokens_is_refused_before_it_is_read(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, beams: int | None
) -> None:
    run, lengths = nw.open_run(folders["letters"]), list[int]()
    model: Any = run.model
    read = model.read

    def noted(tokens: Tensor) -> Any:
        lengths.append(tokens.shape[1])
        return read(tokens)

    monkeypatch.setattr(model, "read", noted)
    monkeypatch.setattr("netwright.apps.server.generation_stream.PROMPT_TOKENS", 5)
    asked = {"max_tokens": 2, "beams": beams}
    with pytest.raises(RefusalError, match="at most 5 tokens, got 6") as refusal:
        asyncio.run(generated(run, {"prompt": "the ca", **asked}))
    assert refusal.value.status == 413
    asyncio.run(generated(run, {"prompt": "the c", **asked}))
    assert lengths == [5]


def test_events_hold_any_text_in_one_line() -> None:
    async def pieces() -> AsyncIterator[str]:
        for piece in ("one\ntwo", "\r\n\ndata: x", "é\u2028"):
            yield piece

    async def sent() -> list[str]:
        return [event async for event in as_events(pieces())]

    *events, end = asyncio.run(sent())
    texts = [json.loads(event.removeprefix("data: "))["text"] for event in events]
    assert texts == ["one\ntwo", "\r\n\ndata: x", "é\u2028"]
    assert all(event.endswith("\n\n") and event.count("\n") == 2 for event in events)
    assert end == "event: end\ndata: {}\n\n"
