"""HTTP for clients that send a head and read their answer in time; others are hung up on.

uvicorn itself waits for both for ever, and a few thousand such clients are all it can hold. Its
parser in C, which takes a tenth of the time of the one in Python, also keeps what has not come to
an end, however long that is: here a head has a bound, and so has what is sent ahead of answers.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from netwright.apps.server.server_config import HEAD_SECONDS

MOST_HEAD = 2**16  # bytes of a head, or of what stands between and behind the parts of a body
MOST_AHEAD = 64  # requests of a connection that wait for the answer to an earlier one


class HastyProtocol(HttpToolsProtocol):
    """A connection."""

    answer_seconds = 30.0  # in which an answer has to be read
    _is_head = True  # what arrives; headers behind a body are nobody's
    _unfinished = 0  # bytes since the last end of a head, or the last part of a body
    _alarm: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set the alarm for the first head."""
        super().connection_made(transport)
        self._set_alarm()

    def data_received(self, data: bytes) -> None:
        """Switch the alarm off when a head is there; set it when another one begins."""
        if not self.transport.get_write_buffer_size():
            self._stop_unread()
        self._unfinished += len(data)
        super().data_received(data)
        if self._unfinished > MOST_HEAD or len(self.pipeline) > MOST_AHEAD:
            self.transport.abort()
        elif self.cycle is not None and not self.cycle.response_complete:
            self._stop_alarm()
        elif self._alarm is None:
            self._set_alarm()

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
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Hand a part of the body over."""
        self._unfinished = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Be ready for another request."""
        self._unfinished = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Leave the connection to uvicorn's own alarm until something arrives.

        That one closes a connection when all is sent, which it never is if nobody reads.
        """
        super().on_response_complete()
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
        super().connection_lost(exc)

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
