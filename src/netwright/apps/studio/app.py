"""The studio as an ASGI app: its routes, each a few lines around what answers.

GET  /               the runs             GET  /api/runs, /api/events      their state, once or live
GET  /report         of a run             POST /api/stop, resume, delete, note
GET  /comparison     of ticked runs       GET  /api/compare                its verdict
GET  /new            a new run            POST /api/plan, doctor, train, upload  what it asks for
GET  /try            asks a run           GET  /api/run, POST /api/predict, generate
GET  /inside, /view  looks inside         GET  /api/views, /api/view, POST /api/view/own
GET  /playground     watches training     POST /api/playground, /api/playground/act
GET  /theory         checks claims        GET  /api/claims, /api/claim, POST /api/check
GET  /ledger         of all claims        GET  /api/ledger/state, POST /api/ledger
GET  /enter          lets a browser in    GET  /static/NAME                styles and scripts
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from netwright.apps.server.app import AT_ONCE, EVENTS, Endpoint
from netwright.apps.server.guard import App, Door, guarded
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.replies import as_json, not_found, refused
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.studio.assets import ASSETS, read_asset
from netwright.apps.studio.data_choices import built_in, data_files
from netwright.apps.studio.error_pages import with_error_pages
from netwright.apps.studio.jobs import Jobs
from netwright.apps.studio.new_run import NewRun
from netwright.apps.studio.opened_run_routes import OpenedRunRoutes
from netwright.apps.studio.pages import FOREIGN, as_page, new_run_page, runs_page
from netwright.apps.studio.playground_routes import PlaygroundRoutes
from netwright.apps.studio.sent_object import sent_object
from netwright.apps.studio.theory_routes import TheoryRoutes
from netwright.apps.studio.uploads import take_upload
from netwright.apps.studio.watch import RunWatch
from netwright.core.files.storage import read_bytes
from netwright.recipes.judging.compare_runs import compare_runs
from netwright.recipes.judging.comparison import Comparison
from netwright.recipes.saved.run_control import find_listed, move_to_bin, stop_run
from netwright.recipes.saved.run_notes import note_run

MOST_COMPARED = 60
T = TypeVar("T")


class Studio:
    """What the routes share.

    Args:
        folder: whose runs are shown.
        door: who may ask.
        config: how large and how slow requests may be.
        is_ending: whether streams are to end.
    """

    def __init__(
        self, folder: Path, door: Door, config: ServerConfig, is_ending: Callable[[], bool]
    ) -> None:
        self.folder, self.door, self.config = folder, door, config
        self.jobs = Jobs(folder)
        self.watch = RunWatch(folder, self.jobs, is_ending)
        self.opened = OpenedRunRoutes(folder, config, self.work, self.load)
        self.playground = PlaygroundRoutes(folder, config, is_ending)
        self.theory = TheoryRoutes(folder, config, self.jobs, is_ending)
        # One at a time: figures are drawn, and views and the doctor seed torch's one generator.
        self._worker = ThreadPoolExecutor(1)
        self._loader = ThreadPoolExecutor(1)  # no data is read twice at once

    @asynccontextmanager
    async def living(self, app: Starlette) -> AsyncIterator[None]:
        """While the studio runs: a look at the folder now and then."""
        beside = [
            asyncio.create_task(task)
            for task in (self.watch.keep_looking(), self.theory.load_ahead())
        ]
        try:
            yield
        finally:
            for task in beside:
                task.cancel()
            self.playground.playgrounds.close()
            await self.theory.checks.close()
            for executor in (self._worker, self._loader):
                executor.shutdown(wait=False, cancel_futures=True)

    async def work(self, task: Callable[[], T]) -> T:
        """Do what takes a while beside the loop, one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, task)

    async def load(self, task: Callable[[], T]) -> T:
        """Read what may take minutes beside that, as only who asks for it is to wait."""
        return await asyncio.get_running_loop().run_in_executor(self._loader, task)

    async def asked(self, request: Request) -> dict[str, Any]:
        """The object that was sent."""
        return await sent_object(request, self.config)

    async def run_asked(self, request: Request) -> tuple[str, Path]:
        """The name of a run that was sent, and its folder."""
        name = str((await self.asked(request)).get("run", ""))
        return name, await asyncio.to_thread(find_listed, self.folder, name)

    async def enter(self, request: Request) -> Response:
        """Give the browser of somebody who has the token a cookie that holds it."""
        if not self.door.is_token(request.query_params.get("token", "")):
            raise RefusalError(
                HTTPStatus.UNAUTHORIZED,
                "this is not the token of this studio: open the address that its terminal shows",
            )
        reply = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        reply.set_cookie(self.door.cookie, self.door.token, httponly=True, samesite="strict")
        return reply

    async def health(self, request: Request) -> Response:
        """That the studio runs."""
        return JSONResponse({"status": "ok"})

    async def asset(self, request: Request) -> Response:
        """A style sheet or a script."""
        name = request.path_params["name"]
        if name not in ASSETS:
            raise RefusalError(HTTPStatus.NOT_FOUND, "there is no such file")
        return Response(read_asset(name), media_type=ASSETS[name][1])

    async def runs(self, request: Request) -> Response:
        """The page of all runs."""
        return as_page(runs_page(str(self.folder)))

    async def list_runs(self, request: Request) -> Response:
        """Their state now."""
        return as_json(await self.watch.refresh())

    async def events(self, request: Request) -> Response:
        """Their state, whenever it changes."""
        return StreamingResponse(self.watch.events(), media_type=EVENTS, headers=AT_ONCE)

    async def stop(self, request: Request) -> Response:
        """Ask a run's process to save and end."""
        _, folder = await self.run_asked(request)
        await asyncio.to_thread(stop_run, folder)
        return JSONResponse({"said": "asked to stop: it saves first"})

    async def resume(self, request: Request) -> Response:
        """Go on with a run, in a process of its own."""
        name, folder = await self.run_asked(request)
        words = ["train", "--resume", f"./{name}", "--quiet"]
        job = await asyncio.to_thread(self.jobs.start, words, f"netwright train --resume {name}")
        return JSONResponse({"said": f"resumed {folder.name}", "pid": job.process.pid})

    async def delete(self, request: Request) -> Response:
        """Move a run to the bin."""
        name = str((await self.asked(request)).get("run", ""))
        place = await asyncio.to_thread(move_to_bin, self.folder, name)
        return JSONResponse({"said": f"moved to {place.relative_to(self.folder)}"})

    async def note(self, request: Request) -> Response:
        """Give a run tags and a note."""
        asked = await self.asked(request)
        tags, note = asked.get("tags"), asked.get("note")
        if not isinstance(tags, list) or not isinstance(note, str):
            raise RefusalError(HTTPStatus.BAD_REQUEST, "tags must be a list, and note a text")
        folder = await asyncio.to_thread(find_listed, self.folder, str(asked.get("run", "")))
        await asyncio.to_thread(lambda: note_run(folder, tags=tags, note=note))
        return JSONResponse({"said": "noted"})

    async def compare(self, request: Request) -> Response:
        """The verdict on ticked runs, in words and as a table."""
        comparison = await self.work(lambda: self._comparison(request))
        told = {"title": comparison.title, "setting": comparison.setting}
        rows, remarks = comparison.table_rows(), list(comparison.remarks)
        return as_json({**told, "rows": rows, "remarks": remarks})

    async def comparison(self, request: Request) -> Response:
        """The same as the page that `netwright compare` writes."""
        page = await self.work(lambda: self._comparison(request).page())
        return HTMLResponse(page, headers={"X-Frame-Options": "DENY"})

    def _comparison(self, request: Request) -> Comparison:
        names = request.query_params.getlist("run")[:MOST_COMPARED]
        return compare_runs(*(find_listed(self.folder, name) for name in names))

    async def new_run(self, request: Request) -> Response:
        """The page of a new run."""
        sets, files = await asyncio.to_thread(lambda: (built_in(), data_files(self.folder)))
        return as_page(new_run_page(sets, files))

    async def plan(self, request: Request) -> Response:
        """The forms of a plan, and how it is said elsewhere."""
        asked = await self.asked(request)
        return as_json(await self.work(lambda: NewRun(self.folder, asked).plan()))

    async def examine(self, request: Request) -> Response:
        """What the doctor says of a plan."""
        asked = await self.asked(request)
        return as_json(await self.work(lambda: NewRun(self.folder, asked).examine()))

    async def train(self, request: Request) -> Response:
        """Start a plan, in a process of its own."""
        asked = await self.asked(request)
        job = await self.work(lambda: NewRun(self.folder, asked).start(self.jobs))
        return JSONResponse({"said": f"started: {job.words}", "pid": job.process.pid})

    async def upload(self, request: Request) -> Response:
        """Keep a file that was sent."""
        return JSONResponse({"path": await take_upload(request, self.folder)})

    async def report(self, request: Request) -> Response:
        """The report in a run's folder, which can do nothing here."""
        name = request.query_params.get("run", "")
        folder = await asyncio.to_thread(find_listed, self.folder, name)
        try:
            page = await asyncio.to_thread(read_bytes, folder / "report.html")
        except OSError:
            raise RefusalError(HTTPStatus.NOT_FOUND, f"{name} has no report") from None
        return HTMLResponse(page, headers={"Content-Security-Policy": FOREIGN})


