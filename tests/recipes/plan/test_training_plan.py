"""A plan of training: numbers by hand, what was measured once, and laws of any machine."""

from dataclasses import replace
from itertools import pairwise, product

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.plan.gpt_size import GPTSize, size_of
from netwright.recipes.plan.machines import MACHINES
from netwright.recipes.plan.training_plan import (
    Setting,
    best_of,
    foresee,
    foreseen_host,
    foreseen_memory,
    fullest,
    needed_flops,
    outlooks,
)

H200 = MACHINES["h200"]
ALONE = Setting(shard=False, recompute=False, rows=64)


def test_memory_and_time_are_near_what_was_measured() -> None:
    # GPT-2 on an H200, 64 x 1024 in bfloat16: 26.0 GB and 148.7 ms (benchmarks/plan_check.py).
    found = foresee(size_of("gpt2", 1024), H200, ALONE, gpus=1, batch=64)
    assert found.most - H200.reserved == pytest.approx(26.0e9, rel=0.1)
    assert found.seconds == pytest.approx(0.1487, rel=0.1)
    assert found.communication == 0 and found.fits
    assert found.tokens_per_second == pytest.approx(64 * 1024 / found.seconds)


def test_memory_with_checkpointing_is_near_what_was_measured() -> None:
    # The same on an H200, blocks computed again, not compiled: 6.66 GB (benchmarks/plan_check.py).
    setting = Setting(shard=False, recompute=True, rows=64)
    found = foresee(size_of("gpt2", 1024), H200, setting, gpus=1, batch=64)
    assert found.most - H200.reserved == pytest.approx(6.66e9, rel=0.1)


def test_a_block_is_computed_again_when_the_logits_are_gone() -> None:
    # Two layers of width 64, 100 tokens of the vocabulary, 8 x 1024 tokens at a time.
    size = GPTSize(100_000, 104_704, 2, 64, 100, 1024)
    memory = foreseen_memory(size, Setting(shard=False, recompute=True, rows=8), 1)
    kept, again = 4 * 2 * 64 * 8192, 36 * 64 * 8192
    logits = 2 * 8192 * 100 + 6 * 8192 * 64 + 4 * 100 * 64
    assert (memory["activations"], memory["recomputed"], memory["buffers"]) == (kept, again, logits)
    assert again > 200_000 + logits  # few logits: the fullest moment is in the backward pass
    assert fullest(memory, waits=False) == 12 * 100_000 + kept + again
    assert fullest(memory, waits=True) == 16 * 100_000 + kept + again
    wide = {**memory, "buffers": 10.0 * again}
    assert fullest(wide, waits=False) == 12 * 100_000 + 200_000 + kept + 10 * again
    late = {**memory, "gradients": 10.0 * again}
    assert fullest(late, waits=False) == 12 * 100_000 + 10 * again


def test_gradients_that_wait_are_of_whole_weights() -> None:
    size = size_of("gpt2", 1024)
    setting = Setting(shard=True, recompute=False, rows=8)
    assert foreseen_memory(size, setting, 4)["gradients"] == size.weights
    assert foreseen_memory(size, setting, 4, waits=True)["gradients"] == 4 * size.weights


def test_memory_by_hand() -> None:
    size = size_of("gpt2", 1024)
    found = foreseen_memory(size, ALONE, 1)
    assert found["weights"] == found["gradients"] == 4 * 124_439_808 == found["optimizer"] / 2
    assert found["activations"] == 36 * 12 * 768 * 64 * 1024
    sharded = foreseen_memory(size, Setting(shard=True, recompute=True, rows=64), 4)
    for kind in ("weights", "gradients", "optimizer"):
        assert sharded[kind] == found[kind] / 4
    assert sharded["activations"] == 4 * 12 * 768 * 64 * 1024
    assert (sharded["recomputed"], found["recomputed"]) == (36 * 768 * 64 * 1024, 0)
    assert sharded["half copies"] == found["half copies"] == 2 * 124_439_808
    head, vectors = 4 * 50_257 * 768, 6 * 768 * 64 * 1024
    assert found["buffers"] == 2 * 2**30 + vectors + head
    around = 4 * (124_439_808 - 12 * 12 * 768**2)
    assert sharded["buffers"] == found["buffers"] + head + around + 2 * 4 * 12 * 768**2


def test_gradients_grow_while_activations_go_unless_they_wait_for_another_batch() -> None:
    size = size_of("gpt2", 1024)
    held = 12 * 124_439_808 + H200.reserved
    for rows, batch in ((1, 1), (64, 64), (32, 64)):
        setting = Setting(shard=False, recompute=False, rows=rows)
        found = foresee(size, H200, setting, gpus=1, batch=batch)
        forward = sum(found.memory[kind] for kind in ("half copies", "activations", "buffers"))
        gradients = found.memory["gradients"]
        both = forward + gradients if found.passes > 1 else max(forward, gradients)
        assert found.most == held + both


