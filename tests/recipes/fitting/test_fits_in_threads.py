"""Fits in threads: each has the bits that it has alone; one within another does not wait."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
import torch

import netwright as nw
from netwright.core.seeding import ONE_AT_A_TIME, in_turn

SMALL: dict[str, Any] = {
    **{"hidden": (4,), "dropout": 0.5, "epochs": 2, "max_steps": 6},
    **{"save": False, "quiet": True, "train.doctor": False},
}


def weights_of(seed: int, **more: Any) -> list[torch.Tensor]:
    run = nw.fit("mlp", "moons", seed=seed, **SMALL, **more)
    return list(run.model.state_dict().values())


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(map(torch.equal, one, other))


def rest_a_moment(state: Any) -> None:
    """The other thread would come in here, and draw."""
    time.sleep(0.005)


def test_fits_in_threads_have_the_bits_of_fits_one_after_the_other() -> None:
    before = torch.get_rng_state()
    alone = [weights_of(seed) for seed in (0, 1)]
    calls = {"on_step_end": rest_a_moment}
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda seed: weights_of(seed, callbacks=calls), (0, 1)))
    assert all(map(same, alone, together))
    assert not same(*alone)
    assert torch.equal(torch.get_rng_state(), before)


def test_other_doors_take_turns_with_it() -> None:
    def compared() -> list[float]:
        found = nw.compare(
            "mlp:hidden=4:dropout=0.5", "lda", data="moons", seeds=1, quiet=True, max_steps=4
        )
        return [row.scores[0] for row in found.rows]

    alone, trained = compared(), weights_of(0)
    with ThreadPoolExecutor(2) as threads:
        beside = threads.submit(weights_of, 0, callbacks={"on_step_end": rest_a_moment})
        assert threads.submit(compared).result() == alone
        assert same(beside.result(), trained)


def test_an_estimator_waits_for_fits_and_they_for_it() -> None:
    """By one lock: by two, a fit in a callback and one beside it could wait for each other."""
    rows = np.eye(8, dtype=np.float32), np.arange(8) % 2
    waiting = Thread(target=nw.NetClassifier("lda").fit, args=rows, daemon=True)
    with ONE_AT_A_TIME:
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
    waiting.join(30)
    assert not waiting.is_alive()


def test_a_fit_within_a_fit_does_not_wait_for_it() -> None:
    inner: list[list[torch.Tensor]] = []
    outer: list[list[torch.Tensor]] = []

    def also(state: Any) -> None:
        inner.append(weights_of(1))

    def begin() -> None:
        outer.append(weights_of(0, callbacks={"on_fit_start": also}))

    thread = Thread(target=begin, daemon=True)
    thread.start()
    thread.join(30)
    assert outer, "the fit in the callback waits for the one that it is in"
    assert same(inner[0], weights_of(1))
    assert same(outer[0], weights_of(0))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_does_not_wait_for_a_thread_of_its_parent() -> None:
    in_turn_now, may_end = Event(), Event()

    def hold() -> None:
        with ONE_AT_A_TIME:
            in_turn_now.set()
            may_end.wait(30)

    other = Thread(target=hold, daemon=True)
    other.start()
    in_turn_now.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(5)  # ends it where it waits
        with ONE_AT_A_TIME:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    may_end.set()
    other.join(30)
    assert status == 0


def test_who_fails_ends_its_turn() -> None:
    @in_turn
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    done: list[int] = []
    other = Thread(target=in_turn(done.append), args=(1,), daemon=True)
    other.start()
    other.join(5)
    assert done == [1]
