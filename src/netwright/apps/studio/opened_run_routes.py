"""The pages on which a run is asked and looked into, and what they ask for."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from netwright.apps.server.app import Endpoint, Streamed
from netwright.apps.server.body import media_type, read_body
from netwright.apps.server.generation_stream import Streams
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.refusal import try_later
from netwright.apps.server.replies import as_json
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.studio.opened_runs import OpenedRuns, UnreadError, looks_at_data
from netwright.apps.studio.pages import as_page, inside_page, try_page
from netwright.apps.studio.sent_object import sent_object

T = TypeVar("T")
MOST_READS = 3  # of the data of a run whose folder changes meanwhile


class Work(Protocol):
    """Does what takes a while beside the loop, one after the other."""

    def __call__(self, task: Callable[[], T], /) -> Awaitable[T]:
        """The result of a task."""


class OpenedRunRoutes:
    """What answers for one run.

    Args:
        folder: of the studio.
        config: how large and how slow requests may be.
        work: where models answer and figures are drawn.
        load: where the data of runs is read, which others do not wait for.
    """

    def __init__(self, folder: Path, config: ServerConfig, work: Work, load: Work) -> None:
        self.config, self.work, self.load = config, work, load
        self.runs = OpenedRuns(folder, config)
        self.streams = Streams(config, Measurements())

    def routes(self) -> Mapping[str, tuple[str, Endpoint]]:
        """Path -> the method, and what answers."""
        return {
            "/try": ("GET", self.try_page),
            "/inside": ("GET", self.inside_page),
            "/view": ("GET", self.view_page),
            "/api/run": ("GET", self.one_run),
            "/api/predict": ("POST", self.predict),
            "/api/generate": ("POST", self.generate),
            "/api/views": ("GET", self.views),
            "/api/view": ("GET", self.view),
            "/api/view/own": ("POST", self.own_view),
        }

    async def try_page(self, request: Request) -> Response:
        """The page on which a run is asked."""
        return as_page(try_page())

    async def inside_page(self, request: Request) -> Response:
        """The page of what is inside a run."""
        return as_page(inside_page())

    async def one_run(self, request: Request) -> Response:
        """What a run takes and gives."""
        name = request.query_params.get("run", "")
        return as_json(await self.work(lambda: self.runs.description(name)))

    async def predict(self, request: Request) -> Response:
        """What a run says of new inputs."""
        name, media = request.query_params.get("run", ""), media_type(request)
        body = await read_body(request, self.config)
        reply = await self.work(lambda: self.runs.answer(name, media, body))
        return Response(reply.content, media_type=reply.media)

    async def generate(self, request: Request) -> Response:
        """The text that follows a prompt, as it comes."""
        asked = await sent_object(request, self.config)
        run = await self.work(lambda: self.runs.run(request.query_params.get("run", "")))
        stream = await self.streams.open(run, asked)
        return Streamed(stream.pieces(), stream, "text/plain; charset=utf-8")

    async def _read_data(self, name: str, view: str | None = None) -> None:
        """Read the data that a view of a run looks at, which then is at hand."""
        if view is None or looks_at_data(view):
            run = await self.work(lambda: self.runs.run(name))
            await self.load(run.data_at_hand)
            await self.work(lambda: self.runs.note_read(name))

    async def views(self, request: Request) -> Response:
        """The views that a run has."""
        name = request.query_params.get("run", "")
        await self._read_data(name)
        return as_json(await self.work(lambda: self.runs.views(name)))

    async def view(self, request: Request) -> Response:
        """One view of a run."""
        name, view, settings = _view_asked(request)
        await self._read_data(name, view)
        return as_json(await self.work(lambda: self.runs.view(name, view, settings)))

    async def own_view(self, request: Request) -> Response:
        """One view of the input that was sent."""
        name, view, settings = _view_asked(request)
        media, body = media_type(request), await read_body(request, self.config)

        def measure() -> Any:
            return self.runs.own_view(name, view, settings, media, body)

        for _ in range(MOST_READS):
            try:
                return as_json(await self.work(measure))
            except UnreadError:  # most views of an own input look at no data
                await self._read_data(name)
        raise try_later(HTTPStatus.SERVICE_UNAVAILABLE, "the run changes while its data is read")

    async def view_page(self, request: Request) -> Response:
        """The same as the page that `netwright inspect` writes."""
        name, view, settings = _view_asked(request)
        await self._read_data(name, view)
        page = await self.work(lambda: self.runs.page(name, view, settings))
        return HTMLResponse(page, headers={"X-Frame-Options": "DENY"})


def _view_asked(request: Request) -> tuple[str, str, dict[str, str]]:
    """The run, the view and its settings; what is empty is as it usually is."""
    given = {name: value for name, value in request.query_params.items() if value}
    return given.pop("run", ""), given.pop("view", ""), given
