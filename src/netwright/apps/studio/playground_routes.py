"""The page of the playground, and what it asks for."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from netwright.apps.server.app import Endpoint, Streamed
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.studio.data_choices import data_files
from netwright.apps.studio.pages import as_page
from netwright.apps.studio.playground_page import playground_page
from netwright.apps.studio.playgrounds import Playgrounds
from netwright.apps.studio.sent_object import sent_object

BYTES = "application/octet-stream"


class PlaygroundRoutes:
    """What answers under /playground.

    Args:
        folder: of the studio.
        config: how large and how slow requests may be.
        is_ending: whether streams are to end.
    """

    def __init__(self, folder: Path, config: ServerConfig, is_ending: Callable[[], bool]) -> None:
        self.folder, self.config, self.is_ending = folder, config, is_ending
        self.playgrounds = Playgrounds(folder)

    def routes(self) -> Mapping[str, tuple[str, Endpoint]]:
        """Path -> the method, and what answers."""
        return {
            "/playground": ("GET", self.page),
            "/api/playground": ("POST", self.open),
            "/api/playground/act": ("POST", self.act),
        }

    async def page(self, request: Request) -> Response:
        """The page."""
        return as_page(playground_page(await asyncio.to_thread(data_files, self.folder)))

    async def open(self, request: Request) -> Response:
        """A new playground: its pictures, as they come."""
        asked = await sent_object(request, self.config)
        watched = await self.playgrounds.open(asked)
        return Streamed(watched.messages(self.is_ending), watched, BYTES)

    async def act(self, request: Request) -> Response:
        """What is done to one that is open."""
        await self.playgrounds.act(await sent_object(request, self.config))
        return JSONResponse({"said": ""})