def test_time_by_hand() -> None:
    size = size_of("gpt2", 1024)
    tokens, weights = 64 * 1024, size.weights
    features = 9 * 36 * 12 * 768 * tokens
    moved = float(features + 10 * 50_257 * tokens + (36 + 12) * weights)
    found = foresee(size, H200, ALONE, gpus=1, batch=64)
    head = 6 * 50_257 * 768 * tokens
    blocks = 6 * 12 * 12 * 768**2 * tokens
    attention = 6 * 12 * 768 * 1024 * tokens
    assert needed_flops(size) * tokens == head + blocks + attention
    products = (head + blocks) / H200.flops
    attending = attention / H200.attention
    assert found.compute == pytest.approx(products + attending + moved / H200.bandwidth)
    setting = Setting(shard=True, recompute=True, rows=32)
    sharded = foresee(size, H200, setting, gpus=2, batch=128)
    moved += features / 3 + (36 / 2 + 2 * (12 + 24) - 36 - 12) * weights
    products = (head + 4 / 3 * blocks) / H200.flops  # the head is not computed again
    wanted = products + 4 / 3 * attending + moved / H200.bandwidth
    assert sharded.compute == pytest.approx(wanted)
    one = foresee(size, H200, Setting(shard=True, recompute=False, rows=64), gpus=1, batch=64)
    more = (24 + 8) * weights / H200.bandwidth  # gathered twice, and scattered to itself
    assert one.compute - found.compute == pytest.approx(more)


