"""The body of a request, as it arrives: no more bytes than allowed, no later than allowed."""

import asyncio
from contextlib import suppress
from http import HTTPStatus

from starlette.requests import ClientDisconnect, Request

from netwright.apps.server.deadlines import within
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.server.whole_messages import whole_messages

MOST_PASSED_OVER = 64_000_000  # bytes of a body that is refused


async def read_body(request: Request, config: ServerConfig) -> bytes:
    """All bytes of the body; what is too long is refused before it is there."""
    encoding = header(request, b"content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise RefusalError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"bodies must not be compressed, got Content-Encoding {encoding[:100]!r}",
        )
    try:
        whole = whole_messages(request.scope)
        body = whole.body() if whole is not None else None
        if body is not None:
            _check_size(len(body), config)
            return body
        async with within(config.timeout):
            return await _all_parts(request, config)
    except TimeoutError:
        raise RefusalError(
            HTTPStatus.REQUEST_TIMEOUT,
            f"the body did not arrive within {config.timeout:g} seconds",
            {"Connection": "close"},
        ) from None
    except RefusalError:
        await _pass_over(request, config)
        raise


async def _all_parts(request: Request, config: ServerConfig) -> bytes:
    declared = header(request, b"content-length")
    if declared.isascii() and declared.isdigit() and len(declared) < 20:
        _check_size(int(declared), config)
    parts: list[bytes] = []
    size = 0
    more = True
    while more:  # `request.stream` does the same by a generator, which takes as long as all else
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        _check_size(size, config)
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


async def _pass_over(request: Request, config: ServerConfig) -> None:
    """Read the rest of a body that is refused: who is still sending does not read the refusal."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(config.timeout):
            while size < MOST_PASSED_OVER:
                message = await request.receive()
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def media_type(request: Request) -> str:
    """What the body is said to be, in small letters and without parameters."""
    return header(request, b"content-type").partition(";")[0].strip().lower()


def header(request: Request, name: bytes, default: str = "") -> str:
    """The first header of a name in small letters, as all are that a server of ASGI hands over."""
    for given, value in request.scope["headers"]:
        if given == name:
            text: str = value.decode("latin-1")
            return text
    return default


def _check_size(size: int, config: ServerConfig) -> None:
    if size > config.body_bytes:
        raise RefusalError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"a body may have at most {config.max_body:g} MB; send the rows in parts",
            {"Connection": "close"},
        )
