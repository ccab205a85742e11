"""Room for decoding: small images together, large ones one after the other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from netwright.core.errors import DataError
from netwright.data.images.decoding_room import DecodingRoom


@pytest.fixture(autouse=True)
def room_of_a_hundred_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_DECODING_GB", "1e-7")


def test_all_together_never_hold_more_than_the_room() -> None:
    room, lock = DecodingRoom(), threading.Lock()
    held = most = 0

    def work(size: int) -> None:
        nonlocal held, most
        with room.hold(size):
            with lock:
                held += size
                most = max(most, held)
            with lock:
                held -= size

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [60, 30, 50, 100, 10, 70] * 50))
    assert held == 0
    assert 100 >= most >= 60


def test_what_never_has_room_is_refused_and_holds_nothing() -> None:
    room = DecodingRoom()
    with pytest.raises(DataError, match=r"it takes 1\.01e-07 GB, at most 1e-07 GB are allowed"):
        with room.hold(101):
            pass
    with room.hold(100):
        pass


def test_room_is_given_back_after_an_error() -> None:
    room = DecodingRoom()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), room.hold(100):
            raise ZeroDivisionError


def test_a_byte_too_many_waits_until_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_DECODING_GB", "1")
    room, entered = DecodingRoom(), threading.Event()

    def work() -> None:
        with room.hold(400_000_001):
            entered.set()

    late = threading.Thread(target=work)
    with room.hold(600_000_000):
        with room.hold(400_000_000):
            pass
        late.start()
        assert not entered.wait(0.1)
    late.join()
    assert entered.is_set()
