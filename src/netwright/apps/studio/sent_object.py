"""The object that a page sent."""

from http import HTTPStatus
from typing import Any

from starlette.requests import Request

from netwright.apps.server.accepted_forms import JSON
from netwright.apps.server.body import media_type, read_body
from netwright.apps.server.given_inputs import read_object
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig


async def sent_object(request: Request, config: ServerConfig) -> dict[str, Any]:
    """What is in the body of a request, which has to be JSON."""
    if media_type(request) != JSON:
        raise RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"this path takes {JSON}")
    return read_object(await read_body(request, config))
