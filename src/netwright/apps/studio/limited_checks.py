"""Claims that are checked one at a time, in a process that can be killed.

The process is kept for the next check, since it takes seconds to start: one that runs over its
limits, or whose asker leaves, is replaced.
"""

import asyncio
import json
import signal
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast

from netwright.apps.server.refusal import RefusalError, try_later
from netwright.core.errors import ConfigError

MOST_WAITING = 4
SECONDS = 120
MOST_BYTES = 4 * 2**30
ANSWER_BYTES = 2**26
WORKER = "netwright.apps.studio.check_worker"


class LimitedChecks:
    """The process, and those who wait for it.

    Args:
        seconds: that one check may take.
        most_bytes: that its process may write to.
    """

    def __init__(self, seconds: int = SECONDS, most_bytes: int = MOST_BYTES) -> None:
        self.seconds, self.most_bytes = seconds, most_bytes
        self._process: Process | None = None
        self._waiting, self._turn = 0, asyncio.Lock()

    async def check(self, asked: Mapping[str, Any]) -> Any:
        """The verdict, as `check_asked` gives it; whoever cancels this ends the experiment."""
        if self._waiting >= MOST_WAITING:
            raise try_later(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{MOST_WAITING} experiments are waiting for each other: try again later",
            )
        self._waiting += 1
        try:
            async with self._turn:
                reply = await self._answer(json.dumps(asked).encode() + b"\n")
        finally:
            self._waiting -= 1
        if "refused" in reply:
            raise ConfigError(reply["refused"])
        return reply["verdict"]

    async def _answer(self, line: bytes) -> Any:
        process = await self._started()
        sending, reading = cast(StreamWriter, process.stdin), cast(StreamReader, process.stdout)
        try:
            with suppress(ConnectionError):  # it has ended, which its answer says
                sending.write(line)
                await sending.drain()
            answer = await reading.readline()
        except BaseException:
            await self.close()
            raise
        if not answer.endswith(b"\n"):
            raise await self._ended(process)
        return json.loads(answer)

    async def _ended(self, process: Process) -> RefusalError:
        """Why it ended without an answer."""
        code = await process.wait()
        self._process = None
        if code == -getattr(signal, "SIGALRM", 0):
            why = f"this experiment takes longer than {self.seconds} s"
        else:
            why = "this experiment's process ended without an answer"
        return RefusalError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"{why}: choose smaller settings, or run it with `netwright theory`",
        )

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            limits = f"{self.seconds}, {self.most_bytes}"
            code = f"from {WORKER} import answer_checks; answer_checks({limits})"
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", code),
                stdin=PIPE,
                stdout=PIPE,
                limit=ANSWER_BYTES,
                start_new_session=True,  # Ctrl-C in the studio's terminal is not for it
            )
        return self._process

    async def close(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
