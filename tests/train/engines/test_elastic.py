"""Where torchrun's stores listen, and which machine hosts them; `test_host_cut.py` has a run."""

import socket
from datetime import timedelta
from pathlib import Path

import pytest
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.elastic.rendezvous.api import RendezvousConnectionError

from netwright.train.engines.elastic import BoundRendezvous, address_towards, hosted_store


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


def test_a_name_that_means_this_machine_to_itself_alone_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.1.1", 1))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
    with pytest.raises(RendezvousConnectionError, match=r"head means 127\.0\.1\.1 on this machine"):
        hosted_store("head", 1)
