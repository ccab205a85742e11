"""The process: where it listens, and that it ends without losing a request."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from tests.repetition import slow_but

pytest.importorskip("httptools")


def test_only_this_machine_is_loopback() -> None:
    from netwright.apps.server.running import is_any, is_loopback

    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "8.8.8.8")] == [False] * 4
    assert [is_any(host) for host in ("0.0.0.0", "::", "127.0.0.1")] == [True, True, False]
    with pytest.raises(ConfigError, match="--host must be a name or an address, got 'no host'"):
        is_loopback("no host")


def test_a_port_that_is_taken_is_refused_by_its_number() -> None:
    from netwright.apps.server.running import listen

    with listen("127.0.0.1", 0) as first:
        first.listen()
        assert first.proto == socket.IPPROTO_TCP  # or else asyncio waits before it sends
        port = first.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port}: Address"):
            listen("127.0.0.1", port)
    with pytest.raises(ConfigError, match="port 70000"):
        listen("127.0.0.1", 70000)


def read_address(shown: IO[str]) -> tuple[str, int]:
    """Where the server says that it listens."""
    for line in shown:
        found = re.search(r"serving on http://([\d.]+):(\d+)", line)
        if found:
            return found[1], int(found[2])
    raise AssertionError("the server did not start")


@pytest.mark.parametrize("number", slow_but([signal.SIGTERM], [signal.SIGTERM, signal.SIGINT]))
def test_a_signal_ends_it_when_all_that_was_accepted_is_answered(
    folders: dict[str, Path], tmp_path: Path, number: signal.Signals
) -> None:
    go = tmp_path / "go"
    words = ["serve", f"things={folders['things']}", "--port", "0", "--max-batch", "4"]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.apps.server.held_server", str(go), *words],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    place = read_address(server.stderr)
    rows = [{"size": size, "colour": "red"} for size in range(12)]

    def asked(method: str, path: str, body: str = "") -> bytes:
        with closing(http.client.HTTPConnection(*place, timeout=120)) as client:
            client.request(method, path, body, {"Content-Type": "application/json"})
            return client.getresponse().read()

    def ask(row: dict[str, Any]) -> list[str]:
        body = json.dumps({"rows": [row]})
        answers = json.loads(asked("POST", "/runs/things/predict", body))["answers"]
        return [one["kind"] for one in answers]

    def received() -> float:
        """Requests that wait, and those in the model's hands."""
        measured = asked("GET", "/metrics").decode()
        names = ("netwright_waiting_requests", "netwright_batch_rows_sum")
        found = [re.search(rf"{name}\{{.*\}} ([\d.]+)", measured) for name in names]
        return sum(float(number[1]) for number in found if number)

    with ThreadPoolExecutor(len(rows)) as pool:
        answers = [pool.submit(ask, row) for row in rows]
        while received() < len(rows):
            threading.Event().wait(0.01)
        server.send_signal(number)
        threading.Event().wait(0.5)  # its door is closed by now
        assert server.poll() is None
        go.touch()
        said = [answer.result() for answer in answers]
    wanted = nw.open_run(folders["things"]).predict(rows).tolist()
    assert said == [[one] for one in wanted]
    assert server.wait(60) == 128 + number
    server.stderr.close()
    with pytest.raises(OSError):
        socket.create_connection(place, timeout=5)
