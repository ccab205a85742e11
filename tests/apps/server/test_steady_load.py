"""Under load no request is lost or answered wrongly, and the memory stays what it is."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.recipes.run.answer_table import answer, as_rows
from tests.apps.server.asking import LOCAL
from tests.apps.server.conftest import Serve
from tests.apps.server.load import Seen, ask_for, count_wrong
from tests.apps.server.test_running import read_address

TOLERANCE = 1e-5  # of a probability: a batch is summed in another order than a row alone
PATH = "/runs/texts/predict"
SECONDS, WARM = 120, 30


def bodies_and_answers(folder: Path, *, texts: int) -> tuple[list[bytes], list[Any]]:
    """Requests of one to three texts each, and what `predict` says of them."""
    words = "a the fine dull film story is was never very good bad".split()
    given = [
        [" ".join(words[(place * step + 3) % len(words)] for step in range(1, 4 + place % 5))]
        * (1 + place % 3)
        for place in range(texts)
    ]
    run = nw.open_run(folder)
    said = [as_rows(answer(run, run.preprocessor.read(one), proba=True)) for one in given]
    return [json.dumps({"texts": one}).encode() for one in given], said


def test_requests_at_once_are_answered_as_each_alone(
    serve: Serve, folders: dict[str, Path]
) -> None:
    bodies, wanted = bodies_and_answers(folders["texts"], texts=60)
    sent = {**LOCAL, "Content-Type": "application/json"}
    for settings, tolerance in (({}, TOLERANCE), ({"max_batch": 1}, 0.0)):
        asking, seen = serve(**settings), Seen()
        answers = [asking.begin("POST", PATH, body, sent) for body in bodies]
        seen.answers = [(place, one.result().json["answers"]) for place, one in enumerate(answers)]
        assert count_wrong(seen, wanted, tolerance) == 0
        measured = asking.ask("GET", "/metrics").body.decode()
        batches = f'netwright_batch_rows_count{{run="texts"}} {len(bodies)}'
        assert (batches in measured) == bool(settings)  # else fewer batches than requests


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    """The server in a process of its own, and where it listens."""
    words = ["serve", f"texts={folder}", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "netwright", *words], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        yield process, read_address(process.stderr)
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="it reads /proc")
def test_minutes_of_load_lose_nothing_and_leave_the_memory_as_it_was(
    folders: dict[str, Path],
) -> None:
    pytest.importorskip("httptools")
    bodies, wanted = bodies_and_answers(folders["texts"], texts=200)
    with served(folders["texts"]) as (process, place):
        warm = asyncio.run(ask_for(place, PATH, bodies, clients=16, seconds=WARM))
        before = resident_bytes(process.pid)
        seen = asyncio.run(ask_for(place, PATH, bodies, clients=16, seconds=SECONDS))
        after = resident_bytes(process.pid)
    assert len(seen.answers) > 1000
    assert (seen.refused, seen.cut, warm.refused, warm.cut) == ([], 0, [], 0)
    assert count_wrong(seen, wanted, TOLERANCE) == 0
    assert after - before < 10e6, (before, after, len(seen.answers))


@pytest.mark.slow
def test_killed_and_started_again_under_load_it_answers_nothing_wrongly(
    folders: dict[str, Path],
) -> None:
    pytest.importorskip("httptools")
    bodies, wanted = bodies_and_answers(folders["texts"], texts=200)
    seen: list[Seen] = []
    for number in (signal.SIGKILL, signal.SIGTERM):
        with served(folders["texts"]) as (process, place):
            asked = ask_for(place, PATH, bodies, clients=8, seconds=20)
            clients = threading.Thread(target=lambda asked=asked: seen.append(asyncio.run(asked)))
            clients.start()
            threading.Event().wait(3)
            process.send_signal(number)
            process.wait()
            with served(folders["texts"], place[1]):
                clients.join()
    for one in seen:
        assert len(one.answers) > 100
        assert one.cut > 0  # or else nothing was killed under load
        assert one.refused == []
        assert count_wrong(one, wanted, TOLERANCE) == 0
