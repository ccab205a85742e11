"""The page of theory, and what it asks for."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from netwright.apps.server.app import Endpoint
from netwright.apps.server.refusal import RefusalError, try_later
from netwright.apps.server.replies import as_json
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.studio.claim_checks import check_asked, describe_claim, list_claims
from netwright.apps.studio.jobs import LOGS, Jobs
from netwright.apps.studio.pages import FOREIGN, as_page
from netwright.apps.studio.sent_object import sent_object
from netwright.apps.studio.theory_page import theory_page
from netwright.core.files.storage import read_bytes

LEDGER = f"{LOGS}/ledger.html"
MOST_WAITING = 4


class TheoryRoutes:
    """What answers under /theory.

    Args:
        folder: of the studio.
        config: how large and how slow requests may be.
        jobs: where the ledger is made.
    """

    def __init__(self, folder: Path, config: ServerConfig, jobs: Jobs) -> None:
        self.folder, self.config, self.jobs = folder, config, jobs
        self._waiting = 0
        self._worker = ThreadPoolExecutor(1)  # experiments run one at a time

    def routes(self) -> Mapping[str, tuple[str, Endpoint]]:
        """Path -> the method, and what answers."""
        return {
            "/theory": ("GET", self.page),
            "/ledger": ("GET", self.ledger),
            "/api/claims": ("GET", self.claims),
            "/api/claim": ("GET", self.claim),
            "/api/check": ("POST", self.check),
            "/api/ledger": ("POST", self.make_ledger),
        }

    def close(self) -> None:
        """No further experiment begins."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def page(self, request: Request) -> Response:
        """The page."""
        return as_page(theory_page())

    async def claims(self, request: Request) -> Response:
        """All claims."""
        return as_json(await asyncio.to_thread(list_claims))

    async def claim(self, request: Request) -> Response:
        """One of them."""
        name = request.query_params.get("claim", "")
        return as_json(await self._work(lambda: describe_claim(name)))

    async def check(self, request: Request) -> Response:
        """Its verdict."""
        asked = await sent_object(request, self.config)
        return as_json(await self._work(lambda: check_asked(asked)))

    async def make_ledger(self, request: Request) -> Response:
        """Check all of them, in a process of its own."""
        await sent_object(request, self.config)
        words = ["theory", "--all", "--html", LEDGER]
        job = await asyncio.to_thread(self.jobs.start, words, f"netwright {' '.join(words)}")
        return JSONResponse({"said": "checking all claims", "pid": job.process.pid})

    async def ledger(self, request: Request) -> Response:
        """The page that was made last."""
        try:
            page = await asyncio.to_thread(read_bytes, self.folder / LEDGER)
        except OSError:
            raise RefusalError(HTTPStatus.NOT_FOUND, "no ledger has been made yet") from None
        return HTMLResponse(page, headers={"Content-Security-Policy": FOREIGN})

    async def _work(self, task: Callable[[], Any]) -> Any:
        if self._waiting >= MOST_WAITING:
            raise try_later(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{MOST_WAITING} experiments are waiting for each other: try again later",
            )
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, task)
        finally:
            self._waiting -= 1
