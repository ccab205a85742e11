"""Requests a second of `netwright serve` beside a server that answers one at a time.

    served      `netwright serve RUN`, with its defaults
    one by one  FastAPI and uvicorn with the same run: each request is decoded, encoded, passed to
                the model and answered before the next; no thread, no queue, no limits
    HTTP alone  Starlette and uvicorn, a constant answer: no server of this kind is quicker, and
                where a row takes the model less than HTTP does, no batch makes up for it

Workloads, each a run of one epoch on real data, as speed does not depend on how well it predicts:

    table         an MLP on `Default` of ISLR, a row as JSON
    texts         a GRU of 256 units on SST-2, a sentence as JSON
    translations  an encoder-decoder of 256 units on Multi30k, a sentence as JSON
    images        ResNet-20 on Fashion-MNIST, a PNG of 28 x 28 in base64

All three have uvicorn with the parser of httptools, on asyncio's loop. Clients in a process of
their own keep their connections open, and each asks again as soon as it is answered; they are plain
sockets, so that they take little of the cores that they share with the server. Contestants take
turns, round after round, in an order drawn anew; the first round is thrown away. A row tells the
medians over rounds of requests a second, of the 50th and the 99th percentile of the time to an
answer, and of the CPU time of the server for one request; `ratio` is that of requests a second, and
the CPU time of the server alone is what its own cost is compared by. The gate: every answer is the
one of `run.predict` for the same input, its probabilities within 0.00001.

Both have one thread for torch (`--threads`): on small networks more only get in each other's way,
and the server that answers one at a time is then several times slower.
"""

import argparse
import base64
import csv
import gzip
import io
import json
import os
import random
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reporting import add_json_option, show

import netwright as nw
from netwright.data.files.idx import read_idx
from netwright.data.files.locations import find_file
from netwright.recipes.run.answer_table import answer, as_rows

TOLERANCE = 1e-5  # of a probability: a batch is summed in another order than a row alone
BODIES = 400  # different ones
WORKLOADS = ("table", "texts", "translations", "images")
CONTESTANTS = ("served", "one by one", "HTTP alone")
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is asked.

    Args:
        folder: of the run.
        bodies: what is sent, one input each.
        wanted: what `run.predict` says of each.
    """

    folder: Path
    bodies: list[bytes]
    wanted: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Load:
    """What clients saw in one stretch of time."""

    rate: float
    p50: float
    p99: float
    wrong: int
    failed: int


@dataclass
class Client:
    """One connection.

    Args:
        place: of the body that was sent last.
        began: when that was.
        got: what has come back of its answer.
    """

    place: int
    began: float = 0.0
    got: bytes = b""


def make_workload(name: str, place: Path) -> Workload:
    folder = place / name
    settings: dict[str, Any] = {"epochs": 1, "quiet": True, "out": folder}
    if name == "table":
        path = _real("islr", "Default.csv")
        nw.fit("mlp", path, target="default", **settings)
        with path.open(newline="") as file:
            inputs: list[Any] = list(csv.DictReader(file))[:BODIES]
        given = [{"rows": [row]} for row in inputs]
    elif name == "texts":
        lines = _real("sst2", "train.tsv").read_text().splitlines()
        (place / "few.tsv").write_text("\n".join(lines[:3000]) + "\n")
        column, target = lines[0].split("\t")[:2]
        nw.fit("gru", place / "few.tsv", text=column, target=target, hidden=256, **settings)
        inputs = [line.split("\t")[0] for line in lines[1 : BODIES + 1]]
        given = [{"texts": [text]} for text in inputs]
    elif name == "translations":
        texts = [
            gzip.decompress(_real("multi30k", f"val.{language}.gz").read_bytes()).decode()
            for language in ("en", "de")
        ]
        pairs = list(zip(*(text.splitlines() for text in texts), strict=True))
        table = "".join(f"{one}\t{other}\n" for one, other in [("en", "de"), *pairs])
        (place / "pairs.tsv").write_text(table)
        files = {"path": str(place / "pairs.tsv"), "source": "en", "target": "de"}
        nw.fit("encoder-decoder", "text-pairs", hidden=256, **files, **settings)
        inputs = [source for source, _ in pairs[:BODIES]]
        given = [{"texts": [text]} for text in inputs]
    else:
        inputs = list(_pictures(place / "pictures"))
        nw.fit("resnet20", place / "pictures", **settings)
        contents = [path.read_bytes() for path in inputs]
        given = [{"images": [base64.b64encode(one).decode()]} for one in contents]
    run = nw.open_run(folder)
    proba = run.spec.target == "class"
    wanted = as_rows(answer(run, run.preprocessor.read(inputs), proba=proba))
    return Workload(
        folder=folder, bodies=[json.dumps(one).encode() for one in given], wanted=wanted
    )


def _real(dataset: str, file: str) -> Path:
    found = find_file(dataset, file)
    if found is None:
        sys.exit(f"{dataset}/{file} is in no folder of NETWRIGHT_DATA")
    return found


def _pictures(folder: Path) -> Iterator[Path]:
    """Some of Fashion-MNIST as PNG files, a folder a class."""
    from PIL import Image

    images, classes = (
        read_idx(_real("fashion-mnist", f"t10k-{kind}-ubyte.gz"))
        for kind in ("images-idx3", "labels-idx1")
    )
    for place in range(BODIES):
        path = folder / str(classes[place]) / f"{place}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(images[place]).save(path)
        yield path


def serve_one_by_one(folder: str, port: int) -> None:
    """The reference."""
    from fastapi import FastAPI
    from PIL import Image

    from netwright.data.images.encoder import ImageEncoder

    run, app = nw.open_run(folder), FastAPI()

    def read(given: dict[str, Any]) -> Any:
        (value,) = given.values()
        encoder = run.preprocessor
        if isinstance(encoder, ImageEncoder):
            contents = [Image.open(io.BytesIO(base64.b64decode(one))) for one in value]
            return encoder.read(contents)
        return encoder.read(value)

    @app.post("/runs/x/predict")
    async def predict(given: dict[str, list[Any]]) -> dict[str, list[dict[str, Any]]]:
        said = answer(run, read(given), proba=run.spec.target == "class")
        return {"answers": as_rows(said)}

    _run(app, port)


def serve_constant(port: int) -> None:
    """What HTTP takes: the body is read, and nothing is made of it."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def predict(request: Request) -> Response:
        await request.body()
        return Response(b'{"answers": []}', media_type="application/json")

    _run(Starlette(routes=[Route("/runs/x/predict", predict, methods=["POST"])]), port)


