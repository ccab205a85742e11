"""What a person sees who opens an address that is refused: a page, where a program gets JSON.

Source: W3C, "Fetch Metadata Request Headers" (2025), Sec-Fetch-Mode: a browser names a navigation.
"""

import json
from http import HTTPStatus

from netwright.apps.server.guard import App, Message, Receive, Send
from netwright.apps.studio.pages import POLICY, studio_page
from netwright.inspection.drawing.page import Page, text

STRANGERS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST)
TITLES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "You are not let in yet",
    HTTPStatus.NOT_FOUND: "This is not here",
}
# Where a program is told of headers.
TOLD: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "This is not the token of the studio, or there is none: open the "
    "address that the terminal shows in which it was started."
}
FOR_PROGRAMS = "; GET /"  # what a program is told beside the sentence


def error_page(status: int, sentence: str) -> str:
    """The page that says why; who is no stranger finds the other pages on it."""
    told = TOLD.get(status, sentence.partition(FOR_PROGRAMS)[0])
    title = TITLES.get(status, "This cannot be shown")
    page = Page(title) if status in STRANGERS else studio_page(title, "")
    page.section("Why", text(told))
    return page.render()


def with_error_pages(app: App) -> App:
    """The app, whose refusals are pages where a person opens an address."""

    async def called(scope: Message, receive: Receive, send: Send) -> None:
        if not _is_opened_by_a_person(scope):
            await app(scope, receive, send)
            return
        await app(scope, receive, _Rewriter(send))

    return called


def _is_opened_by_a_person(scope: Message) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    headers = {name.lower(): value for name, value in scope["headers"]}
    if b"sec-fetch-mode" in headers:
        return bool(headers[b"sec-fetch-mode"] == b"navigate")
    return b"text/html" in headers.get(b"accept", b"")


class _Rewriter:
    """Sends on what it gets, but for refusals, of which it waits for the sentence."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.start: Message | None = None  # of a refusal
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_refusal(message):
            self.start = message
        elif self.start is None:
            await self.send(message)
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish(self.start)

    async def _finish(self, start: Message) -> None:
        page = error_page(start["status"], str(json.loads(self.body)["error"])).encode()
        written = {
            b"content-type": b"text/html; charset=utf-8",
            b"content-length": str(len(page)).encode(),
            b"x-frame-options": b"DENY",
        }
        if start["status"] not in STRANGERS:  # theirs has its policy inside
            written[b"content-security-policy"] = POLICY.encode()
        kept = [(name, value) for name, value in start["headers"] if name.lower() not in written]
        await self.send({**start, "headers": [*kept, *written.items()]})
        await self.send({"type": "http.response.body", "body": page})


def _is_refusal(start: Message) -> bool:
    headers = {name.lower(): value for name, value in start.get("headers", [])}
    return start["status"] >= 400 and headers.get(b"content-type") == b"application/json"
