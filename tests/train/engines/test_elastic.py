"""Where torchrun's stores listen, and which machine hosts them; `test_host_cut.py` has a run."""

import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.elastic.rendezvous import RendezvousParameters
from torch.distributed.elastic.rendezvous.api import RendezvousConnectionError

from netwright.train.engines import elastic
from netwright.train.engines.elastic import (
    BACKEND,
    BoundRendezvous,
    address_towards,
    create_bound_handler,
    hosted_store,
)


def listening_at(port: int) -> set[str]:
    """The addresses, in hexadecimal, on which something listens at a port."""
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]
    places = [line[1].split(":") for line in lines if line[3] == "0A"]
    return {address for address, number in places if int(number, 16) == port}


def test_a_store_listens_on_its_address_alone_and_answers_there() -> None:
    store = hosted_store("127.0.0.1", 0)
    assert store is not None
    assert listening_at(store.port) == {"0100007F"}
    other = TCPStore("127.0.0.1", store.port, is_master=False, timeout=timedelta(seconds=60))
    other.set("key", "value")
    assert store.get("key") == b"value"


def test_an_address_of_another_machine_or_one_that_is_taken_is_not_hosted() -> None:
    assert hosted_store("192.0.2.1", 0) is None
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert hosted_store("127.0.0.1", taken.getsockname()[1]) is None
    with pytest.raises(RendezvousConnectionError, match="is not an address of this machine"):
        BoundRendezvous._create_tcp_store_server(None, "192.0.2.1", 0)  # type: ignore[arg-type]


def test_a_machine_is_reached_where_it_looks_from() -> None:
    assert address_towards("127.0.0.1", 9) == "127.0.0.1"


def test_a_store_listens_on_an_address_of_ipv6_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    store = hosted_store("::1", 0)
    assert store is not None
    assert listening_at(store.port) == {"00000000000000000000000001000000"}
    assert address_towards("::1", store.port) == "::1"
    other = TCPStore("::1", store.port, is_master=False, timeout=timedelta(seconds=60))
    other.set("key", "value")
    assert store.get("key") == b"value"


def test_a_name_that_is_not_known_yet_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = iter(range(3))
    found = socket.getaddrinfo

    def late(host: str, *given: Any, **named: Any) -> Any:
        if host == "pod-0" and next(unknown, None) is not None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return found("127.0.0.1" if host == "pod-0" else host, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", late)
    monkeypatch.setattr(elastic, "AGAIN", 0.0)
    assert address_towards("pod-0", 9) == "127.0.0.1"
    assert next(unknown, None) is None


def test_a_name_that_stays_unknown_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*given: Any, **named: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setattr(elastic, "AGAIN", 0.0)
    monkeypatch.setattr(elastic, "ANSWER", timedelta(seconds=0.01))
    with pytest.raises(RendezvousConnectionError, match=r"^pod-0 has had no address for 0\.01 s: "):
        hosted_store("pod-0", 1)


def bound(**conf: str) -> RendezvousParameters:
    return RendezvousParameters(BACKEND, "127.0.0.1:0", "id", 1, 2, None, timeout=900, **conf)


def test_what_rdzv_conf_says_is_heeded() -> None:
    handler = create_bound_handler(
        bound(join_timeout="7", last_call_timeout="8", close_timeout="9", keep_alive_interval="4")
    )
    assert isinstance(handler, BoundRendezvous)
    settings = handler.settings
    seconds = (settings.timeout.join, settings.timeout.last_call, settings.timeout.close)
    assert [one.total_seconds() for one in seconds] == [7, 8, 9]
    assert settings.keep_alive_interval == timedelta(seconds=4)
    assert settings.keep_alive_max_attempt == 3


def test_a_key_of_rdzv_conf_that_means_nothing_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"has the unknown key 'last_cal_timeout'; there are join_"
    ):
        create_bound_handler(bound(last_cal_timeout="8"))


def test_a_name_that_means_this_machine_to_itself_alone_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.1.1", 1))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(RendezvousConnectionError, match=r"head means 127\.0\.1\.1 on this machine"):
        hosted_store("head", 1)
