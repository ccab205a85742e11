"""The server as an ASGI app: its routes, each a few lines around what answers.

GET  /                     the page                POST /runs/NAME/predict    answers
GET  /openapi.json         the same for programs   POST /runs/NAME/generate   a text, as it comes
GET  /runs, /runs/NAME     what is served          GET  /health, /ready, /metrics
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from netwright.apps.server.accepted_forms import CSV, JSON, LINES
from netwright.apps.server.batcher import Batcher, count_threads
from netwright.apps.server.body import header, media_type, read_body
from netwright.apps.server.deadlines import within
from netwright.apps.server.generation_stream import Streams, as_events
from netwright.apps.server.given_inputs import read_object
from netwright.apps.server.guard import HEADERS, App, Door, Message, guarded
from netwright.apps.server.measurements import (
    MEDIA_TYPE,
    SECONDS,
    Counter,
    Histogram,
    Measurements,
)
from netwright.apps.server.openapi import describe_api
from netwright.apps.server.overview_page import overview_page
from netwright.apps.server.question import AnswerOptions, Question, Reply
from netwright.apps.server.refusal import RefusalError, try_later
from netwright.apps.server.replies import as_json, not_found, refused
from netwright.apps.server.run_description import describe_run
from netwright.apps.server.served_runs import ServedRuns
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.server.whole_messages import as_lines, whole_messages
from netwright.core.config import parse
from netwright.core.terminal.console import print_warning
from netwright.recipes.run.run import Run

LOOK_EVERY = 1.0  # seconds between two looks at the folders
SMALL = 2**16  # bytes of a body that is read and encoded where it is answered
USUAL = AnswerOptions()
EVENTS = "text/event-stream"
AT_ONCE = {"X-Accel-Buffering": "no"}  # a proxy, as nginx, is to pass on each piece as it comes
PLAIN = ((b"content-type", JSON.encode()),)
PLAIN_LINES = as_lines((*PLAIN, *HEADERS))  # past the door, which adds its own to messages
PREDICT = re.compile("/runs/(?P<name>[^/]+)/predict")
Endpoint = Callable[[Request], Awaitable[Response]]


class RunServer:
    """What the routes share.

    Args:
        runs: that are served.
        config: what is allowed.
        door: who may ask.
        measurements: what is counted.
    """

    def __init__(
        self, runs: ServedRuns, config: ServerConfig, door: Door, measurements: Measurements
    ) -> None:
        self.runs, self.config, self.door, self.measurements = runs, config, door, measurements
        self.streams = Streams(config, measurements)
        self.batchers: dict[str, Batcher] = {}

    @asynccontextmanager
    async def serving(self, app: Starlette) -> AsyncIterator[None]:
        """While the server runs: a thread for each run, and a look at the folders now and then."""
        for served in self.runs:
            self.batchers[served.name] = Batcher(
                served.name,
                max_batch=self.config.max_batch,
                max_waiting=self.config.max_waiting,
                measurements=self.measurements,
                threads=count_threads(served.run),
            )
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            batchers, self.batchers = self.batchers, {}
            for batcher in batchers.values():
                await asyncio.to_thread(batcher.close)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await asyncio.to_thread(self.runs.refresh)
            except Exception as error:  # whatever it is, the next look may be better
                print_warning(f"the folders of the runs could not be looked at: {error}")

    async def predict(self, request: Request) -> Response:
        """Predictions of new inputs."""
        served = self.runs[request.path_params["name"]]
        options = USUAL
        if request.scope["query_string"]:
            options = parse(AnswerOptions, dict(request.query_params))
        batcher = self._batcher(served.name)
        batcher.enter()
        try:
            reply = await self._replied(request, served.run, options, batcher)
        finally:
            batcher.leave()
        batcher.answered.add(reply.rows)
        if reply.media == JSON:
            return PlainAnswer(reply.content)
        return Response(reply.content, media_type=reply.media)

    async def _replied(
        self, request: Request, run: Run, options: AnswerOptions, batcher: Batcher
    ) -> Reply:
        body = await read_body(request, self.config)
        question = Question(
            run,
            media_type(request),
            body,
            options=options,
            config=self.config,
            as_csv=CSV in header(request, b"accept"),
        )
        try:
            async with within(self.config.timeout):
                if len(body) > SMALL:  # to decode it may take longer than others should wait
                    await asyncio.to_thread(question.prepare)
                return await batcher.ask(question)
        except TimeoutError:
            raise try_later(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"there was no answer within {self.config.timeout:g} seconds",
            ) from None

    def _batcher(self, name: str) -> Batcher:
        if name not in self.batchers:
            raise try_later(HTTPStatus.SERVICE_UNAVAILABLE, "the server is shutting down")
        return self.batchers[name]

    async def generate(self, request: Request) -> Response:
        """The text that follows a prompt, in the form that is asked for."""
        served = self.runs[request.path_params["name"]]
        if media_type(request) != JSON:
            raise RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"generate takes {JSON}")
        asked = read_object(await read_body(request, self.config))
        stream = await self.streams.open(served.run, asked)
        accept = header(request, b"accept")
        if EVENTS in accept:
            return Streamed(as_events(stream.pieces()), stream, EVENTS)
        if LINES in accept:
            return Streamed(stream.pieces(), stream, f"{LINES}; charset=utf-8")
        try:
            text = "".join([piece async for piece in stream.pieces()])
        finally:
            stream.close()
        return JSONResponse({"prompt": asked.get("prompt", ""), "text": text})

    async def page(self, request: Request) -> Response:
        """How to ask, for people."""
        needs_token = bool(self.door.token)
        address = f"{request.url.scheme}://{request.headers['host']}"
        page = overview_page(self.runs, self.config, address, needs_token=needs_token)
        return HTMLResponse(page, headers={"X-Frame-Options": "DENY"})  # a policy of HTTP alone

    async def openapi(self, request: Request) -> Response:
        """How to ask, for programs."""
        return JSONResponse(describe_api(self.runs, needs_token=bool(self.door.token)))

    async def list_runs(self, request: Request) -> Response:
        """What is served."""
        return as_json({"runs": [describe_run(one, self.config) for one in self.runs]})

    async def one_run(self, request: Request) -> Response:
        """One of them."""
        return as_json(describe_run(self.runs[request.path_params["name"]], self.config))

    async def health(self, request: Request) -> Response:
        """That the server runs."""
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Whether requests are answered."""
        if not self.batchers:
            raise try_later(HTTPStatus.SERVICE_UNAVAILABLE, "the server is shutting down")
        return JSONResponse({"status": "ready", "runs": [one.name for one in self.runs]})

    async def metrics(self, request: Request) -> Response:
        """What was counted."""
        return Response(self.measurements.text(), media_type=MEDIA_TYPE)


