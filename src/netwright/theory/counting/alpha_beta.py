r"""Alpha-beta pruning: the value of a game without looking at all of it.

A player who already has a move worth alpha need not look further at a move to which the other has
an answer that leaves no more than alpha. This presumes that what is good for one is as bad for the
other. Tic-tac-toe is small enough to see both searches to their ends.

A board is two sets of the nine squares, as bits: those of the player to move, and the other's.
Source: Knuth and Moore, "An analysis of alpha-beta pruning" (1975).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

SQUARES = 9
FULL_BOARD = (1 << SQUARES) - 1
LINES = (0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)  # one octal digit a row
WON = [any(board & row == row for row in LINES) for board in range(FULL_BOARD + 1)]
FIRST = {"quick": 2, "full": 0}  # moves that are already made where the search starts
LAST = 6
BOARDS = 10  # random ones for each number of moves


@dataclass(frozen=True, kw_only=True)
class Payoffs:
    """What a game is worth at its end."""

    win: float
    loss: float
    draw: float


ZERO_SUM = Payoffs(win=1, loss=-1, draw=0)
LEAGUE_POINTS = Payoffs(win=3, loss=0, draw=1)  # a draw gives away a point


class Searched(NamedTuple):
    """What a search found; there are a million of them, and a tuple is quick to make.

    Args:
        own: payoff of the player to move, if both play for their own good.
        other: payoff of the other.
        nodes: positions that were looked at.
    """

    own: float
    other: float
    nodes: int


def game_end(own: int, other: int, payoffs: Payoffs) -> Searched | None:
    """The payoffs where the game is over: the other has a line, or the board is full."""
    if WON[other]:
        return Searched(payoffs.loss, payoffs.win, 1)
    return Searched(payoffs.draw, payoffs.draw, 1) if own | other == FULL_BOARD else None


def free_squares(own: int, other: int) -> Iterator[int]:
    """The squares that can be taken, from the first to the last."""
    free = FULL_BOARD & ~(own | other)
    while free:
        yield free & -free  # the lowest bit
        free &= free - 1


def minimax(own: int, other: int, payoffs: Payoffs) -> Searched:
    """Look at every position; the player to move takes the move that is best for himself."""
    end = game_end(own, other, payoffs)
    if end is not None:
        return end
    moves = [minimax(other, own | square, payoffs) for square in free_squares(own, other)]
    best = max(moves, key=lambda after: after.other)  # the first of the best
    return Searched(best.other, best.own, 1 + sum(after.nodes for after in moves))


def alpha_beta(
    own: int, other: int, payoffs: Payoffs, alpha: float = -math.inf, beta: float = math.inf
) -> Searched:
    """The same, without the moves that a player who can do better elsewhere would never allow.

    Args:
        own: squares of the player to move.
        other: squares of the other.
        payoffs: at the end of the game.
        alpha: what the player to move can already get.
        beta: minus what the other can already get.
    """
    end = game_end(own, other, payoffs)
    if end is not None:
        return end
    best, answer, nodes = -math.inf, -math.inf, 1
    for square in free_squares(own, other):
        after = alpha_beta(other, own | square, payoffs, -beta, -alpha)
        nodes += after.nodes
        if after.other > best:
            best, answer = after.other, after.own
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return Searched(best, answer, nodes)


def random_board(moves: int, rng: torch.Generator) -> tuple[int, int]:
    """The squares of the player to move and of the other, in a game that is not yet won."""
    while True:
        own = other = 0
        for square in torch.randperm(SQUARES, generator=rng)[:moves].tolist():
            own, other = other, own | 1 << square
        if not WON[own] and not WON[other]:
            return own, other


@dataclass(frozen=True, kw_only=True)
class AlphaBetaConfig(Config):
    """What the players play for."""

    zero_sum: Annotated[
        bool,
        Assumption(
            "what one player gains, the other loses; without it, a win is 3 points and a draw 1"
        ),
    ] = True


def measure_alpha_beta(given: AlphaBetaConfig, seed: int, effort: Effort) -> Verdict:
    """Search random boards both ways and compare values and nodes."""
    payoffs = ZERO_SUM if given.zero_sum else LEAGUE_POINTS
    played = range(FIRST[effort], LAST + 1)
    wrong, boards = 0, 0
    every, seen = [], []
    for moves in played:
        rng = generator(seed, "boards", moves)
        starts = [random_board(moves, rng) for _ in range(BOARDS if moves else 1)]
        full = [minimax(*start, payoffs) for start in starts]
        pruned = [alpha_beta(*start, payoffs) for start in starts]
        wrong += sum(a.own != b.own for a, b in zip(full, pruned, strict=True))
        boards += len(starts)
        every.append(sum(found.nodes for found in full) / len(starts))
        seen.append(sum(found.nodes for found in pruned) / len(starts))
    places = range(len(played))
    return Verdict(
        findings=(
            no_violations("boards with another value than minimax gives", wrong, n=boards),
            at_most(
                f"nodes over those of minimax, {LAST} moves made", 1, seen[-1] / every[-1], n=BOARDS
            ),
            at_most(
                f"nodes over those of minimax, {played[0]} moves made",
                0.5,
                seen[0] / every[0],
                n=BOARDS if played[0] else 1,
            ),
        ),
        chart=ClaimChart(
            x_label="moves already made",
            y_label="nodes searched to the end",
            series=(
                predicted("minimax: every node", places, every),
                measured("alpha-beta", places, seen),
            ),
            explanation="Both give the same value. The longer the game still is, the more of its "
            "tree is never looked at."
            if given.zero_sum
            else "Where a draw has points for both, pruning leaves out moves that matter, and some "
            "boards get another value.",
            log="y",
            categories=tuple(str(moves) for moves in played),
        ),
    )


ALPHA_BETA = Claim(
    card=Card(
        sentence="Alpha-beta search gives the value of minimax and looks at fewer positions.",
        formula=r"V(s) = \max_a \, -V(s_a), \quad \text{stop at } s \text{ as soon as }"
        r" \alpha \geq \beta",
        symbols={
            "V(s)": "value of position s for the player to move",
            "s_a": "the position after move a",
            r"\alpha": "what the player to move can already get",
            r"\beta": "the most that the other player will allow",
        },
        source="Knuth and Moore (1975), Artificial Intelligence 6, 293-326",
    ),
    topic="Counting and cost",
    kind="theorem",
    settings=AlphaBetaConfig,
    experiment=measure_alpha_beta,
)
