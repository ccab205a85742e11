"""Who may ask: hosts, origins and tokens of strangers are refused before anything is read."""

import asyncio
from typing import Any

import pytest

from netwright.apps.server.guard import Door, Message, guarded
from netwright.apps.server.refusal import RefusalError
from tests.repetition import for_each

TOKEN = "a-token-of-some-length"
WIDE = Door(hosts=frozenset({"models.example.org"}), any_address=True, token=TOKEN)


def headers_of(**given: str) -> dict[bytes, list[bytes]]:
    return {name.replace("_", "-").encode(): [value.encode()] for name, value in given.items()}


def status_of(door: Door, headers: dict[bytes, list[bytes]], path: str = "/runs") -> int:
    try:
        door.check("GET", path, headers)
    except RefusalError as refusal:
        return refusal.status
    return 200


@for_each("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000"])
def test_this_machine_is_called_by_its_names(host: str) -> None:
    assert status_of(Door(), headers_of(host=host)) == 200


REBOUND = [
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example:80",
    "localhost:80@evil.example",
    "10.0.0.1",
    "0.0.0.0",
    "[::1",
    "[::1]x",
    "127.0.0.1:8000:1",
    "127.0.0.1:abc",
    "",
]


@for_each("host", REBOUND)
def test_a_name_that_only_leads_here_is_refused(host: str) -> None:
    assert status_of(Door(), headers_of(host=host)) == 421


def test_no_host_and_two_hosts_are_refused() -> None:
    assert status_of(Door(), {}) == 421
    assert status_of(Door(), {b"host": [b"localhost", b"localhost"]}) == 421


def test_beyond_this_machine_numbers_and_given_names_are_hosts() -> None:
    door = Door(hosts=WIDE.hosts, any_address=True)
    for host in ("10.0.0.1:8000", "[fe80::1]", "models.example.org", "Models.Example.org:80"):
        assert status_of(door, headers_of(host=host)) == 200
    assert status_of(door, headers_of(host="evil.example")) == 421


ELSEWHERE = [
    "http://evil.example",
    "null",
    "http://localhost:3000",
    "http://127.0.0.1",
    "http://127.0.0.1:80001",
    "file://",
    "",
]


@for_each("origin", ELSEWHERE)
def test_a_page_of_another_origin_is_refused(origin: str) -> None:
    assert status_of(Door(), headers_of(host="127.0.0.1:8000", origin=origin)) == 403


def test_a_page_of_its_own_is_let_through() -> None:
    own = headers_of(host="127.0.0.1:8000", origin="http://127.0.0.1:8000")
    assert status_of(Door(), own) == 200
    assert status_of(Door(), own | headers_of(sec_fetch_site="same-origin")) == 200
    assert status_of(Door(), own | headers_of(sec_fetch_site="none")) == 200
    for site in ("cross-site", "same-site", "Cross-Site"):
        assert status_of(Door(), own | headers_of(sec_fetch_site=site)) == 403


def test_one_foreign_origin_among_two_is_refused() -> None:
    both = {b"host": [b"localhost"], b"origin": [b"http://localhost", b"http://evil.example"]}
    assert status_of(Door(), both) == 403


WRONG = ["", "Bearer", f"bearer {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN]


@for_each("given", WRONG)
def test_a_wrong_token_is_refused(given: str) -> None:
    with pytest.raises(RefusalError, match="wants its token") as refusal:
        WIDE.check("GET", "/runs", headers_of(host="10.0.0.1", authorization=given))
    assert refusal.value.status == 401
    assert refusal.value.headers == {"WWW-Authenticate": "Bearer"}


def test_the_token_is_asked_for_everywhere_but_where_health_is_told() -> None:
    host = headers_of(host="10.0.0.1")
    right = host | headers_of(authorization=f"Bearer {TOKEN}")
    is_open = [path for path in ("/health", "/ready") if status_of(WIDE, host, path) == 200]
    assert is_open == ["/health", "/ready"]
    for path in ("/", "/runs", "/metrics", "/openapi.json", "/runs/x/predict", "/health/", "//"):
        assert status_of(WIDE, host, path) == 401
        assert status_of(WIDE, right, path) == 200


def called(scope: dict[str, Any]) -> tuple[list[Message], int]:
    """What is sent, and how often the app behind the door was called."""
    sent: list[Message] = []
    calls = 0

    async def app(scope: Message, receive: Any, send: Any) -> None:
        nonlocal calls
        calls += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {}

    async def call() -> None:
        await guarded(app, Door())(scope, receive, send)

    asyncio.run(call())
    return sent, calls


def test_what_is_refused_never_reaches_the_app_and_all_answers_are_inert() -> None:
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}
    for host, times in ((b"localhost", 1), (b"evil.example", 0)):
        sent, calls = called({**scope, "headers": [(b"Host", host)]})
        assert calls == times
        headers = dict(sent[0]["headers"])
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"cache-control"] == b"no-store"
    sent, calls = called({"type": "websocket", "path": "/", "headers": []})
    assert (sent[0]["type"], calls) == ("websocket.close", 0)