class PlainAnswer(Response):
    """JSON with status 200, whose headers are known beforehand."""

    def __init__(self, content: bytes) -> None:
        self.status_code, self.body, self.background = HTTPStatus.OK, content, None
        self.raw_headers = [(b"content-length", b"%d" % len(content)), *PLAIN]

    def leave(self, scope: Scope) -> bool:
        """Leave at once, where the server knows how; whether it did."""
        whole = whole_messages(scope)
        return whole is not None and whole.send(PLAIN_LINES, bytes(self.body))


class Closable(Protocol):
    """What somebody has to close."""

    def close(self) -> None:
        """Make room for another one."""


class Streamed(StreamingResponse):
    """A text, or bytes, whose source is closed when all is sent, or the reader is gone."""

    def __init__(
        self, pieces: AsyncIterator[str] | AsyncIterator[bytes], stream: Closable, media: str
    ) -> None:
        super().__init__(pieces, media_type=media, headers=AT_ONCE)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


def build_app(
    runs: ServedRuns, config: ServerConfig, door: Door, measurements: Measurements
) -> App:
    """The app behind its door."""
    server = RunServer(runs, config, door, measurements)
    routes: dict[str, tuple[str, Endpoint]] = {
        "/runs/{name}/predict": ("POST", server.predict),
        "/runs/{name}/generate": ("POST", server.generate),
        "/health": ("GET", server.health),
        "/ready": ("GET", server.ready),
        "/metrics": ("GET", server.metrics),
        "/runs": ("GET", server.list_runs),
        "/runs/{name}": ("GET", server.one_run),
        "/openapi.json": ("GET", server.openapi),
        "/": ("GET", server.page),
    }
    app = Starlette(
        routes=[
            Route(path, _answering(endpoint, server), methods=[method])
            for path, (method, endpoint) in routes.items()
        ],
        lifespan=server.serving,
        exception_handlers={HTTPException: not_found},
    )
    app.router.redirect_slashes = False  # there is one path to each thing
    return guarded(_past_the_router(app, _answering(server.predict, server)), door)


def _past_the_router(app: App, predict: Endpoint) -> App:
    """The app with a way of its own to what is asked most often.

    Routes, and what surrounds them for errors, which are none here, take as long as all else that
    is done for a row of a table.
    """

    async def called(scope: Message, receive: Receive, send: Send) -> None:
        found = PREDICT.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        scope["path_params"] = found.groupdict()
        response = await predict(Request(scope, receive, send))
        if not (isinstance(response, PlainAnswer) and response.leave(scope)):
            await response(scope, receive, send)

    return called


def _answering(endpoint: Endpoint, server: RunServer) -> Endpoint:
    """The endpoint; whatever goes wrong in it becomes a status and a sentence, and is counted."""
    operation = endpoint.__name__
    counters: dict[tuple[str, int], Counter] = {}
    histograms: dict[str, Histogram] = {}

    def measured(run: str, status: int, seconds: float) -> None:
        labels: dict[str, str] = {"run": run, "operation": operation}
        find = server.measurements
        if (run, status) not in counters:
            counters[run, status] = find.counter(
                "netwright_requests_total", **labels, status=str(status)
            )
        if run not in histograms:
            histograms[run] = find.histogram("netwright_request_seconds", SECONDS, **labels)
        counters[run, status].add()
        histograms[run].add(seconds)

    async def called(request: Request) -> Response:
        began = time.perf_counter()
        try:
            response = await endpoint(request)
        except Exception as error:
            response = refused(error)
        name = request.path_params.get("name", "")
        known = name if name in server.batchers else ""  # names of strangers are not kept
        measured(known, response.status_code, time.perf_counter() - began)
        return response

    return called
