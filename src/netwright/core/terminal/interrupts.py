"""Ctrl-C and SIGTERM: the first asks to finish the step and save, the second ends at once."""

import signal
import threading
from types import FrameType
from typing import Any

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Interrupt:
    """A block in which signals become a request; earlier handlers are put back at its end.

    In another thread than the main one Python allows no handlers: there the block does nothing.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    @property
    def exit_code(self) -> int:
        """What the process should end with; 0 where nothing came."""
        return 0 if self.signal is None else EXIT_CODES[self.signal]

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():
            for number in EXIT_CODES:
                # None: a host in C (R, Julia) has its own handler, which Python cannot put back.
                if signal.getsignal(number) is not None:
                    self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            raise SystemExit(EXIT_CODES[signal.Signals(number)])
        self.signal = signal.Signals(number)