def build_app(
    folder: Path, door: Door, config: ServerConfig, is_ending: Callable[[], bool] = lambda: False
) -> App:
    """The app behind its door."""
    studio = Studio(folder, door, config, is_ending)
    routes: dict[str, tuple[str, Endpoint]] = {
        "/": ("GET", studio.runs),
        "/enter": ("GET", studio.enter),
        "/health": ("GET", studio.health),
        "/static/{name}": ("GET", studio.asset),
        "/report": ("GET", studio.report),
        "/comparison": ("GET", studio.comparison),
        "/new": ("GET", studio.new_run),
        "/api/plan": ("POST", studio.plan),
        "/api/doctor": ("POST", studio.examine),
        "/api/train": ("POST", studio.train),
        "/api/upload": ("POST", studio.upload),
        "/api/runs": ("GET", studio.list_runs),
        "/api/events": ("GET", studio.events),
        "/api/compare": ("GET", studio.compare),
        "/api/stop": ("POST", studio.stop),
        "/api/resume": ("POST", studio.resume),
        "/api/delete": ("POST", studio.delete),
        "/api/note": ("POST", studio.note),
        **studio.opened.routes(),
        **studio.playground.routes(),
        **studio.theory.routes(),
    }
    app = Starlette(
        routes=[
            Route(path, _answering(endpoint), methods=[method])
            for path, (method, endpoint) in routes.items()
        ],
        lifespan=studio.living,
        exception_handlers={HTTPException: not_found},
    )
    app.router.redirect_slashes = False  # there is one path to each thing
    return with_error_pages(guarded(app, door))


def _answering(endpoint: Endpoint) -> Endpoint:
    """The endpoint; whatever goes wrong in it becomes a status and a sentence."""

    async def called(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Exception as error:
            return refused(error)

    return called
