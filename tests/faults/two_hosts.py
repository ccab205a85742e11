"""Two hosts on one machine: network namespaces with a cable; a test is skipped without them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.faults.test_world_size import LISTENS

LIMIT = 600.0  # seconds for what should take a minute
PORT = 29517


class Hosts:
    """The hosts "a", where processes meet, and "b"; what they say is in files of a folder.

    Args:
        folder: for what they say.
        name: of the namespaces.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.addresses = {"a": "10.213.77.2", "b": "10.213.77.3"}

    def start(self, host: str, work: Sequence[str], *, restarts: int) -> None:
        """Let torchrun do a work on a host."""
        words = [sys.executable, "-m", "netwright.train.engines.elastic", "--nnodes", "2"]
        words += ["--nproc-per-node", "1", "--max-restarts", str(restarts)]
        words += ["--rdzv-backend", "bound", "--rdzv-id", "hosts"]
        words += ["--rdzv-endpoint", f"{self.addresses['a']}:{PORT}"]
        words += ["--local-addr", self.addresses[host]]
        cable = f"{self.name}{host}"
        inside = ["ip", "netns", "exec", cable]
        with self.said(host).open("ab") as file:
            self.running[host] = subprocess.Popen(
                [*inside, *words, *work],
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": cable},
            )

    def said(self, host: str) -> Path:
        return self.folder / f"said-{host}"

    def listening(self) -> set[str]:
        """The addresses on which anything listens in the namespaces."""
        tables = [
            _run("ip", "netns", "exec", f"{self.name}{host}", "cat", f"/proc/net/{table}")
            for host in self.addresses
            for table in ("tcp", "tcp6")
        ]
        lines = [line.split() for table in tables for line in table.splitlines()[1:]]
        return {_address(line[1]) for line in lines if line[3] == LISTENS}

    def _processes(self, host: str) -> list[int]:
        """What was started on a host, with all that it started."""
        found = [self.running[host].pid]
        for pid in found:  # grows meanwhile
            found += [int(child) for child in _children(pid)]
        return found

    def cut_off(self) -> None:
        """Nothing reaches the second host, or comes from it."""
        _run("ip", "-n", f"{self.name}b", "link", "set", f"{self.name}b", "down")

    def come_back(self) -> None:
        """The second host starts anew, with nothing that ran on it."""
        self.end("b")
        _run("ip", "-n", f"{self.name}b", "link", "set", f"{self.name}b", "up")

    def end(self, host: str) -> None:
        """Kill torchrun there, and what it started."""
        for pid in self._processes(host):
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


@contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """The hosts for a block; nothing of them is left."""
    name = f"nw{os.getpid() % 10**6}"
    with ExitStack() as held:
        if not _made_namespaces(name, held):
            pytest.skip("network namespaces are refused on this machine")
        hosts = Hosts(folder, name)
        try:
            yield hosts
        finally:
            for host in hosts.running:
                hosts.end(host)


def _made_namespaces(name: str, held: ExitStack) -> bool:
    """Two namespaces with a cable between them; False where the system refuses them."""
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
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


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
