"""Two hosts on one machine: network namespaces with a cable, and two loopback addresses.

Where the system refuses namespaces, the test of that form is skipped, and the other one stands in:
its hosts are the processes of one torchrun each, and all that cuts one off is that they are killed.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.faults.host_run import TIMEOUT
from tests.faults.test_world_size import LISTENS, listeners
from tests.train.engines.test_elastic import listening_at

LIMIT = 600.0  # seconds for what should take a minute
PORT = 29517


class Hosts(ABC):
    """The hosts "a", where processes meet, and "b"; what they say is in files of a folder.

    Args:
        folder: for what they say.
        addresses: of each host.
    """

    lost: str  # what "a" says when "b" is cut off
    port = PORT

    def __init__(self, folder: Path, addresses: dict[str, str]) -> None:
        self.folder, self.addresses = folder, addresses
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def named(self) -> set[str]:
        """The addresses on which something may listen."""
        return set(self.addresses.values())

    @abstractmethod
    def inside(self, host: str) -> list[str]:
        """What begins a command of a host."""

    @abstractmethod
    def interface(self, host: str) -> str:
        """The network interface of a host."""

    @abstractmethod
    def listening(self) -> set[str]:
        """The addresses on which something listens."""

    @abstractmethod
    def cut_off(self) -> None:
        """Nothing reaches the second host, or comes from it."""

    @abstractmethod
    def come_back(self) -> None:
        """The second host is as after a start, with nothing that ran on it."""

    def start(self, host: str, work: Sequence[str], *, restarts: int) -> None:
        """Let torchrun do a work on a host."""
        words = [sys.executable, "-m", "netwright.train.engines.elastic", "--nnodes", "2"]
        words += ["--nproc-per-node", "1", "--max-restarts", str(restarts)]
        words += ["--rdzv-backend", "bound", "--rdzv-id", "hosts"]
        words += ["--rdzv-endpoint", f"{self.addresses['a']}:{self.port}"]
        words += ["--local-addr", self.addresses[host]]
        with self.said(host).open("ab") as file:
            self.running[host] = subprocess.Popen(
                [*self.inside(host), *words, *work],
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
                env={
                    **os.environ,
                    "OMP_NUM_THREADS": "1",
                    "GLOO_SOCKET_IFNAME": self.interface(host),
                },
            )

    def said(self, host: str) -> Path:
        return self.folder / f"said-{host}"

    def processes(self, host: str) -> list[int]:
        """What was started on a host, with all that it started."""
        found = [self.running[host].pid]
        for pid in found:  # grows meanwhile
            found += [int(child) for child in _children(pid)]
        return found

    def end(self, host: str) -> None:
        """Kill torchrun there, and what it started."""
        for pid in self.processes(host):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.running[host].wait()

    def wait(self, host: str) -> int:
        return self.running[host].wait(LIMIT)

    def hear(self, host: str, sentence: str) -> None:
        """Wait until a host has said something; one that ended without it fails."""
        self.wait_until([host], lambda: sentence in self.said(host).read_text())

    def wait_until(self, hosts: Sequence[str], is_so: Callable[[], bool]) -> None:
        """Wait for what hosts do; where one has ended, or it takes too long, that fails."""
        until = time.monotonic() + LIMIT
        is_last = False
        while not is_so():
            assert not is_last, "\n".join(self.said(host).read_text() for host in hosts)
            ended = any(self.running[host].poll() is not None for host in hosts)
            is_last = ended or time.monotonic() > until
            time.sleep(0.05)


class NamespaceHosts(Hosts):
    """Each host has a network of its own; a cable joins them, which can be cut.

    Args:
        folder: for what they say.
        name: of the namespaces, and of the ends of the cable.
    """

    lost = f"rank 1 does not answer for {TIMEOUT:g} s"

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder, {"a": "10.213.77.2", "b": "10.213.77.3"})
        self.name = name

    def inside(self, host: str) -> list[str]:
        return ["ip", "netns", "exec", f"{self.name}{host}"]

    def interface(self, host: str) -> str:
        return f"{self.name}{host}"

    def listening(self) -> set[str]:
        tables = [
            _run(*self.inside(host), "cat", f"/proc/net/{table}")
            for host in self.addresses
            for table in ("tcp", "tcp6")
        ]
        lines = [line.split() for table in tables for line in table.splitlines()[1:]]
        return {_address(line[1]) for line in lines if line[3] == LISTENS}

    def cut_off(self) -> None:
        _run("ip", "-n", f"{self.name}b", "link", "set", f"{self.name}b", "down")

    def come_back(self) -> None:
        self.end("b")
        _run("ip", "-n", f"{self.name}b", "link", "set", f"{self.name}b", "up")


class LoopbackHosts(Hosts):
    """Each host has an address of the one network; to cut a host off, its processes are killed."""

    lost = "rank 1 is gone, in "

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {"a": "127.0.0.2", "b": "127.0.0.3"})
        with socket.create_server((self.addresses["a"], 0)) as free:
            self.port = free.getsockname()[1]

    @property
    def named(self) -> set[str]:
        """With the one that gloo takes of the interface, whichever of its addresses is meant."""
        return {*self.addresses.values(), "127.0.0.1"}

    def inside(self, host: str) -> list[str]:
        return []

    def interface(self, host: str) -> str:
        return "lo"

    def start(self, host: str, work: Sequence[str], *, restarts: int) -> None:
        """The second host could take the address of the first, so that one comes before it."""
        if host == "b" and host not in self.running:
            self.wait_until(["a"], lambda: bool(listening_at(self.port)))
        super().start(host, work, restarts=restarts)

    def listening(self) -> set[str]:
        pids = [pid for host in self.running for pid in self.processes(host)]
        return {_address(shown) for shown in listeners(pids)}

    def cut_off(self) -> None:
        self.end("b")

    def come_back(self) -> None:
        """It has ended."""


@contextmanager
def two_hosts(form: str, folder: Path) -> Iterator[Hosts]:
    """The hosts for a block, "namespaces" or "loopback"; nothing of them is left."""
    with ExitStack() as held:
        hosts = _namespaces(folder, held) if form == "namespaces" else LoopbackHosts(folder)
        try:
            yield hosts
        finally:
            for host in hosts.running:
                hosts.end(host)


def _namespaces(folder: Path, held: ExitStack) -> Hosts:
    """Two namespaces with a cable between them; the test is skipped where they are refused."""
    name = f"nw{os.getpid() % 10**6}"
    ends = [f"{name}{host}" for host in "ab"]
    try:
        for end in ends:
            _run("ip", "netns", "add", end)
            held.callback(_run, "ip", "netns", "del", end)
        cable = ["ip", "link", "add", ends[0], "netns", ends[0], "type", "veth"]
        _run(*cable, "peer", "name", ends[1], "netns", ends[1])
        for number, end in enumerate(ends, start=2):
            _run("ip", "-n", end, "addr", "add", f"10.213.77.{number}/24", "dev", end)
            for link in ("lo", end):
                _run("ip", "-n", end, "link", "set", link, "up")
    except (OSError, subprocess.CalledProcessError) as error:
        told = (getattr(error, "stderr", "") or str(error)).strip()
        pytest.skip(f"network namespaces are refused here ({told}): [loopback] stands in for them")
    return NamespaceHosts(folder, name)


def _run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _children(pid: int) -> list[str]:
    """What all threads of a process have started; none where it is gone."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _address(shown: str) -> str:
    """From the hexadecimal form of /proc/net/tcp to the usual one; of IPv6 it stays as it is."""
    number = shown.partition(":")[0]
    if len(number) != 8:
        return number
    return ".".join(str(int(number[at : at + 2], 16)) for at in (6, 4, 2, 0))
