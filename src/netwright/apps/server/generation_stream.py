"""A language model continues a prompt; its text is sent as it is sampled.

The first piece is waited for before anything is sent, so that what is refused has its status. A
reader who goes away ends the text; so does the time that a request may take.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from netwright.apps.server.measurements import Measurements
from netwright.apps.server.refusal import RefusalError, try_later
from netwright.apps.server.server_config import MOST_BEAMS, ServerConfig
from netwright.core.checks import nearest
from netwright.recipes.run.run import Run

SETTINGS = ("temperature", "top_k", "top_p", "max_tokens", "seed", "beams", "length_penalty")
MOST_SEED = 2**63 - 1


class TextStream:
    """One text while it is generated.

    Args:
        first: its first piece, None where there is none.
        rest: the pieces after it.
        end: the moment after which no further piece is asked for, by the monotonic clock.
        leave: called once when the text is at its end, or nobody reads it any more.
    """

    def __init__(
        self, first: str | None, rest: Iterator[str], end: float, leave: Callable[[], None]
    ) -> None:
        self._first, self._rest, self._end, self._leave = first, rest, end, leave
        self._is_open = True

    async def pieces(self) -> AsyncIterator[str]:
        """The pieces, each as soon as it is there."""
        piece = self._first
        while piece is not None:
            yield piece
            if time.monotonic() > self._end:
                return
            piece = await asyncio.to_thread(next, self._rest, None)

    def close(self) -> None:
        """Make room for another text."""
        if self._is_open:
            self._is_open = False
            self._leave()


class Streams:
    """The texts that are being generated, of all runs.

    Args:
        config: how many there may be, and how long each.
        measurements: where they are counted.
    """

    def __init__(self, config: ServerConfig, measurements: Measurements) -> None:
        self._config, self._measurements = config, measurements
        self._left = config.max_streams

    async def open(self, run: Run, asked: Mapping[str, Any]) -> TextStream:
        """A text whose first piece is there; it has to be closed.

        Args:
            run: of a language model.
            asked: the prompt, and settings of decoding.
        """
        prompt, settings = self._checked(asked)
        self._enter()
        end = time.monotonic() + self._config.timeout
        try:
            first, rest = await asyncio.to_thread(_begun, run, prompt, settings)
        except BaseException:
            self._leave()
            raise
        return TextStream(first, rest, end, self._leave)

    def _checked(self, asked: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        settings = dict(asked)
        prompt = settings.pop("prompt", "")
        if not isinstance(prompt, str):
            raise RefusalError(HTTPStatus.BAD_REQUEST, "prompt must be a text")
        for name in settings:
            if name not in SETTINGS:
                hint = nearest(name, SETTINGS) or f"; there are prompt, {', '.join(SETTINGS)}"
                raise RefusalError(HTTPStatus.BAD_REQUEST, f"unknown key {name[:100]!r}{hint}")
        most = {"max_tokens": self._config.max_tokens, "beams": MOST_BEAMS, "seed": MOST_SEED}
        for name, limit in most.items():
            value = settings.get(name)
            if value is not None and type(value) not in {int, float}:  # nor a text of one, or true
                raise RefusalError(HTTPStatus.BAD_REQUEST, f"{name} must be a number")
            if value is not None and value > limit:
                raise RefusalError(
                    HTTPStatus.BAD_REQUEST, f"{name} must be at most {limit}, got {value}"
                )
        if settings.get("beams", 1) is None:
            del settings["beams"]
        elif type(settings.get("beams", 1)) is not int:
            raise RefusalError(HTTPStatus.BAD_REQUEST, "beams must be a whole number")
        return prompt, settings

    def _enter(self) -> None:
        if not self._left:
            raise try_later(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{self._config.max_streams} texts are being generated already; try again later",
            )
        self._left -= 1
        self._measurements.count("netwright_streams", 1)

    def _leave(self) -> None:
        self._left += 1
        self._measurements.count("netwright_streams", -1)


def _begun(run: Run, prompt: str, settings: dict[str, Any]) -> tuple[str | None, Iterator[str]]:
    """The first piece of a text and the rest of it; beams are searched here."""
    pieces = run.stream(prompt, **settings)
    return next(pieces, None), pieces


async def as_events(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """The pieces as server-sent events: `data: {"text": ...}` each, and `event: end`."""
    async for piece in pieces:
        yield f"data: {json.dumps({'text': piece})}\n\n"
    yield "event: end\ndata: {}\n\n"
