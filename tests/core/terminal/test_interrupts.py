"""Interrupts: the first signal is a request, the second ends, and handlers are put back."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from netwright.core.terminal.interrupts import EXIT_CODES, Interrupt
from tests.repetition import for_each


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Whatever happens in a test, pytest's own handlers are there after it."""
    before = {number: signal.getsignal(number) for number in EXIT_CODES}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


def test_nothing_came_nothing_is_asked() -> None:
    with Interrupt() as interrupt:
        pass
    assert interrupt.signal is None
    assert interrupt.exit_code == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_first_signal_is_a_request(number: signal.Signals, code: int) -> None:
    with Interrupt() as interrupt:
        send(number)
        assert interrupt.signal is number
    assert interrupt.exit_code == code


@for_each(
    ("first", "second", "code"),
    [
        (signal.SIGINT, signal.SIGINT, 130),
        (signal.SIGTERM, signal.SIGTERM, 143),
        (signal.SIGINT, signal.SIGTERM, 143),
        (signal.SIGTERM, signal.SIGINT, 130),
    ],
)
def test_second_signal_ends_at_once(
    first: signal.Signals, second: signal.Signals, code: int
) -> None:
    with pytest.raises(SystemExit) as ended, Interrupt():
        send(first)
        send(second)
    assert ended.value.code == code


def test_earlier_handlers_are_put_back() -> None:
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with Interrupt():
        send(signal.SIGINT)
        assert seen == []
    send(signal.SIGINT)
    assert seen == [signal.SIGINT]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_earlier_handlers_are_put_back_after_an_error() -> None:
    before = {number: signal.getsignal(number) for number in EXIT_CODES}
    with pytest.raises(ZeroDivisionError), Interrupt():
        raise ZeroDivisionError
    assert {number: signal.getsignal(number) for number in EXIT_CODES} == before


def test_inner_block_hears_the_signal_and_the_outer_hears_the_next() -> None:
    with Interrupt() as outer:
        with Interrupt() as inner:
            send(signal.SIGINT)
        assert inner.signal is signal.SIGINT
        assert outer.signal is None
        send(signal.SIGTERM)
    assert outer.exit_code == 143


def test_in_another_thread_the_block_does_nothing() -> None:
    before = {number: signal.getsignal(number) for number in EXIT_CODES}
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with Interrupt() as interrupt:
                assert interrupt.exit_code == 0
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []
    assert {number: signal.getsignal(number) for number in EXIT_CODES} == before


def test_a_handler_that_python_cannot_put_back_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host program in C has its own; Python shows it as None and cannot set it again."""
    installed: list[int] = []
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    monkeypatch.setattr(signal, "signal", lambda number, handler: installed.append(number))
    with Interrupt():
        pass
    assert installed == []
