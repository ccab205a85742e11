"""Playgrounds in the studio: each lives as long as somebody reads its pictures.

A message is its length, the length of its JSON, the JSON, and the arrays that this names, one after
the other, as bytes; lengths are 4 bytes, the lowest first. An empty one says that nothing is new.
"""

import asyncio
import json
import math
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from netwright.apps.server.refusal import RefusalError, try_later
from netwright.apps.studio.new_run import NewRun
from netwright.data.dataset import Data
from netwright.recipes.playground.drawings import drawn_images
from netwright.recipes.playground.picture import Picture
from netwright.recipes.playground.plans import painted_points, prepare_plan
from netwright.recipes.playground.playground import Plan, Playground

MOST_OPEN = 4
UNREAD = 5.0  # seconds after which training pauses if nobody reads its pictures
QUIET = 10.0  # seconds after which an empty message says that the stream is open
LOOK_EVERY = 1.0  # seconds
PATIENCE = 10.0  # seconds that a change may wait for the step at hand
ACTIONS = ("play", "pause", "step", "speed", "look", "change", "restart")
Asked = Mapping[str, Any]
# What a person makes: data of the same kind, what a row of it is, and how rows become data.
OWN: Mapping[str, tuple[str, str, Callable[[Any], Data]]] = {
    "points": ("moons", "[x, y, class]", painted_points),
    "drawings": ("digits", "[pixel, ..., class]", drawn_images),
}


