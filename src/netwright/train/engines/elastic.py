"""torchrun whose stores listen on one address alone: `python -m netwright.train.engines.elastic`.

It takes torchrun's options. With `--rdzv-backend bound` the processes meet as by c10d, at the
address of `--rdzv-endpoint`, but for two things. torch's own c10d listens on every address of a
machine, and whoever reaches one may write to the store. And it tells where the processes meet once:
a machine that was lost and starts anew waits for it in vain (torch 2.13).

The machine that has the address hosts the meeting; each of the others uses the address from which
it reaches that one. A name that is not known yet, as that of a pod which has just started, is
looked up again for a minute.

Source: https://docs.pytorch.org/docs/stable/elastic/run.html.
"""

import errno
import ipaddress
import socket
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.elastic.rendezvous import (
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    rendezvous_handler_registry,
)
from torch.distributed.elastic.rendezvous.api import RendezvousConnectionError
from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend
from torch.distributed.elastic.rendezvous.dynamic_rendezvous import (
    DynamicRendezvousHandler,
    RendezvousTimeout,
)
from torch.distributed.elastic.rendezvous.utils import parse_rendezvous_endpoint
from torch.distributed.run import main as torchrun

BACKEND = "bound"
PORT = 29400  # torch's own, where an endpoint names none
ANSWER = timedelta(seconds=60)
AGAIN = 1.0  # seconds until a name is looked up again
TIMEOUTS = ("join", "last_call", "close", "heartbeat")
KEEP_ALIVE = ("keep_alive_interval", "keep_alive_max_attempt")
KEYS = (*(f"{name}_timeout" for name in TIMEOUTS), *KEEP_ALIVE)  # of --rdzv-conf
OF_TORCH = {"timeout"}  # torchrun sets it for every backend
NOT_HERE = {errno.EADDRNOTAVAIL, errno.EADDRINUSE}  # another machine's, or another process has it


class BoundBackend(C10dRendezvousBackend):
    """c10d's, under the name that was asked for."""

    @property
    def name(self) -> str:
        """See torch's own."""
        return BACKEND


class BoundRendezvous(DynamicRendezvousHandler):
    """c10d's, whose first machine tells at each start where the processes meet: on one address."""

    def next_rendezvous(self) -> RendezvousInfo:
        """Meet for a start of the group."""
        self._bootstrap_store_info = None
        return super().next_rendezvous()

    def _create_tcp_store_server(self, master_addr: str, master_port: int) -> TCPStore:
        store = hosted_store(master_addr, master_port)
        if store is None:
            raise RendezvousConnectionError(f"{master_addr} is not an address of this machine")
        return store


def main(arguments: Sequence[str] | None = None) -> None:
    """Run torchrun with one more way to meet."""
    rendezvous_handler_registry.register(BACKEND, create_bound_handler)
    torchrun(None if arguments is None else list(arguments))


def create_bound_handler(params: RendezvousParameters) -> RendezvousHandler:
    """How the agents of all machines meet, and where their processes do."""
    for key in params.config.keys() - {*KEYS, *OF_TORCH}:
        raise ValueError(f"--rdzv-conf has the unknown key {key!r}; there are {', '.join(KEYS)}")
    timeouts = {name: params.get_as_int(f"{name}_timeout") for name in TIMEOUTS}
    keep_alive = {name: params.get_as_int(name) for name in KEEP_ALIVE}
    host, port = parse_rendezvous_endpoint(params.endpoint, default_port=PORT)
    store = hosted_store(host, port)
    params.local_addr = params.local_addr or address_towards(host, port)
    if store is None:
        try:
            store = TCPStore(host, port, is_master=False, timeout=ANSWER)
        except (ValueError, RuntimeError) as error:
            raise RendezvousConnectionError(f"{host}:{port} does not answer: {error}") from None
    handler: RendezvousHandler = BoundRendezvous.from_backend(
        params.run_id,
        store,
        BoundBackend(store, params.run_id),
        params.min_nodes,
        params.max_nodes,
        params.local_addr,
        RendezvousTimeout(
            **{
                name: timedelta(seconds=seconds)
                for name, seconds in timeouts.items()
                if seconds is not None
            }
        ),
        **{name: value for name, value in keep_alive.items() if value is not None},
    )
    return handler


def hosted_store(host: str, port: int) -> TCPStore | None:
    """A store that listens there; None where the address is another machine's, or is taken."""
    family, place = find_address(host, port)
    is_meant = host == "localhost" or host.startswith("127.") or ":" in host
    if ipaddress.ip_address(place[0]).is_loopback and not is_meant:
        raise RendezvousConnectionError(
            f"{host} means {place[0]} on this machine, which no other reaches: give its address"
        )
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(place)
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno in NOT_HERE:
            return None
        raise
    host, port = listener.getsockname()[:2]
    return TCPStore(
        host,
        port,
        is_master=True,
        multi_tenant=True,
        timeout=ANSWER,
        wait_for_workers=False,
        master_listen_fd=listener.detach(),
    )


def find_address(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    """The address of a name; that of IPv4 where it has both, for not every machine has IPv6."""
    until = time.monotonic() + ANSWER.total_seconds()
    while True:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            if time.monotonic() > until:
                raise RendezvousConnectionError(
                    f"{host} has had no address for {ANSWER.total_seconds():g} s: {error.strerror}"
                ) from None
            time.sleep(AGAIN)
        else:
            family, *_, place = min(found, key=lambda one: one[0] != socket.AF_INET)
            return family, place


def address_towards(host: str, port: int) -> str:
    """The address of this machine that another one sees; nothing is sent."""
    family, place = find_address(host, port)
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(place)
        return str(probe.getsockname()[0])


if __name__ == "__main__":
    main(sys.argv[1:])
