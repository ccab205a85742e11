"""Who may ask: requests are let through by their host, their origin and their token.

A page that the user has open elsewhere can make the browser send requests to this machine. It
cannot choose their `Host` and `Origin`: a name that leads here by a changed DNS entry is refused by
the first, a form or script of another site by the second. What listens beyond this machine asks
everybody for a token.

Source: Jackson et al., "Protecting Browsers from DNS Rebinding Attacks" (2007); OWASP, "Cross-Site
Request Forgery Prevention" (origin verification).
"""

import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from netwright.apps.server.refusal import RefusalError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
OPEN = frozenset({"/health", "/ready"})  # whether it runs is no secret; all else is by token
HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


@dataclass(frozen=True, kw_only=True)
class Door:
    """What is let through.

    Args:
        hosts: names by which the server may be asked, beside those of this machine.
        any_address: whether a number may stand for a name: it does not depend on DNS.
        token: that every request has to bring; empty: none.
        cookie: the name of a cookie that may bring it, for people; empty: programs alone ask.
        open: paths that are answered without it.
    """

    hosts: frozenset[str] = frozenset()
    any_address: bool = False
    token: str = ""
    cookie: str = ""
    open: frozenset[str] = OPEN

    def check(self, method: str, path: str, headers: dict[bytes, list[bytes]]) -> None:
        """Refuse a request of a stranger."""
        host = self._host(headers)
        self._check_origin(host, headers)
        if self.token and path not in self.open and not self._has_cookie(method, headers):
            self._check_token(headers)

    def is_token(self, given: str) -> bool:
        """Whether this is the token; it takes as long to say no to a near one as to any other."""
        return bool(self.token) and hmac.compare_digest(given.encode(), self.token.encode())

    def _has_cookie(self, method: str, headers: dict[bytes, list[bytes]]) -> bool:
        """Whether a browser that was let in asks; what changes anything must name its page."""
        if not self.cookie or (method not in {"GET", "HEAD"} and b"origin" not in headers):
            return False
        sent = b";".join(headers.get(b"cookie", [])).decode("latin-1").split(";")
        pairs = (pair.strip().partition("=") for pair in sent)
        return any(name == self.cookie and self.is_token(value) for name, _, value in pairs)

    def _host(self, headers: dict[bytes, list[bytes]]) -> str:
        given = headers.get(b"host", [])
        host = given[0].decode("latin-1") if len(given) == 1 else ""
        name = _host_name(host)
        is_known = name in LOOPBACK_NAMES or name in self.hosts
        if not is_known and not (self.any_address and is_address(name)):
            raise RefusalError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "the host of this request is not one that the server is called by; start it with "
                "--allow-host NAME for another",
            )
        return host.lower()

    def _check_origin(self, host: str, headers: dict[bytes, list[bytes]]) -> None:
        if b"origin" not in headers and b"sec-fetch-site" not in headers:
            return  # no browser asks for a page
        origins = [value.decode("latin-1").lower() for value in headers.get(b"origin", [])]
        own = {f"http://{host}", f"https://{host}"}
        sites = {value.lower() for value in headers.get(b"sec-fetch-site", [])}
        if not set(origins) <= own or sites & {b"cross-site", b"same-site"}:
            raise RefusalError(
                HTTPStatus.FORBIDDEN, "this request comes from a page of another site"
            )

    def _check_token(self, headers: dict[bytes, list[bytes]]) -> None:
        given = headers.get(b"authorization", [])
        expected = f"Bearer {self.token}".encode()
        if len(given) != 1 or not hmac.compare_digest(given[0], expected):
            raise RefusalError(
                HTTPStatus.UNAUTHORIZED,
                "this server wants its token, in the header 'Authorization: Bearer TOKEN'",
                {"WWW-Authenticate": "Bearer"},
            )


@lru_cache(maxsize=64)
def _host_name(host: str) -> str:
    """The name in `name:port`, in small letters; empty where there is none."""
    if host.startswith("["):
        name, bracket, rest = host[1:].partition("]")
        return name.lower() if bracket and _is_port(rest) else ""
    name, colon, port = host.partition(":")
    return name.lower() if _is_port(colon + port) else ""


def _is_port(text: str) -> bool:
    return not text or (text[0] == ":" and text[1:].isascii() and text[1:].isdigit())


def is_address(name: str) -> bool:
    """Whether a name is a number."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def guarded(app: App, door: Door) -> App:
    """The app behind the door; what is refused never reaches it."""

    async def called(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if scope["type"] != "http":  # there are no other kinds of connection here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        try:
            door.check(scope["method"], scope["path"], headers)
        except RefusalError as refusal:
            await _refuse(refusal, send_safely)
            return
        await app(scope, receive, send_safely)

    return called


async def _refuse(refusal: RefusalError, send: Send) -> None:
    content = json.dumps({"error": str(refusal)}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    written = [
        (name.lower().encode(), value.encode())
        for name, value in {**headers, **refusal.headers}.items()
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": written})
    await send({"type": "http.response.body", "body": content})
