"""Seeds: independent streams, scopes that leave the caller's alone, states that come back."""

import json
import random
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from netwright.core.seeding import (
    Draws,
    derive_seed,
    draw_again,
    draws_to_come,
    generator,
    random_state,
    seeded,
    set_random_state,
    torch_seeded,
)


def draws() -> tuple[float, float, float, float]:
    """One number from each generator, and a normal one that NumPy keeps half of."""
    return (
        random.random(),
        float(np.random.rand()),
        float(np.random.randn()),
        float(torch.rand(())),
    )


def test_neighbours_get_different_seeds() -> None:
    paths = [(seed, part, epoch) for seed in range(20) for part in "ab" for epoch in range(20)]
    assert len({derive_seed(*path) for path in paths}) == len(paths)


def test_seed_and_path_are_not_mixed_up() -> None:
    assert derive_seed(1, 23) != derive_seed(12, 3)
    assert derive_seed(1) != derive_seed(1, "")
    assert derive_seed(1, "a", "b") != derive_seed(1, "b", "a")


@settings(derandomize=True, deadline=None)
@given(st.integers(), st.lists(st.text(max_size=5), max_size=3))
def test_derived_seed_is_a_pure_function_that_torch_takes(seed: int, path: list[str]) -> None:
    derived = derive_seed(seed, *path)
    assert derived == derive_seed(seed, *path)
    assert 0 <= derived < 2**63
    torch.Generator().manual_seed(derived)


def test_derived_seeds_use_all_their_bits() -> None:
    # Each of the 63 bits is 1 in about half of 400 seeds; 5 sigma are 5 * sqrt(100) = 50.
    seeds = [derive_seed(number) for number in range(400)]
    for bit in range(63):
        assert 150 <= sum(seed >> bit & 1 for seed in seeds) <= 250


def test_streams_of_a_seed_are_their_own() -> None:
    order, noise = generator(0, "order"), generator(0, "noise")
    first = torch.rand(3, generator=order)
    assert not torch.equal(first, torch.rand(3, generator=noise))
    assert torch.equal(first, torch.rand(3, generator=generator(0, "order")))
    before = torch.get_rng_state()
    torch.rand(3, generator=generator(0))
    assert torch.equal(before, torch.get_rng_state())


def test_seeded_block_repeats_and_differs_by_seed() -> None:
    with seeded(3):
        first = draws()
    with seeded(3):
        again = draws()
    with seeded(4):
        other = draws()
    assert first == again
    assert all(a != b for a, b in zip(first, other, strict=True))


def test_seeded_block_leaves_the_callers_generators_alone() -> None:
    with seeded(0):
        expected = (draws(), draws())
    with seeded(0):
        first = draws()
        with seeded(1):
            draws()
        assert (first, draws()) == expected


def test_torch_alone_is_seeded_as_with_the_others_and_left_alone_too() -> None:
    with seeded(3):
        *_, wanted = draws()
    with seeded(0):
        expected = draws()
    with seeded(0):
        with torch_seeded(3):
            assert float(torch.rand(())) == wanted
        assert draws() == expected


def test_generators_come_back_when_the_block_fails() -> None:
    with seeded(0):
        expected = draws()
    with seeded(0):
        with pytest.raises(ZeroDivisionError), seeded(1):
            draws()
            raise ZeroDivisionError
        assert draws() == expected


def test_generators_come_back_when_the_seed_is_refused() -> None:
    with seeded(0):
        expected = draws()
    with seeded(0):
        with pytest.raises(ValueError, match="Overflow"), seeded(2**70):  # torch takes 64 bits
            pass
        assert draws() == expected


def test_the_generators_of_all_gpus_come_back_too(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {0: torch.tensor([1]), 1: torch.tensor([2])}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(states))
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: states[device])
    monkeypatch.setattr(
        torch.cuda, "set_rng_state", lambda state, device: states.update({device: state})
    )
    with seeded(0):
        states.update({0: torch.tensor([3]), 1: torch.tensor([4])})
    assert [int(state) for state in states.values()] == [1, 2]


@pytest.mark.parametrize("is_fork", [False, True])
def test_a_gpu_that_cannot_be_used_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, *, is_fork: bool
) -> None:
    """Where a driver is too old, devices are counted although there are none to work on.

    A fork of a process that has used CUDA cannot use it.
    """

    def refuse(*given: object) -> None:
        raise RuntimeError("the NVIDIA driver on your system is too old")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: is_fork)
    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: is_fork)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for name in ("get_rng_state", "get_rng_state_all", "set_rng_state_all"):
        monkeypatch.setattr(torch.cuda, name, refuse)
    state = random_state()
    assert state["cuda"] == Draws.now().cuda == []
    set_random_state({**state, "cuda": [torch.zeros(16, dtype=torch.uint8)]})  # of another machine
    with seeded(0):
        draws()


def test_a_seed_above_what_numpy_takes_is_fine() -> None:
    seed = derive_seed(0, "model")
    assert seed > 2**32
    with seeded(seed):
        first = draws()
    with seeded(seed):
        assert draws() == first


def through_json(state: dict[str, Any]) -> dict[str, Any]:
    """Tensors as they are, everything else through JSON, as a checkpoint does it."""
    tensors: list[torch.Tensor] = []

    def keep(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            return {"tensor": len(tensors) - 1}
        return [keep(item) for item in value] if isinstance(value, list) else value

    def back(value: Any) -> Any:
        if isinstance(value, dict):
            return tensors[value["tensor"]]
        return [back(item) for item in value] if isinstance(value, list) else value

    plain = json.loads(json.dumps({name: keep(value) for name, value in state.items()}))
    return {name: back(value) for name, value in plain.items()}


def test_draws_after_a_state_is_put_back_are_the_same() -> None:
    with seeded(0):
        draws()
        random.gauss(0, 1)  # Python and NumPy keep the second of two normal numbers
        state = random_state()
        expected = (draws(), random.gauss(0, 1), draws())
        draws()
        set_random_state(through_json(state))
        assert (draws(), random.gauss(0, 1), draws()) == expected


def test_a_state_is_a_copy_that_later_draws_do_not_change() -> None:
    with seeded(0):
        state = random_state()
        expected = [draws() for _ in range(700)]  # enough for the Mersenne twister to turn over
        set_random_state(state)
        assert [draws() for _ in range(700)] == expected


def test_draws_on_the_cpu_come_again_and_no_other_device_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[torch.Tensor] = []
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: asked.append(state))
    cpu = torch.device("cpu")
    states = draws_to_come(cpu)
    first = torch.rand(3)
    draw_again(states, cpu)
    assert torch.equal(torch.rand(3), first)
    assert asked == []


def test_draws_on_a_gpu_come_again_too(monkeypatch: pytest.MonkeyPatch) -> None:
    states, gpu = {1: torch.tensor(7)}, torch.device("cuda", 1)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: states[device.index])
    monkeypatch.setattr(
        torch.cuda, "set_rng_state", lambda state, device: states.update({device.index: state})
    )
    before = draws_to_come(gpu)
    first, states[1] = torch.rand(3), torch.tensor(8)
    draw_again(before, gpu)
    assert torch.equal(torch.rand(3), first)
    assert int(states[1]) == 7


def test_places_of_all_generators_are_put_back_as_often_as_asked_for() -> None:
    with seeded(0):
        draws()
        random.gauss(0, 1)
        place = Draws.now()
        expected = [random.gauss(0, 1), *(draws() for _ in range(700))]
        for _ in range(2):
            place.put_back()
            assert [random.gauss(0, 1), *(draws() for _ in range(700))] == expected
