"""torchrun whose stores listen on one address alone: `python -m netwright.train.engines.elastic`.

It takes torchrun's options. With `--rdzv-backend bound` the processes meet as by c10d, at the
address of `--rdzv-endpoint`, but for two things. torch's own c10d listens on every address of a
machine, and whoever reaches one may write to the store. And it tells where the processes meet once:
a machine that was lost and starts anew waits for it in vain (torch 2.13).

The machine that has the address hosts the meeting; each of the others uses the address from which
it reaches that one.

Source: https://docs.pytorch.org/docs/stable/elastic/run.html.
"""

import errno
import socket
import sys
from collections.abc import Sequence
from datetime import timedelta

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
        RendezvousTimeout(join=timedelta(seconds=params.get_as_int("join_timeout", 600) or 600)),
        keep_alive_interval=params.get_as_int("keep_alive_interval", 5) or 5,
    )
    return handler


def hosted_store(host: str, port: int) -> TCPStore | None:
    """A store that listens there; None where the address is another machine's, or is taken."""
    *_, place = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0]
    if str(place[0]).startswith("127.") and host != "localhost" and not host.startswith("127."):
        raise RendezvousConnectionError(
            f"{host} means {place[0]} on this machine, which no other reaches: give its address"
        )
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(place)
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno in NOT_HERE:
            return None
        raise
    host, port = listener.getsockname()
    return TCPStore(
        host,
        port,
        is_master=True,
        multi_tenant=True,
        timeout=ANSWER,
        wait_for_workers=False,
        master_listen_fd=listener.detach(),
    )


def address_towards(host: str, port: int) -> str:
    """The address of this machine that another one sees; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, port))
        return str(probe.getsockname()[0])


if __name__ == "__main__":
    main(sys.argv[1:])