class Watched:
    """One playground, and the pictures that its reader has not had yet.

    Args:
        plan: makes the model and the data.
        loop: in which they are read.
        leave: called once, when nobody reads them any more.
    """

    def __init__(
        self, plan: Plan, loop: asyncio.AbstractEventLoop, leave: Callable[["Watched"], None]
    ) -> None:
        self.name = os.urandom(12).hex()
        self._loop, self._leave, self._is_new = loop, leave, asyncio.Event()
        self._lock, self._since = threading.Lock(), 0.0
        self._waiting: list[Picture] = []
        self.playground = Playground(plan, self._take)

    def _take(self, picture: Picture) -> None:
        """Keep a picture for the reader, who misses those before it; called while training."""
        with self._lock:
            if self._waiting and _may_be_missed(self._waiting[-1]):
                missed = self._waiting.pop()  # it may have what the new one has not: units, losses
                picture = Picture(
                    numbers={**missed.numbers, **picture.numbers},
                    arrays={**missed.arrays, **picture.arrays},
                )
            self._since = self._since or time.monotonic()
            self._waiting.append(picture)
            is_unread = time.monotonic() - self._since > UNREAD
        if is_unread:
            self.playground.pace.pause()
        else:
            with suppress(RuntimeError):  # the studio has ended, and its loop with it
                self._loop.call_soon_threadsafe(self._is_new.set)

    def _new(self) -> list[Picture]:
        with self._lock:
            pictures, self._waiting, self._since = self._waiting, [], 0.0
        return pictures

    async def messages(self, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
        """The pictures, as they come."""
        yield packed(Picture(numbers={"kind": "begun", "name": self.name}))
        quiet = time.monotonic()
        while not is_ending():
            try:
                async with asyncio.timeout(LOOK_EVERY):
                    await self._is_new.wait()
            except TimeoutError:
                if time.monotonic() - quiet >= QUIET:
                    quiet = time.monotonic()
                    yield bytes(4)
                continue
            self._is_new.clear()
            for picture in self._new():
                yield packed(picture)
            quiet = time.monotonic()

    def close(self) -> None:
        """Let its thread end at its next step."""
        self.playground.pace.end()
        self._leave(self)


class Playgrounds:
    """Those that are open.

    Args:
        top: the folder of the studio.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self._open: dict[str, Watched] = {}
        self._opening = 0

    async def open(self, asked: Asked) -> Watched:
        """A new one, which has to be closed."""
        if len(self._open) + self._opening >= MOST_OPEN:
            raise try_later(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{MOST_OPEN} playgrounds are open: close the page of one of them",
            )
        self._opening += 1  # before others are let in by the await
        try:
            plan, loop = self._plan(asked), asyncio.get_running_loop()
            watched = await asyncio.to_thread(Watched, plan, loop, self._forget)
            _set_speed(watched, asked)
            self._open[watched.name] = watched
        finally:
            self._opening -= 1
        if asked.get("playing") is True:
            watched.playground.pace.play()
        watched.playground.start()
        return watched

    def close(self) -> None:
        """End them all."""
        for watched in list(self._open.values()):
            watched.close()

    def _forget(self, watched: Watched) -> None:
        self._open.pop(watched.name, None)

    async def act(self, asked: Asked) -> None:
        """Play, pause, make a step, or go on by another plan."""
        watched = self._open.get(str(asked.get("name", "")))
        action = asked.get("action")
        if watched is None or watched.playground.pace.has_ended:
            raise RefusalError(HTTPStatus.NOT_FOUND, "this playground has ended: reload the page")
        if action not in ACTIONS:
            raise RefusalError(
                HTTPStatus.BAD_REQUEST, f"action must be one of {', '.join(ACTIONS)}"
            )
        playground = watched.playground
        if action in {"play", "pause", "step"}:
            getattr(playground.pace, str(action))()
        elif action == "speed":
            _set_speed(watched, asked)
        else:
            change = self._asked_of(playground, asked)
            try:
                async with asyncio.timeout(PATIENCE):
                    await asyncio.wrap_future(change)
            except TimeoutError:
                raise try_later(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    "the model is still making a step: try again later, or reload the page",
                ) from None

    def _asked_of(self, playground: Playground, asked: Asked) -> Future[None]:
        """What is done between two steps."""
        if asked["action"] == "look":
            pixels = asked.get("pixels")
            return playground.look_at(pixels if isinstance(pixels, list) else [])
        keeps = asked["action"] == "change"
        return playground.ask_change(self._plan(asked), keeps_weights=keeps)

    def _plan(self, asked: Asked) -> Plan:
        """How the model and the data of what a page asks for are made."""
        own = next((kind for kind in OWN if asked.get(kind) is not None), None)
        if own is None:
            return lambda: prepare_plan(NewRun(self.top, asked).recipe())
        rows, given = asked[own], asked.get("settings", {})
        like, row, read = OWN[own]
        if not isinstance(rows, list) or not isinstance(given, dict):
            raise RefusalError(HTTPStatus.BAD_REQUEST, f"{own} must be a list of {row}")
        # They take the place of the recipe's own data, which is of the same kind.
        settings = {name: given[name] for name in given if not str(name).startswith("data.")}
        planned = {**asked, "data": like, "settings": settings}
        return lambda: prepare_plan(NewRun(self.top, planned).recipe(), read(rows))


def packed(picture: Picture) -> bytes:
    """One message."""
    shapes = {name: array.shape for name, array in picture.arrays.items()}
    numbers = {**picture.numbers, "arrays": shapes}
    try:
        text = json.dumps(numbers, allow_nan=False, separators=(",", ":"))
    except ValueError:  # few have such numbers, and looking for them takes longer than writing
        text = json.dumps(_finite(numbers), allow_nan=False, separators=(",", ":"))
    head = text.encode()
    body = b"".join([head, *(array.tobytes() for array in picture.arrays.values())])
    return (len(body) + 4).to_bytes(4, "little") + len(head).to_bytes(4, "little") + body


def _set_speed(watched: Watched, asked: Asked) -> None:
    speed = asked.get("speed", 0)
    if type(speed) not in {int, float} or speed == math.inf:
        raise RefusalError(
            HTTPStatus.BAD_REQUEST, "speed must be steps a second; 0: all there can be"
        )
    watched.playground.pace.set_speed(speed or math.inf)


def _may_be_missed(picture: Picture) -> bool:
    return bool(picture.numbers["kind"] == "picture")


def _finite(value: Any) -> Any:
    """The same with None for what is no number: JSON has none such."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
