"""The studio as a process: it says its address, lets in who has it, and ends on a signal."""

import select
import signal
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn")

from netwright.apps.server.running import listen
from netwright.apps.studio.opening import open_studio
from netwright.core.errors import ConfigError


def test_refuses_what_is_no_folder_and_a_port_that_is_taken(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a folder"):
        open_studio(tmp_path / "x", host="127.0.0.1", port=0, names=[])
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        taken.listen()
        with pytest.raises(ConfigError, match="cannot listen"):
            open_studio(tmp_path, host="127.0.0.1", port=port, names=[])


def first_line(process: "subprocess.Popen[str]", seconds: float = 120) -> str:
    """What a process says first; one that says nothing fails the test instead of blocking it."""
    assert process.stderr is not None
    assert select.select([process.stderr], [], [], seconds)[0], "it says nothing"
    return process.stderr.readline()


@pytest.mark.slow
def test_it_listens_here_alone_and_ends_although_somebody_watches(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "netwright", "studio", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        address = urlsplit(first_line(process).split(": ", 1)[1].strip())
        assert address.hostname == "127.0.0.1"
        with closing(HTTPConnection("127.0.0.1", address.port or 0, timeout=60)) as asking:
            asking.request("GET", f"{address.path}?{address.query}")
            reply = asking.getresponse()
            reply.read()
            cookie = str(reply.headers["set-cookie"]).partition(";")[0]
            asking.request("GET", "/api/events", headers={"Cookie": cookie})
            with asking.getresponse() as events:
                assert events.readline().startswith(b"data: ")
                process.send_signal(signal.SIGTERM)
                assert process.wait(60) == 143
    finally:
        process.kill()
        process.wait(60)
        if process.stderr is not None:
            process.stderr.close()
