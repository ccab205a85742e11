"""A body that is there whole, and an answer that leaves whole, without messages for their parts.

ASGI hands a body over in messages and takes an answer in two, whose headers are looked at one by
one. For a row of a table that takes as long as the model. The server puts this beside them, among
the extensions of a request's scope; whoever finds none of it there, or is told no, uses messages.
"""

from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

EXTENSION = "netwright.whole"


class WholeMessages:
    """Those of one request.

    Args:
        cycle: that answers it.
        transport: to which.
    """

    def __init__(self, cycle: "RequestResponseCycle", transport: Any) -> None:
        self._cycle, self._transport = cycle, transport

    def body(self) -> bytes | None:
        """All of the body; None: some of it is still to come, or nobody waits for an answer."""
        cycle = self._cycle
        if cycle.more_body or cycle.waiting_for_100_continue or cycle.disconnected:
            return None
        # A long body stops reading; unless it goes on, a client that hangs up is not noticed.
        cycle.flow.resume_reading()
        body, cycle.body = bytes(cycle.body), bytearray()
        return body

    def send(self, headers: bytes, content: bytes) -> bool:
        """Answer with status 200, where that can be done at once; whether it was.

        Args:
            headers: lines of what stands in the head beside the length of the content.
            content: all of it.
        """
        cycle = self._cycle
        is_usual = cycle.keep_alive and cycle.scope["method"] != "HEAD"
        if cycle.disconnected or cycle.response_started or not is_usual or cycle.flow.write_paused:
            return False
        cycle.response_started = cycle.response_complete = True
        self._transport.write(
            b"HTTP/1.1 200 OK\r\n%scontent-length: %d\r\n%s\r\n%s"
            % (as_lines(cycle.default_headers), len(content), headers, content)
        )
        cycle.message_event.set()
        cycle.on_response()
        return True


def as_lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as they are written."""
    return b"".join(b"%s: %s\r\n" % header for header in headers)


def whole_messages(scope: MutableMapping[str, Any]) -> WholeMessages | None:
    """Those of the request of this scope, where the server knows them."""
    extensions = scope.get("extensions")
    return extensions.get(EXTENSION) if extensions else None
