"""Clients that ask a server without rest, each on its own connection, and keep what it says."""

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Seen:
    """What clients saw.

    Args:
        answers: the place of a body, and what was said of it.
        refused: statuses of refusals.
        cut: requests without any answer: the connection was closed, or none could be made.
    """

    answers: list[tuple[int, list[dict[str, Any]]]] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    cut: int = 0


async def ask_for(
    place: tuple[str, int], path: str, bodies: Sequence[bytes], *, clients: int, seconds: float
) -> Seen:
    """Ask for so long; after a connection that was cut, on a new one."""
    seen, until = Seen(), time.monotonic() + seconds

    async def ask(first: int) -> None:
        number = first
        while time.monotonic() < until:
            try:
                reader, writer = await asyncio.open_connection(*place)
            except OSError:
                seen.cut += 1
                await asyncio.sleep(0.02)
                continue
            try:
                while time.monotonic() < until:
                    number += 1
                    which = number % len(bodies)
                    await _ask_once(reader, writer, path, which, bodies[which], seen)
            except (OSError, asyncio.IncompleteReadError):
                seen.cut += 1
            writer.close()

    await asyncio.gather(*(ask(17 * number) for number in range(clients)))
    return seen


async def _ask_once(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    path: str,
    which: int,
    body: bytes,
    seen: Seen,
) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    got = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", got, re.IGNORECASE)
    assert length, got
    said = json.loads(await reader.readexactly(int(length[1])))
    status = int(got.split(b" ", 2)[1])
    if status == 200:
        seen.answers.append((which, said["answers"]))
    else:
        seen.refused.append(status)


def count_wrong(seen: Seen, wanted: Sequence[Sequence[dict[str, Any]]], tolerance: float) -> int:
    """How many answers are not those wanted; probabilities may differ by the tolerance."""
    return sum(not _are_equal(said, wanted[which], tolerance) for which, said in seen.answers)


def _are_equal(
    said: Sequence[dict[str, Any]], wanted: Sequence[dict[str, Any]], tolerance: float
) -> bool:
    if [list(one) for one in said] != [list(one) for one in wanted]:
        return False
    return all(
        abs(value - other[name]) <= tolerance if name.startswith("p(") else value == other[name]
        for one, other in zip(said, wanted, strict=True)
        for name, value in one.items()
    )
