"""A browser without a window, driven through a pipe (Chrome DevTools Protocol).

Names of other machines do not resolve in it, and whatever it asks for elsewhere is noted.
"""

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 60.0  # seconds that anything may take on a busy machine


class Browser:
    """One page of a browser.

    Args:
        profile: an empty folder.
        size: width and height of the window.
    """

    def __init__(self, profile: Path, size: tuple[int, int] = (1400, 1000)) -> None:
        self.profile, self.size = profile, size
        self.troubles: list[str] = []  # errors on the console, and what scripts threw
        self.requests: list[str] = []
        self._buffer, self._number, self._session = b"", 0, ""

    def __enter__(self) -> "Browser":
        assert CHROMIUM is not None
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()

        self._process = subprocess.Popen(
            [  # the protocol's two descriptors are 3 and 4
                *("bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", CHROMIUM),
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                *("--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run"),
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                f"--window-size={self.size[0]},{self.size[1]}",
                "about:blank",
            ],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        pages = [
            one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"
        ]
        attached = {"targetId": pages[0]["targetId"], "flatten": True}
        self._session = self.call("Target.attachToTarget", **attached)["sessionId"]
        for room in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{room}.enable")
        self.resize(*self.size)
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError, AssertionError):
            self._session = ""
            self.call("Browser.close")
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._out)
        os.close(self._in)

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """Be a screen of this size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def call(self, method: str, **settings: Any) -> Any:
        """The result of one command."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": settings}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._number:
                assert "error" not in told, told
                return told["result"]
            self._note(told)

    def _next(self) -> Any:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        first, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(first)

    def _note(self, told: Any) -> None:
        what, values = told.get("method"), told.get("params", {})
        if what == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            self.troubles.append(json.dumps(values["exceptionDetails"])[:500])
        elif what == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.troubles.append(values["entry"]["text"] + " " + values["entry"].get("url", ""))
        elif what == "Page.javascriptDialogOpening":
            self.call("Page.handleJavaScriptDialog", accept=True)

    def go(self, address: str) -> None:
        """Open an address."""
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        told = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, script: str, seconds: float = PATIENCE) -> None:
        """Until an expression is true."""
        end = time.monotonic() + seconds
        while True:
            with suppress(AssertionError):  # the page may be on its way out
                if self.ask(f"Boolean({script})"):
                    return
            assert time.monotonic() < end, f"never true: {script}; the page says " + str(
                self.ask("document.body.innerText.slice(0, 1500)")
            )
            time.sleep(0.1)

    def click(self, selector: str) -> None:
        """Press what a selector finds."""
        self.wait(f"!!document.querySelector({json.dumps(selector)})")
        self.ask(f"document.querySelector({json.dumps(selector)}).click()")

    def type(self, selector: str, value: str) -> None:
        """Give a field a value, as a person does."""
        self.wait(f"!!document.querySelector({json.dumps(selector)})")
        self.ask(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)});"
            f"field.value = {json.dumps(value)};"
            "field.dispatchEvent(new Event('input', {bubbles: true}));"
            "field.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def press(self, key: str, *, text: str = "", code: int = 0) -> None:
        """Press a key and let it go: what has the focus gets it."""
        names = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **names, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **names)

    def drag(self, selector: str, places: Sequence[tuple[float, float]]) -> None:
        """Press the mouse at the first place, in parts of what a selector finds, and move it on."""
        box = self.ask(
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            "found.scrollIntoView({block: 'center'}); const box = found.getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height]; })()"
        )
        at = [{"x": box[0] + x * box[2], "y": box[1] + y * box[3]} for x, y in places]
        kinds = ["mousePressed", *["mouseMoved"] * (len(at) - 1)]
        for kind, place in zip([*kinds, "mouseReleased"], [*at, at[-1]], strict=True):
            pressed = {"button": "left", "buttons": 1, "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, **pressed, **place)

    def picture(self, path: Path) -> None:
        """Write what the page looks like, all of its height."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))
