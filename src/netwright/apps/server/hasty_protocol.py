"""HTTP for clients that send a head and read their answer in time; others are hung up on.

uvicorn itself waits for both for ever, and a few thousand such clients are all it can hold.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from netwright.apps.server.server_config import HEAD_SECONDS


class HastyProtocol(H11Protocol):
    """A connection."""

    answer_seconds = 30.0  # in which an answer has to be read
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
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_alarm()
        elif self._alarm is None:
            self._set_alarm()

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
