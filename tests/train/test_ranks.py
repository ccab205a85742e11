"""Ranks: sums and words reach every process, and a lost one is named by all the others.

Each test lets a function of this file run in processes of their own.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import HashStore  # type: ignore[attr-defined]

from netwright.core.errors import ConfigError, PeerError
from netwright.train import ranks as ranks_file
from netwright.train.ranks import ALONE, LOOPBACK, Ranks, joined
from tests.forked_ranks import start_ranks
from tests.repetition import slow_but

TIMEOUT = 2.0  # where one rank is lost: the others wait so long for it
PATIENT = 600.0  # where none is lost, or one ends: only a machine with much to do lets them wait
Work = Callable[..., Any]


def note_down(folder: Path, work: Work, given: tuple[Any, ...]) -> None:
    """Do the work, write down what came of it."""
    began = time.monotonic()
    try:
        done = {"gives": work(*given)}
    except (PeerError, ValueError) as error:
        done = {"error": type(error).__name__, "says": str(error)}
    done["seconds"] = time.monotonic() - began
    (folder / os.environ["RANK"]).write_text(json.dumps(done))


def run_ranks(
    folder: Path, world: int, work: Work, *given: Any, lost: int | None = None
) -> list[dict[str, Any]]:
    """What came of the work on every rank that is not lost on purpose."""
    processes = start_ranks(folder, world, note_down, folder, work, given)
    others = [rank for rank in range(world) if rank != lost]
    try:
        for rank in others:
            processes[rank].join(PATIENT)
            assert processes[rank].exitcode == 0, (folder / f"errors-{rank}").read_text()
    finally:
        for process in processes:
            process.kill()
            process.join()
    return [json.loads((folder / str(rank)).read_text()) for rank in others]


def gives(done: list[dict[str, Any]]) -> list[Any]:
    return [one["gives"] for one in done]


def exchange() -> dict[str, Any]:
    with joined(PATIENT) as ranks:
        first = [torch.full((2,), float(ranks.rank)), torch.tensor(ranks.rank)]
        ranks.follow_first(first)
        ranks.leave(f"note/of/{ranks.rank}", f"from {ranks.rank}")
        ranks.any(False)
        before = f"note/of/{(ranks.rank - 1) % ranks.world}"
        return {
            "notes": [ranks.take(before), ranks.take(before), ranks.take("note/of/nobody")],
            "place": [ranks.rank, ranks.world, ranks.is_first, ranks.is_alone],
            "sum": ranks.sum(torch.tensor([1.0, ranks.rank])).tolist(),
            "any": [ranks.any(ranks.rank == 1), ranks.any(False), ranks.any(True)],
            "gather": [part.hex() for part in ranks.gather(bytes([255]) * ranks.rank)],
            "empty": len(b"".join(ranks.gather(b""))),
            "tell": [ranks.tell("grüß dich" if ranks.is_first else "?"), ranks.tell("")],
            "first": [tensor.tolist() for tensor in first],
        }


@pytest.mark.parametrize("world", slow_but([3], [2, 3]))
def test_what_the_ranks_give_reaches_all_of_them(world: int, tmp_path: Path) -> None:
    for rank, given in enumerate(gives(run_ranks(tmp_path, world, exchange))):
        assert given == {
            "notes": [f"from {(rank - 1) % world}", None, None],
            "place": [rank, world, rank == 0, False],
            "sum": [world, sum(range(world))],
            "any": [True, False, True],
            "gather": ["ff" * peer for peer in range(world)],
            "empty": 0,
            "tell": ["grüß dich", ""],
            "first": [[0.0, 0.0], 0],
        }


def test_alone_everything_is_itself_and_no_group_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    model = nn.Linear(2, 1)
    model(torch.ones(3, 2)).sum().backward()
    with joined(1) as ranks:
        assert not dist.is_initialized()
        tensor = torch.ones(2)
        assert ranks.sum(tensor) is tensor
        assert (ranks.any(True), ranks.any(False)) == (True, False)
        assert ranks.gather(b"abc") == [b"abc"]
        assert ranks.tell("word") == "word"
        ranks.any(False)
        ranks.follow_first(model.buffers())
        ranks.sum_gradients(model)
    assert model.weight.grad is not None
    assert model.weight.grad.tolist() == [[3.0, 3.0]]
    assert ranks == ALONE == Ranks()
    assert ranks.is_alone and ranks.is_first


class Branches(nn.Module):
    """Parameters out of the order of their use; a part for one rank, and one for none."""

    def __init__(self) -> None:
        super().__init__()
        self.last, self.first = nn.Linear(50, 3), nn.Linear(4, 50)
        self.only_here, self.nowhere = nn.Linear(3, 3), nn.Linear(1, 1)
        self.frozen = nn.Linear(1, 1).requires_grad_(False)

    def add_gradients(self, part: torch.Tensor, rank: int) -> None:
        output = self.last(torch.tanh(self.first(part)))
        loss = (self.only_here(output) if rank == 1 else output).square().sum()
        loss.backward()


def branches(world: int) -> tuple[Branches, tuple[torch.Tensor, ...]]:
    torch.manual_seed(0)
    return Branches(), torch.randn(12, 4).chunk(world)


def summed() -> list[dict[str, Any]]:
    """The gradients of two equal updates."""
    updates = []
    with joined(PATIENT) as ranks:
        model, parts = branches(ranks.world)
        for _ in range(2):
            model.add_gradients(parts[ranks.rank], ranks.rank)
            ranks.sum_gradients(model)
            names = model.named_parameters()
            updates.append({n: None if w.grad is None else w.grad.tolist() for n, w in names})
            model.zero_grad()
    return updates


@pytest.mark.parametrize("world", slow_but([3], [2, 3]))
def test_gradients_are_those_of_the_whole_batch_and_never_round_otherwise(
    world: int, tmp_path: Path
) -> None:
    model, parts = branches(world)
    for rank, part in enumerate(parts):
        model.add_gradients(part, rank)
    wanted = {n: w.grad for n, w in model.named_parameters() if w.grad is not None}
    done = gives(run_ranks(tmp_path, world, summed))
    assert all(updates == done[0] for updates in done)
    first, second = done[0]
    assert first == second
    assert {name for name, grad in first.items() if grad is not None} == set(wanted)
    for name, grad in wanted.items():
        torch.testing.assert_close(torch.tensor(first[name]), grad)


def lose(mode: str, victim: int, where: str) -> None:
    """Work together three times; then one rank is lost, and the others go on."""
    with joined(TIMEOUT if mode == "stops" else PATIENT) as ranks:
        model = nn.Linear(4, 4)
        works: dict[str, Callable[[], object]] = {
            "the sum of the gradients": lambda: ranks.sum_gradients(model),
            "an agreement": lambda: ranks.any(False),
            "a gathering": lambda: ranks.gather(b"x" * ranks.rank),
            "a word of rank 0": lambda: ranks.tell("x"),
        }
        for number in range(6):
            if number == 3 and ranks.rank == victim:
                if mode == "raises":
                    raise ValueError("my own fault")
                os.kill(os.getpid(), signal.SIGKILL if mode == "dies" else signal.SIGSTOP)
            works[where]()


def loop(victim: int, where: str) -> None:
    with joined(TIMEOUT) as ranks:
        ranks.any(False)
        while ranks.rank == victim:
            pass
        ranks.any(False, where)


@pytest.mark.parametrize(
    ("world", "victim", "where"),
    [
        (2, 1, "the sum of the gradients"),
        pytest.param(3, 0, "a word of rank 0", marks=pytest.mark.slow),
        pytest.param(3, 2, "a gathering", marks=pytest.mark.slow),
    ],
)
def test_a_rank_that_dies_is_named_at_once(
    world: int, victim: int, where: str, tmp_path: Path
) -> None:
    for one in run_ranks(tmp_path, world, lose, "dies", victim, where, lost=victim):
        assert one["says"] == f"rank {victim} is gone, in {where}"
        assert one["error"] == "PeerError"
        assert one["seconds"] < PATIENT


@pytest.mark.slow  # a rank of a run is stopped in `tests/faults`
@pytest.mark.parametrize(
    ("world", "victim", "where"),
    [(2, 1, "the sum of the gradients"), (2, 0, "an agreement"), (3, 2, "an agreement")],
)
def test_a_rank_that_is_stopped_is_named_after_the_timeout(
    world: int, victim: int, where: str, tmp_path: Path
) -> None:
    for one in run_ranks(tmp_path, world, lose, "stops", victim, where, lost=victim):
        assert one["says"] == f"rank {victim} does not answer for 2 s, in {where}"
        assert one["seconds"] >= TIMEOUT


def test_a_rank_in_an_endless_loop_is_named_after_the_timeout(tmp_path: Path) -> None:
    for one in run_ranks(tmp_path, 3, loop, 0, "the last step", lost=0):
        assert one["says"] == "rank 0 does not answer for 2 s, in the last step"


def test_a_rank_keeps_its_own_error_and_the_others_say_that_it_is_gone(tmp_path: Path) -> None:
    other, own = run_ranks(tmp_path, 2, lose, "raises", 1, "an agreement")
    assert own["error"] == "ValueError" and own["says"] == "my own fault"
    assert other["says"] == "rank 1 is gone, in an agreement"


def cross() -> None:
    with joined(TIMEOUT) as ranks, ranks.guarded(f"half {ranks.rank}"):
        dist.recv(torch.zeros(1), 1 - ranks.rank)


@pytest.mark.slow
def test_ranks_that_wait_for_each_other_say_where(tmp_path: Path) -> None:
    for one in run_ranks(tmp_path, 2, cross):
        assert one["says"] == (
            "the ranks lost contact with each other: rank 0 in half 0, rank 1 in half 1"
        )


def own_faults() -> list[str]:
    said = []
    with joined(PATIENT) as ranks:
        for fault in (lambda: torch.ones(2) @ torch.ones(3), lambda: int("x")):
            try:
                with ranks.guarded("the sum of the gradients"):
                    fault()
            except (RuntimeError, ValueError) as error:
                said.append(f"{type(error).__name__} {error}")
        ranks.any(False)  # the group is still whole
    return said


def test_an_error_of_the_model_is_nobody_elses_fault(tmp_path: Path) -> None:
    for said in gives(run_ranks(tmp_path, 2, own_faults)):
        assert [text.split()[0] for text in said] == ["RuntimeError", "ValueError"]
        assert "size" in said[0] and "rank" not in said[0]


def twice() -> list[Any]:
    seen: list[Any] = []
    for number in range(2):
        with joined(PATIENT) as ranks:
            seen += [os.environ["GLOO_SOCKET_IFNAME"], ranks.tell(str(number))]
        seen += ["GLOO_SOCKET_IFNAME" in os.environ, dist.is_initialized()]
    return seen


def test_a_process_may_join_again_and_nothing_stays_behind(tmp_path: Path) -> None:
    once = [LOOPBACK, "0", False, False]
    again = [LOOPBACK, "1", False, False]
    assert gives(run_ranks(tmp_path, 2, twice)) == [once + again] * 2


def with_own_interface() -> bool:
    os.environ["GLOO_SOCKET_IFNAME"] = f"{LOOPBACK},{LOOPBACK}"
    with joined(PATIENT) as ranks:
        ranks.any(False)  # nobody leaves before all have come
    return os.environ["GLOO_SOCKET_IFNAME"] == f"{LOOPBACK},{LOOPBACK}"


def test_the_interface_that_the_user_chose_stays(tmp_path: Path) -> None:
    assert gives(run_ranks(tmp_path, 2, with_own_interface)) == [True, True]


def stay_away() -> None:
    ranks_file.START = 0.5
    if os.environ["RANK"] == "0":
        with joined(TIMEOUT):
            pass


def test_a_rank_that_never_comes_is_named(tmp_path: Path) -> None:
    first, _ = run_ranks(tmp_path, 2, stay_away)
    assert first["says"] == "rank 1 did not start within 0.5 s"


def come_late(sign: Path) -> bool:
    """Rank 0 is slow to connect; rank 1 leaves as soon as it may."""
    connect = dist.init_process_group

    def late(*given: Any, **named: Any) -> None:
        connect(*given, **named)
        time.sleep(0.3)
        sign.touch()

    if os.environ["RANK"] == "0":
        dist.init_process_group = late
    with joined(PATIENT):
        return sign.exists()


def test_nobody_leaves_before_all_are_connected(tmp_path: Path) -> None:
    assert gives(run_ranks(tmp_path, 2, come_late, tmp_path / "connected")) == [True, True]


def by_address(port: int, victim: int | None) -> str:
    """As torchrun does it: no file to meet in, but an address; its store lives with rank 0."""
    del os.environ["NETWRIGHT_RENDEZVOUS"]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    with joined(PATIENT if victim is None else TIMEOUT) as ranks:
        told = ranks.tell("hello" if ranks.is_first else "")
        if ranks.rank == victim:
            os.kill(os.getpid(), signal.SIGSTOP)
        ranks.any(False)
        return told


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_ranks_meet_at_an_address_too(tmp_path: Path) -> None:
    assert gives(run_ranks(tmp_path, 2, by_address, free_port(), None)) == ["hello", "hello"]


@pytest.mark.slow
def test_a_store_that_hangs_with_its_rank_does_not_hang_the_others(tmp_path: Path) -> None:
    (one,) = run_ranks(tmp_path, 2, by_address, free_port(), 0, lost=0)
    assert one["says"] == "rank 0 does not answer for 2 s, in an agreement"


def test_a_place_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(ConfigError, match=r"^WORLD_SIZE must be a whole number, got 'two'$"):
        joined(1).__enter__()


@pytest.mark.parametrize(
    ("gpus", "device", "backend"), [(2, 1, "cpu:gloo,cuda:nccl"), (1, -1, "gloo"), (0, -1, "gloo")]
)
def test_each_rank_has_the_gpu_of_its_place_where_there_is_one_for_each(
    gpus: int, device: int, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def note(*words: Any, **named: Any) -> nullcontext[None]:
        given.append(words[0])
        return nullcontext()

    for name, value in {"RANK": 3, "WORLD_SIZE": 4, "LOCAL_RANK": 1, "LOCAL_WORLD_SIZE": 2}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "device", note)
    monkeypatch.setattr(dist, "init_process_group", note)
    monkeypatch.setattr(ranks_file, "_open_store", lambda world: HashStore())
    monkeypatch.setattr(ranks_file, "_meet", lambda *_: None)
    with joined(TIMEOUT) as ranks:
        assert (ranks.rank, ranks.world) == (3, 4)
    assert given == [device, backend]
