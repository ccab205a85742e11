"""An order that keeps to places: a permutation, by files, pieces and blocks as it is asked for."""

from collections import Counter

import torch

from netwright.data.loading.piece_order import Pieces


def made(block: int, held: int = 0) -> Pieces:
    """Four files of 3 pieces with 10 rows of 10 bytes each: rows 0 ... 119."""
    return Pieces(
        ends=torch.arange(10, 121, 10),
        sizes=torch.full((12,), 100),
        files=torch.arange(4).repeat_interleave(3),
        block=block,
        held=held,
    )


def drawn(pieces: Pieces, seed: int, rows: torch.Tensor | None = None) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return pieces.order(torch.arange(120) if rows is None else rows, random)


def test_it_is_a_permutation_that_follows_from_the_generator() -> None:
    pieces = made(block=300, held=600)
    assert torch.equal(drawn(pieces, 1).sort().values, torch.arange(120))
    assert torch.equal(drawn(pieces, 1), drawn(pieces, 1))
    assert not torch.equal(drawn(pieces, 1), drawn(pieces, 2))


def test_a_block_has_the_rows_of_its_pieces_in_any_order() -> None:
    blocks = drawn(made(block=300), 5).view(4, 30)
    for block in blocks:
        assert sorted(Counter((block // 10).tolist()).values()) == [10, 10, 10]
        assert not torch.equal(block, block.sort().values)
    assert len({*(blocks[0] // 30).tolist()}) > 1  # pieces of several files


def test_files_come_in_sets_that_are_held_at_once() -> None:
    order = drawn(made(block=100, held=600), 5).view(2, 60)
    assert [len({*(half // 30).tolist()}) for half in order] == [2, 2]
    large = drawn(made(block=10_000, held=600), 5).view(2, 60)  # which a block ends with
    assert [len({*(half // 30).tolist()}) for half in large] == [2, 2]
    first = drawn(made(block=100), 5)[:60]
    assert len({*(first // 30).tolist()}) > 2  # all are at hand


def test_some_rows_keep_their_places() -> None:
    rows = torch.tensor([119, 0, 57, 55, 3])
    order = drawn(made(block=100), 0, rows)
    assert order.sort().values.tolist() == [0, 1, 2, 3, 4]
    together = [(rows[place] // 10).item() for place in order]
    assert abs(together.index(5) - (len(together) - 1 - together[::-1].index(5))) == 1