def test_fewer_texts_at_a_time_take_less_memory_and_no_less_time() -> None:
    size = size_of("gpt2", 1024)
    found = list(outlooks(size, H200, gpus=8, batch=512))
    assert len(found) == 2 * 2 * 7
    for one in found:
        half = [
            other
            for other in found
            if other.setting == Setting(**{**vars(one.setting), "rows": one.setting.rows // 2})
        ]
        assert all(other.most <= one.most and other.seconds >= one.seconds for other in half)
        assert one.passes * one.setting.rows == 64
        assert 0 < one.utilisation < H200.flops / H200.peak
    best = best_of(found)
    assert best is not None and best.seconds == min(one.seconds for one in found if one.fits)
    assert best.passes == 1 and not best.setting.recompute  # nothing is gained by less memory
    typed = best.setting.typed(8, best.passes)
    assert f"--set train.batch_size={best.setting.rows * 8}" in typed


def test_a_batch_of_any_size_is_planned_at_once() -> None:
    found = list(outlooks(size_of("gpt2", 1024), H200, gpus=1, batch=10**12))
    rows = [one.setting.rows for one in found if not one.setting.recompute]
    assert len(rows) == 13 * 13 and rows == sorted(set(rows), reverse=True)
    assert all(10**12 % one == 0 for one in rows)


def test_sums_cost_twice_their_bytes_in_a_ring_and_more_between_machines() -> None:
    size = size_of("gpt2", 1024)
    of_weights = 4 * size.weights
    one, two, many = (
        foresee(size, H200, ALONE, gpus=gpus, batch=64 * gpus).communication for gpus in (1, 2, 16)
    )
    assert one == 0
    assert two == pytest.approx(of_weights / H200.link)
    assert many == pytest.approx(2 * of_weights * 15 / 16 / H200.network)


def test_what_does_not_fit_is_not_chosen() -> None:
    xl = size_of("gpt2-xl", 1024)
    found = list(outlooks(xl, MACHINES["a100"], gpus=1, batch=512))
    assert not found[0].fits and found[0].most > 500e9
    best = best_of(found)
    assert best is not None and best.fits and best.most <= 85e9
    assert best_of([one for one in found if not one.fits]) is None
    with pytest.raises(ConfigError, match="must be a multiple of the 3 GPUs, got 64 texts"):
        next(outlooks(xl, H200, gpus=3, batch=64))


def test_shards_on_the_host_by_hand() -> None:
    # Tensors of 40 and 60 weights; 4 x 40 = 160 bytes take 256 of pinned memory, as 4 x 60 do.
    tiny = GPTSize(100, 90, 1, 4, 5, 8, (40, 60))
    assert foreseen_host(tiny, 1) == 2 * (256 + 256) + (4 + 8 + 12) * 100
    assert foreseen_host(tiny, 2) == 2 * (128 + 128) + 4 * 100 + (8 + 12) * 50
    xl = size_of("gpt2-xl", 1024)
    kept = Setting(shard=True, recompute=True, rows=8)
    waiting = Setting(**{**vars(kept), "offload": True})
    plain, memory = foreseen_memory(xl, kept, 1), foreseen_memory(xl, waiting, 1)
    around = xl.weights - 12 * 48 * 1600**2
    assert memory == {**plain, "weights": 0, "optimizer": 0, "gradients": 12 * around}
    for gpus, passes in ((1, 1), (1, 2), (4, 1)):
        batch = 8 * gpus * passes
        on_gpu, on_host = (foresee(xl, H200, s, gpus=gpus, batch=batch) for s in (kept, waiting))
        spared = 36 * xl.weights / gpus / H200.bandwidth
        assert on_host.compute == pytest.approx(on_gpu.compute - spared)
        copies = 2 * passes * 4 * xl.weights / gpus / H200.copies
        stepped = (32 + 12 * (passes - 1)) * xl.weights / gpus / H200.stepping
        beside = max(on_host.compute, on_host.communication)
        worked = beside + copies if gpus == 1 else max(beside, copies)
        started = passes * 48 * H200.shards_again
        assert on_host.seconds == pytest.approx(max(worked, started) + stepped)
        assert on_host.waiting == pytest.approx(max(0.0, started - worked))
        assert on_host.most == pytest.approx(H200.reserved + fullest(memory, waits=False))
        assert on_host.host == foreseen_host(xl, gpus) and on_gpu.host == 0


TINY = GPTSize(100_000, 104_704, 3, 64, 100, 16)
SLOW = replace(H200, block=0.01, block_again=0.03, shards=0.05, shards_again=0.08)


def test_the_gpu_waits_for_the_host_by_hand() -> None:
    # Three blocks; a batch of 8 texts at a time of 16 tokens is nothing to an H200.
    for shard, recompute, of_block in (
        (False, False, 0.01),
        (False, True, 0.03),
        (True, False, 0.05),
        (True, True, 0.08),
    ):
        setting = Setting(shard=shard, recompute=recompute, rows=8)
        for gpus, passes in ((2, 1), (1, 2), (4, 3)):
            found = foresee(TINY, SLOW, setting, gpus=gpus, batch=8 * gpus * passes)
            hosts = passes * 3 * of_block
            after = 0.0 if shard else found.communication  # the sum of gradients comes behind
            assert found.seconds == pytest.approx(hosts + after)
            assert found.waiting == pytest.approx(hosts - found.compute)
    waiting = Setting(shard=True, recompute=True, rows=8, offload=True)
    stepped = 32 * TINY.weights / SLOW.stepping
    assert foresee(TINY, SLOW, waiting, gpus=1, batch=8).seconds == pytest.approx(0.24 + stepped)


def test_a_graph_of_an_update_leaves_nothing_to_wait_for() -> None:
    one = foresee(TINY, SLOW, Setting(shard=False, recompute=False, rows=8), gpus=1, batch=8)
    assert (one.waiting, one.seconds) == (0, one.compute)
    for shard, recompute, gpus, passes in (
        (True, False, 1, 1),
        (False, True, 1, 1),
        (False, False, 2, 1),
        (False, False, 1, 2),
    ):
        setting = Setting(shard=shard, recompute=recompute, rows=8)
        assert foresee(TINY, SLOW, setting, gpus=gpus, batch=8 * gpus * passes).waiting > 0


def test_more_texts_take_no_less_time_and_the_host_is_waited_for_by_small_batches_alone() -> None:
    xl = size_of("gpt2-xl", 1024)
    for shard, recompute, offload in product((False, True), repeat=3):
        if offload and not shard:
            continue
        found = [
            foresee(
                xl,
                H200,
                Setting(shard=shard, recompute=recompute, rows=rows, offload=offload),
                gpus=2,
                batch=2 * rows,
            )
            for rows in (1, 2, 4, 8, 16, 32, 64)
        ]
        assert all(less.seconds <= more.seconds for less, more in pairwise(found))
        assert all(less.waiting >= more.waiting for less, more in pairwise(found))
        assert found[0].waiting > 0 == found[-1].waiting


def test_the_seconds_of_steps_that_were_measured_on_an_h200() -> None:
    # benchmarks/plan_check.py; of the last one the GPU was at work for 263 ms.
    for model, texts, again, shard, measured in (
        ("gpt2", 16, False, False, 0.0406),
        ("gpt2-medium", 32, False, True, 0.2051),
        ("gpt2-large", 16, True, False, 0.2550),
        ("gpt2-xl", 8, True, True, 0.2975),
    ):
        setting = Setting(shard=shard, recompute=again, rows=texts)
        found = foresee(size_of(model, 1024), H200, setting, gpus=1, batch=texts)
        assert found.seconds == pytest.approx(measured, rel=0.11), model
    assert found.waiting == pytest.approx(found.seconds - found.compute)
    assert found.waiting > 0.02


def test_the_host_is_asked_for_where_nothing_else_fits() -> None:
    xl = size_of("gpt2-xl", 1024)
    small = replace(H200, memory=16e9)
    found = list(outlooks(xl, small, gpus=1, batch=2))
    assert {one.setting.shard for one in found if not one.setting.offload} == {False}
    best = best_of(found)
    assert best is not None and best.setting.offload and best.setting.shard
    typed = best.setting.typed(1, best.passes)
    assert "--set train.offload=true" in typed and "--set train.parallel=shard" in typed
    assert not any(one.setting.offload for one in outlooks(xl, H200, gpus=1, batch=2))
    no_room = replace(small, host=10e9)
    assert best_of(list(outlooks(xl, no_room, gpus=1, batch=2))) is None


def test_attention_adds_to_the_products_of_weights() -> None:
    short, long = size_of("gpt2", 512), size_of("gpt2", 1024)
    assert needed_flops(long) - needed_flops(short) == 6 * 12 * 768 * 512