def _run(app: Any, port: int) -> None:
    import uvicorn

    quiet: dict[str, Any] = {"log_level": "error", "access_log": False}
    uvicorn.run(app, port=port, http="httptools", loop="asyncio", **quiet)


def load(port: int, workload: Workload, clients: int, seconds: float) -> Load:
    """Ask a server for so long."""
    seen, took = _ask_for(port, workload, clients, seconds)
    times = sorted(seconds for _, seconds, _ in seen)
    answered = [(place, said) for place, _, said in seen if said]
    # HTTP alone says nothing, which is not wrong.
    told = [(workload.wanted[place], json.loads(said)["answers"]) for place, said in answered]
    wrong = sum(not is_right(rows[0], wanted) for wanted, rows in told if rows)
    return Load(
        rate=len(answered) / took,
        p50=times[len(times) // 2],
        p99=times[int(len(times) * 0.99)],
        wrong=wrong,
        failed=len(seen) - len(answered),
    )


def _ask_for(
    port: int, workload: Workload, clients: int, seconds: float
) -> tuple[list[tuple[int, float, bytes]], float]:
    """The place of each body, the seconds to its answer, and the answer; and how long all took.

    Sockets and one selector, without a loop, tasks or streams: 20 to 30 us for a request.
    """
    requests = [
        b"POST /runs/x/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
        b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        for body in workload.bodies
    ]
    step = max(1, len(requests) // clients)
    seen: list[tuple[int, float, bytes]] = []
    selector = selectors.DefaultSelector()
    for number in range(clients):
        opened = socket.create_connection(("127.0.0.1", port))
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(opened, selectors.EVENT_READ, Client(number * step % len(requests)))
    start = time.perf_counter()
    for key in selector.get_map().values():
        key.data.began = time.perf_counter()
        key.fileobj.sendall(requests[key.data.place])  # type: ignore[union-attr]
    while selector.get_map():
        for key, _ in selector.select():
            client, opened = key.data, key.fileobj
            client.got += (part := opened.recv(65536))  # type: ignore[union-attr]
            head, end, said = client.got.partition(b"\r\n\r\n")
            found = LENGTH.search(head) if end else None
            if part and (not found or len(said) < int(found[1])):
                continue
            now = time.perf_counter()
            is_answer = head.startswith(b"HTTP/1.1 200")
            seen.append((client.place, now - client.began, said * is_answer))
            if now - start < seconds and part:
                client.place, client.began = (client.place + 1) % len(requests), now
                client.got = b""
                opened.sendall(requests[client.place])  # type: ignore[union-attr]
            else:
                selector.unregister(opened)
                opened.close()  # type: ignore[union-attr]
    return seen, time.perf_counter() - start


def is_right(said: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether an answer is that of `predict`; with equal chances either class is."""
    if list(said) != list(wanted):
        return False
    shares = [name for name in said if name.startswith("p(")]
    are_close = all(abs(said[name] - wanted[name]) <= TOLERANCE for name in shares)
    best = sorted((wanted[name] for name in shares), reverse=True)[:2]
    is_tie = len(best) == 2 and best[0] - best[1] <= 2 * TOLERANCE
    others = [name for name in said if name not in shares]
    return are_close and (is_tie or all(said[name] == wanted[name] for name in others))


@contextmanager
def server(name: str, folder: Path, port: int, threads: int = 1) -> Iterator[int]:
    """A contestant in a process of its own; its process id."""
    reference = str(folder) if name == "one by one" else "-"
    own = [sys.executable, "-m", "netwright", "serve", f"x={folder}", "--port", str(port)]
    other = [sys.executable, __file__, "--reference", reference, "--port", str(port)]
    process = subprocess.Popen(
        own if name == "served" else other,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def cpu_seconds(pid: int) -> float:
    """What a process has used of the processor, so far; 0 where that cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def race(workload: Workload, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Both contestants in turn, round after round."""
    seen: dict[str, list[tuple[Load, float]]] = defaultdict(list)
    ports = {name: 18211 + place for place, name in enumerate(CONTESTANTS)}
    luck = random.Random(0)
    with ExitStack() as running:
        pids = {
            name: running.enter_context(server(name, workload.folder, port, given.threads))
            for name, port in ports.items()
        }
        for _ in range(given.rounds + 1):
            for name in luck.sample(CONTESTANTS, len(CONTESTANTS)):
                before = cpu_seconds(pids[name])
                got = load(ports[name], workload, given.clients, given.seconds)
                used = cpu_seconds(pids[name]) - before
                seen[name].append((got, used / max(1.0, got.rate * given.seconds)))
    rows = []
    for name in CONTESTANTS:
        kept = seen[name][1:]
        rows.append(
            {
                "name": name,
                "rate": statistics.median(one.rate for one, _ in kept),
                "p50": 1000 * statistics.median(one.p50 for one, _ in kept),
                "p99": 1000 * statistics.median(one.p99 for one, _ in kept),
                "cpu": 1000 * statistics.median(used for _, used in kept),
                "wrong": sum(one.wrong for one, _ in seen[name]),
                "failed": sum(one.failed for one, _ in seen[name]),
            }
        )
    reference = rows[CONTESTANTS.index("one by one")]
    return [
        {
            **row,
            "ratio": row["rate"] / reference["rate"],
            "cpu_ratio": reference["cpu"] / row["cpu"],
        }
        for row in rows
    ]


COLUMNS = {
    "server": ("name", ""),
    "requests/s": ("rate", ".0f"),
    "ratio": ("ratio", ".2f"),
    "p50 ms": ("p50", ".1f"),
    "p99 ms": ("p99", ".1f"),
    "CPU ms a request": ("cpu", ".2f"),
    "ratio of CPU": ("cpu_ratio", ".2f"),
    "wrong": ("wrong", "d"),
    "failed": ("failed", "d"),
}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", choices=WORKLOADS)
    parser.add_argument("--reference", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    add_json_option(parser)
    given = parser.parse_args(words)
    if given.reference:
        if given.reference == "-":
            serve_constant(given.port)
        else:
            serve_one_by_one(given.reference, given.port)
        return
    for name in [given.only] if given.only else WORKLOADS:
        with tempfile.TemporaryDirectory() as place:
            rows = race(make_workload(name, Path(place)), given)
        load = os.getloadavg()[0]
        title = f"{name}, {given.clients} clients, {os.cpu_count()} cores, load {load:.1f}"
        show([{"workload": name, **row} for row in rows], COLUMNS, title=title, as_json=given.json)
        if any(row["wrong"] or row["failed"] for row in rows):
            sys.exit(f"{name}: answers are wrong or missing")


if __name__ == "__main__":
    main()
