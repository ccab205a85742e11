"""What every server of ours replies: JSON that browsers can read, and errors as one sentence."""

import json
import traceback
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from netwright.apps.server.accepted_forms import JSON
from netwright.apps.server.refusal import RefusalError
from netwright.core.errors import NetwrightError
from netwright.core.memory_shortage import is_shortage
from netwright.core.terminal.console import print_message


def refused(error: Exception) -> Response:
    """What is said of an error; one that nobody foresaw is a fault of ours, and is told."""
    if isinstance(error, RefusalError):
        return JSONResponse({"error": str(error)}, error.status, error.headers)
    if isinstance(error, NetwrightError):
        return JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody reads it
    if is_shortage(error):
        sentence = "there is not enough memory for this request: send fewer rows"
        return JSONResponse({"error": sentence}, HTTPStatus.SERVICE_UNAVAILABLE)
    for line in traceback.format_exception(error):
        print_message(line)
    sentence = "the server failed on this request; what it printed says why"
    return JSONResponse({"error": sentence}, HTTPStatus.INTERNAL_SERVER_ERROR)


async def not_found(request: Request, error: Exception) -> Response:
    """A path or a method that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        sentence = "this path takes another method; GET / says which"
    else:
        sentence = "there is nothing at this path; GET / says what there is"
    headers = error.headers if isinstance(error, HTTPException) else None
    return JSONResponse({"error": sentence}, status, headers)


def as_json(value: Any) -> Response:
    """JSON in which measured values may be no numbers: NaN is null."""
    return Response(json.dumps(_finite(value), allow_nan=False), media_type=JSON)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    is_number = isinstance(value, float)
    return None if is_number and not (-float("inf") < value < float("inf")) else value
