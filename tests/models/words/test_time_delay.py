"""The time-delay network: a shift of the input shifts the output, and a motif is found anywhere."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from netwright.models.words.time_delay import TimeDelay, TimeDelayConfig
from tests.models.words.test_text_model import SPEC

SERIES = replace(SPEC, inputs="series", input_shape=(20, 2), vocab_size=0, padding=None)


@pytest.mark.covers("time-delay-nn")
def test_a_shift_of_the_input_shifts_the_output() -> None:
    torch.manual_seed(0)
    model = TimeDelay.build(TimeDelayConfig(hidden=5), SERIES).eval()
    series = torch.zeros(1, 20, 2)
    series[0, 8:12] = torch.randn(4, 2)
    responses = model.responses(series)
    moved = model.responses(series.roll(3, dims=1))
    # Near the beginning the zeros before it are seen, which are none of the data's.
    torch.testing.assert_close(moved[:, 10:], responses[:, 7:-3])


def test_no_unit_sees_a_later_step() -> None:
    torch.manual_seed(0)
    model = TimeDelay.build(TimeDelayConfig(hidden=5), SERIES).eval()
    series = torch.randn(1, 20, 2)
    changed = series.clone()
    changed[0, 12] += 1
    different = (model.responses(series) != model.responses(changed)).any(dim=2)[0]
    assert different.nonzero()[:, 0].tolist() == [12, 13, 14, 15, 16]  # 2 layers of 3 steps


@pytest.mark.covers("time-delay-nn")
def test_a_planted_motif_is_found_at_places_never_seen() -> None:
    numbers = torch.Generator().manual_seed(0)
    motif = torch.tensor([[2.0, -2], [-2, 2], [2, 2]])

    def draw(count: int, first: int, last: int) -> tuple[torch.Tensor, torch.Tensor]:
        series = 0.5 * torch.randn(count, 20, 2, generator=numbers)
        there = torch.arange(count) % 2
        for row in there.nonzero()[:, 0].tolist():
            place = int(torch.randint(first, last, (), generator=numbers))
            series[row, place : place + 3] += motif
        return series, there

    torch.manual_seed(0)
    model = TimeDelay.build(TimeDelayConfig(hidden=8), SERIES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    series, there = draw(200, 0, 8)
    for _ in range(60):
        optimizer.zero_grad()
        F.cross_entropy(model(series), there).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    elsewhere, wanted = draw(200, 9, 17)
    right = model.eval()(elsewhere).argmax(dim=1) == wanted
    assert float(right.float().mean()) >= 0.95
