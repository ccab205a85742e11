"""A server under strain: a thousand clients that stream, stall or never read do not stop it."""

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

pytest.importorskip("httptools")

import netwright as nw
from tests.apps.server.test_running import read_address
from tests.apps.studio.test_strain import Connection, connected, many_files, trickle  # noqa: F401

STREAMS, HALF_OPEN, SLOW, DEAF, MOST = 1000, 200, 50, 20, 8


@contextmanager
def served(folders: dict[str, Path]) -> Iterator[tuple[str, int]]:
    """The server in a process of its own that may have few files at first; where it listens."""
    limited = ["bash", "-c", 'ulimit -Sn 256; exec "$@"', "bash"]
    runs = [f"{name}={folders[name]}" for name in ("things", "letters")]
    words = [sys.executable, "-m", "netwright", "serve", *runs, "--port", "0"]
    process = subprocess.Popen(
        [*limited, *words, "--max-streams", str(MOST)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        yield read_address(process.stderr)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 143
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def request(place: tuple[str, int], path: str, value: object, accept: str) -> bytes:
    body = json.dumps(value).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{place[1]}\r\nContent-Type: application/json\r\n"
        f"Accept: {accept}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


async def status_of(connection: Connection) -> int:
    """The status of an answer that is read to its end."""
    content = await connection[0].read(-1)
    return int(content.split(b" ", 2)[1]) if content else 0


def kinds(place: tuple[str, int], rows: list[dict[str, object]]) -> list[str]:
    client = HTTPConnection(*place, timeout=120)
    sent = {"Content-Type": "application/json"}
    client.request("POST", "/runs/things/predict", json.dumps({"rows": rows}), sent)
    reply = client.getresponse()
    assert reply.status == 200
    said = json.loads(reply.read())["answers"]
    client.close()
    return [row["kind"] for row in said]


async def strain(place: tuple[str, int], rows: list[dict[str, object]], wanted: list[str]) -> None:
    long = {"prompt": "the", "max_tokens": 4096}
    short = {"prompt": "the", "max_tokens": 20}
    generate = "/runs/letters/generate"
    half_open = await connected(place, b"POST /runs/thi", HALF_OPEN)
    slow = await connected(place, b"", SLOW)
    trickling = asyncio.create_task(trickle(slow))
    deaf = await connected(place, request(place, generate, long, "text/event-stream"), DEAF)
    asked = request(place, generate, short, "text/event-stream")
    streams = await connected(place, asked, STREAMS)
    async with asyncio.timeout(240):
        assert await asyncio.to_thread(kinds, place, rows) == wanted
        found = Counter(await asyncio.gather(*(status_of(one) for one in streams)))
        assert set(found) <= {200, 429}, found
        assert found.total() == STREAMS
        assert await asyncio.to_thread(kinds, place, rows) == wanted
    trickling.cancel()
    for _, writer in (*half_open, *slow, *deaf, *streams):
        writer.close()
    async with asyncio.timeout(240):  # there is room again when those who never read are gone
        while True:
            (one,) = await connected(place, asked, 1)
            status = await status_of(one)
            one[1].close()
            if status == 200:
                return
            await asyncio.sleep(0.2)


@pytest.mark.slow
@pytest.mark.usefixtures("many_files")
def test_a_thousand_streams_and_clients_that_stall_do_not_stop_it(
    folders: dict[str, Path], things_rows: list[dict[str, object]]
) -> None:
    wanted = nw.open_run(folders["things"]).predict(things_rows).tolist()
    with served(folders) as place:
        asyncio.run(strain(place, things_rows, wanted))
