"""The same few rows each time, in their order, from everywhere."""

import torch

from netwright.inspection.drawing.shown_rows import dot_size, shown_rows


def test_few_rows_are_all_shown() -> None:
    assert shown_rows(5, 5).tolist() == [0, 1, 2, 3, 4]


def test_many_rows_are_thinned_to_the_same_ones_in_order() -> None:
    torch.manual_seed(3)
    rows = shown_rows(10_000, 500)
    torch.manual_seed(4)
    assert rows.equal(shown_rows(10_000, 500))
    assert len(rows) == 500
    assert bool((rows.diff() > 0).all())


def test_the_choice_leaves_the_generator_of_the_process_alone() -> None:
    torch.manual_seed(0)
    shown_rows(100, 10)
    drawn = torch.rand(1)
    torch.manual_seed(0)
    assert drawn.equal(torch.rand(1))


def test_every_part_of_the_rows_is_shown() -> None:
    counts = torch.histc(shown_rows(10_000, 1_000).double(), bins=10, min=0, max=10_000)
    assert 70 < counts.min() <= counts.max() < 130


def test_dots_shrink_where_there_are_many() -> None:
    assert [dot_size(count) for count in (1, 200, 2_000)] == [28.0, 20.0, 9.0]
