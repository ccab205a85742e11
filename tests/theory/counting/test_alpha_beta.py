"""Alpha-beta: the value of tic-tac-toe, and what need not be looked at."""

import math

import pytest

from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.counting import alpha_beta as module
from netwright.theory.counting.alpha_beta import (
    ALPHA_BETA,
    LEAGUE_POINTS,
    WON,
    ZERO_SUM,
    alpha_beta,
    free_squares,
    minimax,
    random_board,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(ALPHA_BETA)


@pytest.mark.slow
@pytest.mark.covers("deep-blue")
def test_tic_tac_toe_is_a_draw_and_a_thirtieth_of_it_is_enough_to_know() -> None:
    full, pruned = minimax(0, 0, ZERO_SUM), alpha_beta(0, 0, ZERO_SUM)
    assert full.own == pruned.own == 0
    assert full.nodes == 549_946  # the known size of the whole tree
    assert pruned.nodes == 18_297


def test_a_win_in_one_move_is_found() -> None:
    own, other = 0b000_000_011, 0b000_011_000  # two in the first row each
    assert minimax(own, other, ZERO_SUM)[:2] == alpha_beta(own, other, ZERO_SUM)[:2] == (1, -1)


def test_a_finished_game_is_one_node() -> None:
    assert alpha_beta(0b000_011_000, 0b000_000_111, ZERO_SUM) == (-1, 1, 1)
    crosses, noughts = 0b101_110_010, 0b010_001_101  # a full board without a line
    assert alpha_beta(crosses, noughts, ZERO_SUM) == (0, 0, 1)


def test_lines_are_rows_columns_and_diagonals() -> None:
    three = [board for board, won in enumerate(WON) if won and board.bit_count() == 3]
    assert len(three) == 8
    assert {0b111, 0b001_001_001, 0b100_010_001, 0b001_010_100} <= set(three)


def test_free_squares_are_those_that_nobody_has() -> None:
    assert list(free_squares(0b101, 0b010)) == [8, 16, 32, 64, 128, 256]


def test_random_boards_are_not_yet_won() -> None:
    rng = generator(0, "boards")
    for _ in range(50):
        own, other = random_board(6, rng)
        assert own.bit_count() == other.bit_count() == 3
        assert own & other == 0
        assert not WON[own] and not WON[other]


def test_pruning_is_wrong_where_a_draw_gives_points_to_both() -> None:
    rng = generator(0, "league")
    boards = [random_board(3, rng) for _ in range(20)]
    differs = [
        minimax(*board, LEAGUE_POINTS).own != alpha_beta(*board, LEAGUE_POINTS).own
        for board in boards
    ]
    assert any(differs)


def test_a_search_that_stops_too_early_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(own, other, payoffs, alpha=0.5, beta=math.inf):  # type: ignore[no-untyped-def]
        return alpha_beta(own, other, payoffs, alpha, beta)  # as if a win were already certain

    monkeypatch.setattr(module, "alpha_beta", narrow)
    assert not ALPHA_BETA.check().holds


def test_the_chart_speaks_of_the_same_value_only_where_it_is() -> None:
    assert "same value" in ALPHA_BETA.check().chart.explanation
    assert "same value" not in ALPHA_BETA.check(zero_sum=False).chart.explanation
