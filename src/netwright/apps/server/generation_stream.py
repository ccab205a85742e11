"""A language model continues a prompt; its text is sent as it is sampled.

The first piece is waited for before anything is sent, so that what is refused has its status. A
reader who goes away ends the text; so does the time that a request may take, which holds for the
reading of the prompt and the search of beams, too.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from torch import Tensor

from netwright.apps.server.measurements import Measurements
from netwright.apps.server.refusal import RefusalError, try_later
from netwright.apps.server.server_config import MOST_BEAMS, PROMPT_TOKENS, ServerConfig
from netwright.core.checks import nearest
from netwright.recipes.run.generation import build_text_generator, decoding_config
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
        end, is_over = time.monotonic() + self._config.timeout, threading.Event()
        begun = asyncio.to_thread(_begun, run, prompt, settings, is_over)
        beginning = asyncio.ensure_future(begun)
        try:
            async with asyncio.timeout(self._config.timeout):
                first, rest = await asyncio.shield(beginning)
        except BaseException as error:
            is_over.set()
            self._leave_after(beginning)
            if isinstance(error, TimeoutError):
                raise try_later(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"no text had begun within {self._config.timeout:g} seconds; send a shorter "
                    "prompt, or ask for fewer beams or tokens",
                ) from None
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

    def _leave_after(self, beginning: "asyncio.Future[Any]") -> None:
        """Make room when the thread has stopped: until then it works, and nothing interrupts it."""

        def leave(done: "asyncio.Future[Any]") -> None:
            if not done.cancelled():
                done.exception()  # nobody else asks for it
            self._leave()

        if beginning.done():
            leave(beginning)
        else:
            beginning.add_done_callback(leave)


def _begun(
    run: Run, prompt: str, settings: dict[str, Any], is_over: threading.Event
) -> tuple[str | None, Iterator[str]]:
    """The first piece of a text and the rest of it; beams are searched here.

    Args:
        run: of a language model.
        prompt: how the text begins.
        settings: of decoding.
        is_over: set when nobody waits any more; the model then reads no further token.
    """

    def watch(tokens: Tensor) -> None:
        if is_over.is_set():
            raise TimeoutError
        if tokens.ndim == 2 and tokens.shape[1] > PROMPT_TOKENS:
            raise RefusalError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a prompt may have at most {PROMPT_TOKENS:,} tokens, got {tokens.shape[1]:,}",
            )

    generator = build_text_generator(run.model, run.spec, run.preprocessor)
    beams = settings.pop("beams", None)
    config = decoding_config(settings)
    pieces = replace(generator, watch=watch).stream(prompt, config, beams=beams)
    return next(pieces, None), pieces


async def as_events(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """The pieces as server-sent events: `data: {"text": ...}` each, and `event: end`."""
    async for piece in pieces:
        yield f"data: {json.dumps({'text': piece})}\n\n"
    yield "event: end\ndata: {}\n\n"
