"""Batches by length: which rows go together, what is cut off, and that nothing else changes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.loading.by_length import STEPS, Lengths, split_pairs
from netwright.data.loading.loader import Batch, BatchLoader
from netwright.data.spec import IGNORED
from netwright.models.catalog import MODELS
from netwright.train.settings import TrainConfig
from tests.repetition import for_each

DATA = load("reverse", n=500, length=20)
TRAIN, SPEC = DATA.train, DATA.spec
LENGTHS = Lengths.of(TRAIN, SPEC)


def loader(batch_size: int = 16, **settings: Any) -> BatchLoader:
    return BatchLoader(TRAIN, batch_size, seed=3, lengths=LENGTHS, **settings)


def padding_share(batches: list[Batch]) -> float:
    """Which part of the places of all batches holds no token."""
    places = sum(int(part.numel()) for batch in batches for part in batch.inputs)
    tokens = sum(int(part.ne(0).sum()) for batch in batches for part in batch.inputs)
    return 1 - tokens / places


def test_an_epoch_has_every_row_once_in_an_order_of_seed_and_epoch() -> None:
    first, again, second = (loader().order(epoch) for epoch in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    assert torch.equal(first.sort().values, torch.arange(len(TRAIN)))
    other = BatchLoader(TRAIN, 16, seed=4, lengths=LENGTHS).order(0)
    assert not torch.equal(first, other)
    batches = torch.split(first, 16)
    means = torch.tensor([float(LENGTHS.shares[batch].mean()) for batch in batches[:-1]])
    assert not torch.equal(means, means.sort().values)  # not from short to long
    assert {tuple(batch.tolist()) for batch in batches} != {
        tuple(batch.tolist()) for batch in torch.split(second, 16)
    }


def test_rows_of_a_batch_are_nearly_equally_long_and_little_is_padding() -> None:
    spread = [
        float(LENGTHS.shares[batch].max() - LENGTHS.shares[batch].min())
        for batch in torch.split(loader().order(0), 16)[:-1]
    ]
    assert sum(spread) / len(spread) < 0.1
    by_length = padding_share(list(loader().epoch(0)))
    plain = [
        batch._replace(inputs=split_pairs(batch.inputs, SPEC.source_length))
        for batch in BatchLoader(TRAIN, 16, seed=3).epoch(0)
    ]
    assert padding_share(plain) > 0.4
    assert by_length < 0.15


def test_only_padding_is_cut_off_and_widths_are_sixteenths_of_the_longest() -> None:
    widths = set()
    for batch in loader().epoch(0):
        source, told = batch.inputs
        whole, heard = split_pairs(TRAIN.inputs[batch.rows], SPEC.source_length)
        for short, full, filler in (
            (source, whole, 0),
            (told, heard, 0),
            (batch.targets, TRAIN.targets[batch.rows], IGNORED),
        ):
            assert torch.equal(short, full[:, : short.shape[1]])
            assert bool((full[:, short.shape[1] :] == filler).all())
        widths.add((source.shape[1], told.shape[1]))
    wanted = {(-(-20 * step // STEPS), -(-21 * step // STEPS)) for step in range(1, STEPS + 1)}
    assert widths <= wanted


def test_an_epoch_goes_on_in_its_middle_and_ranks_share_a_batch() -> None:
    whole = list(loader().epoch(2))
    for one, other in zip(whole[5:], loader().epoch(2, start=5), strict=True):
        assert torch.equal(one.rows, other.rows)
        assert torch.equal(one.targets, other.targets)
    parts = [list(loader(rank=rank, world=2).epoch(2)) for rank in (0, 1)]
    for batch, *ours in zip(whole[:-1], *parts, strict=False):
        assert sorted(batch.rows.tolist()) == sorted(torch.cat([one.rows for one in ours]).tolist())


@for_each("name", ["transformer", "t5", "encoder-decoder"])
def test_a_model_says_the_same_of_a_cut_batch(name: str) -> None:
    kind = MODELS.load(name)
    small = {"transformer": {"heads": 2, "width": 8}, "t5": {"heads": 2, "width": 8}}
    with seeded(0):
        model = kind.build(kind.settings(**small.get(name, {})), SPEC).double().eval()
    batch = next(loader().epoch(0))
    with torch.no_grad():
        cut: Tensor = model(batch.inputs)
        full: Tensor = model(TRAIN.inputs[batch.rows])
    counts = batch.targets != IGNORED
    assert cut.shape[:2] == batch.targets.shape
    assert torch.allclose(cut[counts], full[:, : cut.shape[1]][counts], atol=1e-10)


def trained(folder: Path, **settings: Any) -> Tensor:
    """The first embedding of a small transformer after two epochs, or as far as it may go."""
    small: dict[str, Any] = {"layers": 1, "heads": 1, "width": 8, "batch_size": 16, "epochs": 2}
    run = nw.fit(
        "transformer", "reverse", n=100, length=12, out=folder, quiet=True, **small, **settings
    )
    return next(run.model.parameters()).detach()


def test_a_run_by_length_resumes_exactly_in_the_middle_of_an_epoch(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", by_length=True)
    trained(tmp_path / "parts", by_length=True, max_steps=7)  # of 5 an epoch
    resumed = trained(tmp_path / "parts", by_length=True, resume="auto")
    assert torch.equal(resumed, whole)
    assert not torch.equal(trained(tmp_path / "other"), whole)


def test_a_row_ends_with_its_last_token_whatever_stands_before_it() -> None:
    targets = TRAIN.targets.clone()
    targets[:, :3] = IGNORED  # the beginning of each answer is given
    split = replace(TRAIN, targets=targets)
    batches = BatchLoader(split, 16, lengths=Lengths.of(split, SPEC)).epoch(0)
    scored = sum(int(batch.targets.ne(IGNORED).sum()) for batch in batches)
    assert scored == int(targets.ne(IGNORED).sum())


def test_compiled_code_is_of_one_width() -> None:
    with pytest.raises(ConfigError, match=r"^by_length must be false with compile"):
        TrainConfig(by_length=True, compile=True)


def test_other_data_is_refused() -> None:
    moons = load("moons")
    with pytest.raises(ConfigError, match=r"^by_length is for pairs of texts, this data has feat"):
        Lengths.of(moons.train, moons.spec)
    with pytest.raises(ConfigError, match="this data has equally long texts"):
        Lengths.of(TRAIN, replace(SPEC, sentinels=3))
