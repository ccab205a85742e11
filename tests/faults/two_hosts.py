"""Two hosts on one machine: network namespaces with a cable, or two loopback addresses.

Where namespaces are refused, a host that is cut off is one whose processes are stopped: its
connections stay open, and carry nothing.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.faults.test_world_size import LISTENS, listeners

LIMIT = 600.0  # seconds for what should take a minute
PORT = 29517


class Hosts:
    """The hosts "a", where processes meet, and "b"; what they say is in files of a folder.

    Args:
        folder: for what they say.
        name: of the namespaces; empty: there are only addresses.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        net = "10.213.77" if name else "127.0.0"
        self.addresses = {"a": f"{net}.2", "b": f"{net}.3"}

    def start(self, host: str, work: Sequence[str], *, restarts: int) -> None:
        """Let torchrun do a work on a host."""
        words = [sys.executable, "-m", "netwright.train.engines.elastic", "--nnodes", "2"]
        words += ["--nproc-per-node", "1", "--max-restarts", str(restarts)]
        words += ["--rdzv-backend", "bound", "--rdzv-id", "hosts"]
        words += ["--rdzv-endpoint", f"{self.addresses['a']}:{PORT}"]
        words += ["--local-addr", self.addresses[host]]
        inside = ["ip", "netns", "exec", f"{self.name}{host}"] if self.name else []
        cable = f"{self.name}{host}" if self.name else "lo"
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
        """The addresses on which anything listens: in the namespaces, or of the processes."""
        if self.name:
            tables = [
                _run("ip", "netns", "exec", f"{self.name}{host}", "cat", f"/proc/net/{table}")
                for host in self.addresses
                for table in ("tcp", "tcp6")
            ]
            lines = [line.split() for table in tables for line in table.splitlines()[1:]]
            return {_address(line[1]) for line in lines if line[3] == LISTENS}
        return {_address(one) for one in listeners(self._processes())}

    def _processes(self) -> list[int]:
        """Those of all sessions that were started here."""
        leaders = {process.pid for process in self.running.values()}
        there = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]
        return [pid for pid in there if _session(pid) in leaders]

    def cut_off(self) -> None:
        """Nothing reaches the second host, or comes from it."""
        if self.name:
            _run("ip", "-n", f"{self.name}b", "link", "set", f"{self.name}b", "down")
        else:
            for pid in self._processes():
                if _session(pid) == self.running["b"].pid:
                    os.kill(pid, signal.SIGSTOP)

    def come_back(self) -> None:
        """The second host starts anew, with nothing that ran on it."""
        self.end("b")
        if self.name:
            _run("ip", "-n", f"{self.name}b", "link", "set", f"{self.name}b", "up")

    def end(self, host: str) -> None:
        """Kill what torchrun started there; each process has a session's number, not its group."""
        leader = self.running[host].pid
        for pid in self._processes():
            if _session(pid) == leader:
                os.kill(pid, signal.SIGKILL)
        self.running[host].wait()

    def wait(self, host: str) -> int:
        return self.running[host].wait(LIMIT)

    def hear(self, host: str, sentence: str) -> None:
        """Wait until a host has said something."""
        until = time.monotonic() + LIMIT
        while sentence not in self.said(host).read_text():
            assert time.monotonic() < until, self.said(host).read_text()
            time.sleep(0.05)


@contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """The hosts for a block; nothing of them is left."""
    name = f"nw{os.getpid() % 10**6}"
    with ExitStack() as held:
        hosts = Hosts(folder, name if _made_namespaces(name, held) else "")
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


def _session(pid: int) -> int:
    """The session of a process; 0 where it is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _address(shown: str) -> str:
    """From the hexadecimal form of /proc/net/tcp to the usual one; of IPv6 it stays as it is."""
    number = shown.partition(":")[0]
    if len(number) != 8:
        return number
    return ".".join(str(int(number[at : at + 2], 16)) for at in (6, 4, 2, 0))
