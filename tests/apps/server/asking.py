"""An app that is asked without a socket: requests as a server of ASGI hands them over."""

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from netwright.apps.server.guard import App, Message

LOCAL = {"Host": "127.0.0.1:8000"}


@dataclass(frozen=True)
class Answer:
    """What came back.

    Args:
        status: of HTTP.
        headers: by their names in small letters.
        body: all of it.
        parts: how many pieces it came in.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    parts: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"])


class Asking:
    """An app in a loop of its own; `with Asking(app) as asking` starts and ends it.

    Args:
        app: what is asked.
    """

    def __init__(self, app: App) -> None:
        self.app = app
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._events: asyncio.Queue[Message] = asyncio.Queue()
        self._done: asyncio.Queue[str] = asyncio.Queue()
        self._life: asyncio.Task[None] | None = None

    def __enter__(self) -> "Asking":
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(self, *error: object) -> None:
        self._run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def ask(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer to one request."""
        return self.begin(method, target, body, headers).result()

    def post(self, target: str, value: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """The answer to a JSON body."""
        sent = {**LOCAL, "Content-Type": "application/json", **(headers or {})}
        return self.ask("POST", target, json.dumps(value).encode(), sent)

    def begin(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> "Future[Answer]":
        """The same, without waiting for it."""
        asked = self._asked(method, target, body, LOCAL if headers is None else headers)
        return asyncio.run_coroutine_threadsafe(asked, self.loop)

    async def _asked(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> Answer:
        path, _, query = target.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode("latin-1", "replace"),
            "query_string": query.encode("latin-1", "replace"),
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
                for name, value in headers.items()
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }
        sent: list[Message] = []
        is_read = False

        async def receive() -> Message:
            nonlocal is_read
            if is_read:
                await asyncio.Event().wait()  # it stays connected
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start, *rest = sent
        return Answer(
            status=int(start["status"]),
            headers={name.decode(): value.decode("latin-1") for name, value in start["headers"]},
            body=b"".join(part.get("body", b"") for part in rest),
            parts=sum(bool(part.get("body")) for part in rest),
        )

    async def _start(self) -> None:
        async def send(message: Message) -> None:
            await self._done.put(str(message["type"]))

        async def live() -> None:
            await self.app({"type": "lifespan"}, self._events.get, send)

        self._life = asyncio.create_task(live())
        await self._events.put({"type": "lifespan.startup"})
        assert await self._done.get() == "lifespan.startup.complete"

    async def _end(self) -> None:
        await self._events.put({"type": "lifespan.shutdown"})
        assert await self._done.get() == "lifespan.shutdown.complete"
        assert self._life is not None
        await self._life

    def _run(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()
