"""The page of theory, and what it asks for."""

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from netwright.apps.server.app import Endpoint
from netwright.apps.server.refusal import RefusalError, try_later
from netwright.apps.server.replies import as_json
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.studio.claim_checks import asked_claim, describe_claim, list_claims
from netwright.apps.studio.jobs import LOGS, Job, Jobs
from netwright.apps.studio.limited_checks import LimitedChecks
from netwright.apps.studio.pages import FOREIGN, as_page
from netwright.apps.studio.sent_object import sent_object
from netwright.apps.studio.theory_page import theory_page
from netwright.core.files.storage import read_bytes
from netwright.theory.catalog import CLAIMS

LEDGER = f"{LOGS}/ledger.html"
LOOK_EVERY = 0.25  # seconds, whether an experiment is still wanted


class TheoryRoutes:
    """What answers under /theory.

    Args:
        folder: of the studio.
        config: how large and how slow requests may be.
        jobs: where the ledger is made.
        is_ending: whether experiments are to end.
    """

    def __init__(
        self, folder: Path, config: ServerConfig, jobs: Jobs, is_ending: Callable[[], bool]
    ) -> None:
        self.folder, self.config, self.jobs, self.is_ending = folder, config, jobs, is_ending
        self.checks = LimitedChecks()
        self._ledger: Job | None = None
        self._starting = asyncio.Lock()

    def routes(self) -> Mapping[str, tuple[str, Endpoint]]:
        """Path -> the method, and what answers."""
        return {
            "/theory": ("GET", self.page),
            "/ledger": ("GET", self.ledger),
            "/api/claims": ("GET", self.claims),
            "/api/claim": ("GET", self.claim),
            "/api/check": ("POST", self.check),
            "/api/ledger": ("POST", self.make_ledger),
            "/api/ledger/state": ("GET", self.ledger_state),
        }

    async def load_ahead(self) -> None:
        """Load all claims one by one while nobody waits: a hundred files at once take seconds."""
        for name in CLAIMS:
            await asyncio.to_thread(CLAIMS.load, name)

    async def page(self, request: Request) -> Response:
        """The page."""
        return as_page(theory_page())

    async def claims(self, request: Request) -> Response:
        """All claims."""
        return as_json(await asyncio.to_thread(list_claims))

    async def claim(self, request: Request) -> Response:
        """One of them."""
        name = request.query_params.get("claim", "")
        return as_json(await asyncio.to_thread(describe_claim, name))

    async def check(self, request: Request) -> Response:
        """Its verdict."""
        asked = await sent_object(request, self.config)
        await asyncio.to_thread(asked_claim, asked)  # what is refused needs no process
        return as_json(await self._while_wanted(request, asked))

    async def make_ledger(self, request: Request) -> Response:
        """Check all of them, in a process of its own."""
        await sent_object(request, self.config)
        words = ["theory", "--all", "--html", LEDGER]
        async with self._starting:
            if self._is_making():
                raise RefusalError(HTTPStatus.CONFLICT, "all claims are being checked: wait for it")
            job = await asyncio.to_thread(self.jobs.start, words, f"netwright {' '.join(words)}")
            self._ledger = job
        return JSONResponse({"said": "checking all claims", "pid": job.process.pid})

    async def ledger_state(self, request: Request) -> Response:
        """Whether it is being made, whether there is one, and why the last one failed."""
        is_made = await asyncio.to_thread((self.folder / LEDGER).is_file)
        said = self._ledger.to_json()["said"] if self._ledger else ""
        return JSONResponse({"is_running": self._is_making(), "is_made": is_made, "said": said})

    def _is_making(self) -> bool:
        return self._ledger is not None and self._ledger.process.poll() is None

    async def ledger(self, request: Request) -> Response:
        """The page that was made last."""
        try:
            page = await asyncio.to_thread(read_bytes, self.folder / LEDGER)
        except OSError:
            raise RefusalError(HTTPStatus.NOT_FOUND, "no ledger has been made yet") from None
        return HTMLResponse(page, headers={"Content-Security-Policy": FOREIGN})

    async def _while_wanted(self, request: Request, asked: Mapping[str, Any]) -> Any:
        """The verdict; the experiment ends when the asker leaves or the studio ends."""
        checking = asyncio.create_task(self.checks.check(asked))
        try:
            while not (await asyncio.wait({checking}, timeout=LOOK_EVERY))[0]:
                if self.is_ending() or await request.is_disconnected():
                    raise try_later(HTTPStatus.SERVICE_UNAVAILABLE, "the experiment was stopped")
            return checking.result()
        finally:
            checking.cancel()
            await asyncio.wait({checking})
