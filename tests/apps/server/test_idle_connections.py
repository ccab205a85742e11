"""How long a connection may idle between an answer and the next request."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("httptools")

from tests.apps.server.test_hasty_protocol import REQUEST, Unread, connected


@pytest.mark.parametrize("begun", [b"", b"GET / HT"])
def test_a_connection_that_idles_is_closed_and_no_other(begun: bytes) -> None:
    async def idle() -> bool:
        transport = Unread(held=0)
        protocol = connected(transport)
        protocol.timeout_keep_alive = 0.02
        protocol.data_received(REQUEST)
        await asyncio.gather(*protocol.tasks)
        if begun:
            protocol.data_received(begun)
        while protocol._idling is not None:
            await asyncio.sleep(0.01)
        was_closed = transport.is_closed
        protocol.connection_lost(None)
        return was_closed

    assert asyncio.run(idle()) is not bool(begun)


def test_idling_is_counted_from_the_last_answer_by_one_timer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def ask() -> tuple[float, float, int]:
        loop, timers = asyncio.get_running_loop(), 0
        call_at, now = loop.call_at, loop.time()

        def counted(*given: Any, **named: Any) -> asyncio.TimerHandle:
            nonlocal timers
            timers += 1
            return call_at(*given, **named)

        protocol = connected(Unread(held=0))
        monkeypatch.setattr(loop, "call_at", counted)
        for seconds in range(10):
            monkeypatch.setattr(loop, "time", lambda at=now + seconds: at)
            protocol.data_received(REQUEST)
            await asyncio.gather(*protocol.tasks)
        first = protocol._idling.when() - now
        protocol._look_at_idle()
        again, set_before = protocol._idling.when() - now, timers
        protocol.connection_lost(None)
        return first, again, set_before

    assert asyncio.run(ask()) == pytest.approx((15, 24, 2))
