"""A real browser for tests: Chromium without a window, driven over a pipe by its own protocol.

Nothing is installed beside Chromium itself. The network is off: every request is recorded, and all
but the page's own file fail.
"""

import base64
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


@dataclass
class Visit:
    """What happened while a page was open.

    Args:
        requests: every address outside the page that was asked for; its own file is the first.
        complaints: what the console showed: errors, warnings, refusals of the security policy.
        dialogs: every `alert` that opened.
    """

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


class Browser:
    """One tab of a running Chromium."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._number, self._rest, self._session = 0, b"", ""
        self.visit = Visit()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )

    def open(self, page: Path, *, width: int = 1280, height: int = 900) -> Visit:
        """Show a file and wait until it has loaded."""
        self.visit = Visit()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.call("Page.navigate", url=page.resolve().as_uri())
        self._read_until(lambda message: message.get("method") == "Page.loadEventFired")
        # Two frames later everything that loading set off has been said.
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return self.visit

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression on the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        return answer["result"].get("value")

    def screenshot(self, path: Path, *, height: int | None = None) -> Path:
        """The page as PNG: the whole of it, or so much from its top."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"]}
        content = self.call(
            "Page.captureScreenshot", captureBeyondViewport=True, clip={**clip, "scale": 1}
        )["data"]
        path.write_bytes(base64.b64decode(content))
        return path

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        answer = self._read_until(lambda answer: answer.get("id") == self._number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _read_until(self, wanted: Any) -> dict[str, Any]:
        while True:
            while b"\0" not in self._rest:
                part = os.read(self._answers, 1 << 16)
                if not part:
                    raise RuntimeError("chromium has gone")
                self._rest += part
            text, _, self._rest = self._rest.partition(b"\0")
            message: dict[str, Any] = json.loads(text)
            self._note(message)
            if wanted(message):
                return message

    def _note(self, message: dict[str, Any]) -> None:
        about = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                if not about["request"]["url"].startswith("data:"):  # it is in the page itself
                    self.visit.requests.append(about["request"]["url"])
            case "Log.entryAdded":
                self.visit.complaints.append(about["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.visit.complaints.append(str(about["args"]))
            case "Runtime.exceptionThrown":
                self.visit.complaints.append(about["exceptionDetails"]["text"])
            case "Page.javascriptDialogOpening":
                self.visit.dialogs.append(about["message"])
                self.call("Page.handleJavaScriptDialog", accept=True)


STICKING_OUT = """[...document.querySelectorAll('body *')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width && box.right > innerWidth + 1 && !one.parentElement.closest('.scroll, .lines');
}).map(one => one.outerHTML.slice(0, 100))"""


def check_fits(page: Path) -> None:
    """On a phone and on two screens nothing of a page sticks out: it fits, or its box scrolls."""
    with browsing() as browser:
        for width in (390, 1280, 1920):
            browser.open(page, width=width)
            assert browser.run("document.documentElement.scrollWidth") == width
            assert browser.run(STICKING_OUT) == []
            pictures = "[...document.images].filter(one => one.checkVisibility())"
            assert browser.run(f"{pictures}.every(one => one.naturalWidth && one.width > 3)")


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser for as long as the block lasts; skips where there is no Chromium."""
    if PROGRAM is None:
        pytest.skip("chromium is not installed")
    theirs, commands = os.pipe()
    answers, also_theirs = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        quiet = os.open(os.devnull, os.O_WRONLY)
        # Far from 3 and 4, which are the numbers that Chromium reads and writes.
        spare = [os.dup2(old, new) for old, new in ((theirs, 103), (also_theirs, 104))]
        process = os.posix_spawn(
            PROGRAM,
            [PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            {**os.environ, "HOME": profile},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, spare[0], 3),
                (os.POSIX_SPAWN_DUP2, spare[1], 4),
                (os.POSIX_SPAWN_DUP2, quiet, 2),
            ],
            setpgroup=0,
        )
        for end in (theirs, also_theirs, quiet, *spare):
            os.close(end)
        try:
            yield Browser(commands, answers)
        finally:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(commands)
            os.close(answers)
