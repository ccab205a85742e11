"""HTTP for clients that send a head and read their answer in time; others are hung up on.

uvicorn itself waits for both for ever, and a few thousand such clients are all it can hold. Its
parser in C, which takes a tenth of the time of the one in Python, also keeps what has not come to
an end, however long that is: here a head has a bound, and so has what is sent ahead of answers.
Of a request that offers another protocol, as clients of HTTP/2 do, it drops the body: there is no
other protocol here, and such a request is read again without its offer. What is refused ends the
connection, but not before the requests that came before it are answered.
"""

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from netwright.apps.server.server_config import HEAD_SECONDS
from netwright.apps.server.whole_messages import EXTENSION, WholeMessages

MOST_HEAD = 2**16  # bytes of a head, or of what stands between and behind the parts of a body
MOST_AHEAD = 64  # requests of a connection that wait for the answer to an earlier one
BAD = "Invalid HTTP request received."


async def refuse(scope: Any, receive: Any, send: Any) -> None:
    """Say that a request is none, and hang up."""
    headers = [(b"content-length", b"%d" % len(BAD)), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": BAD.encode()})


class HeadFirst:
    """What an answer is written to: its head waits for its first part, and both leave together.

    The head of an answer whose length is not known, as a text that is generated, leaves at once.

    Args:
        cycle: that answers.
    """

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle, self._transport = cycle, cycle.transport
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """Take a head, or the next part."""
        if self._head is None and self._is_of_known_length():
            self._head = data
            return
        if self._head:
            data, self._head = self._head + data, b""
        self._transport.write(data)

    def _is_of_known_length(self) -> bool:
        cycle = self._cycle
        is_whole = cycle.response_started and cycle.chunked_encoding is False
        return is_whole and cycle.scope["method"] != "HEAD"  # nothing follows the head of that

    def close(self) -> None:
        """Close the connection when all is sent."""
        if self._head:  # the app failed behind it
            self.write(b"")
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether nothing more can be sent."""
        return self._transport.is_closing()


class HastyProtocol(HttpToolsProtocol):
    """A connection."""

    answer_seconds = 30.0  # in which an answer has to be read
    _is_head = True  # what arrives; headers behind a body are nobody's
    _is_offer = False  # of another protocol
    _is_over = False  # nothing more is read
    _unfinished = 0  # bytes since the last end of a head, or the last part of a body
    _alarm: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _idle_since: float | None = None  # when the last answer left; None: there is something to do
    _idling: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set the alarm for the first head."""
        super().connection_made(transport)
        self._set_alarm()

    def data_received(self, data: bytes) -> None:
        """Switch the alarm off when a head is there; set it when another one begins."""
        if not self.transport.get_write_buffer_size():
            self._stop_unread()
        self._idle_since = None
        if not self._is_over:
            self._read(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_alarm()
        elif self._alarm is None:
            self._set_alarm()

    def _read(self, data: bytes) -> None:
        self._unfinished += len(data)
        try:
            self._feed(data)
            is_bad = self._unfinished > MOST_HEAD
        except httptools.HttpParserError:
            is_bad = True
        if is_bad:
            self._is_over = True
            self._end()

    def _feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self._is_offer:  # else it is a CONNECT, which is nothing here
                head = self._without_offer()
                # This one reads nothing more if the request is the last of its connection.
                self.parser = httptools.HttpRequestParser(self)
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                self._feed(head + data[upgrade.args[0] :])

    def _end(self) -> None:
        """Refuse what was read last, and hang up after the answers to what came before."""
        last = self.cycle
        if last is None or last.response_complete:
            self.send_400_response(BAD)
        elif not last.more_body:  # what is bad stands behind it
            last.keep_alive = False
        elif self.pipeline:  # it waits for its turn
            self.pipeline[0] = (last, refuse)
        elif last.response_started:
            self.transport.close()
        else:
            self.send_400_response(BAD)
        self.flow.resume_reading()  # what is never read may cost the client the answers

    def _without_offer(self) -> bytes:
        """The head that was read last, as one that offers no other protocol."""
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._is_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header of the head: who is let in is asked before a body is there."""
        if self._is_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Leave the head."""
        self._is_head, self._unfinished = False, 0
        self._is_offer = self.parser.should_upgrade() and any(
            name == b"upgrade" for name, _ in self.headers
        )
        if len(self.pipeline) == MOST_AHEAD:
            raise httptools.HttpParserError
        if not self._is_offer:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Hand a part of the body over."""
        self._unfinished = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Be ready for another request."""
        self._unfinished = 0
        if not self._is_offer:
            super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        scope: dict[str, Any] = cycle.scope  # type: ignore[assignment]
        scope["extensions"] = {EXTENSION: WholeMessages(cycle, cycle.transport)}
        cycle.transport = HeadFirst(cycle)  # type: ignore[assignment]
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Go on to the request that waits, or let the connection idle for a while.

        A connection is closed when all is sent, which never happens if nobody reads.
        """
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
            else:
                self._begin_to_idle()
        self._stop_alarm()
        if self.transport.get_write_buffer_size():
            self._await_reader()

    def pause_writing(self) -> None:
        """Wait for the reader of an answer that is longer than what is held for him."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """He has read most of it; what is left of a whole answer he has to read, too."""
        self._stop_unread()
        if self.cycle.response_complete and self.transport.get_write_buffer_size():
            self._await_reader()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave nothing behind."""
        self._stop_alarm()
        self._stop_unread()
        if self._idling is not None:
            self._idling.cancel()
        super().connection_lost(exc)

    def _begin_to_idle(self) -> None:
        """One timer for all idling: to set one behind each answer takes as long as to write it."""
        self._idle_since = self.loop.time()
        if self._idling is None:
            self._idling = self.loop.call_later(self.timeout_keep_alive, self._look_at_idle)

    def _look_at_idle(self) -> None:
        self._idling = None
        if self._idle_since is None:
            return
        end = self._idle_since + self.timeout_keep_alive
        if end > self.loop.time():
            self._idling = self.loop.call_at(end, self._look_at_idle)
        else:
            self.timeout_keep_alive_handler()

    def _set_alarm(self) -> None:
        self._alarm = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _await_reader(self) -> None:
        self._stop_unread()
        self._unread = self.loop.call_later(self.answer_seconds, self._hang_up_on_unread)

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _hang_up_on_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
