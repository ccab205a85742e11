r"""Sinusoidal positions: a shift is a rotation of every pair, and so a linear map.

    p_{t, 2i} = sin(t w_i),   p_{t, 2i+1} = cos(t w_i),   w_i = 10000^{-2i/D}

    (p_{t+k, 2i}, p_{t+k, 2i+1}) = R(k w_i) (p_{t, 2i}, p_{t, 2i+1})

A model can learn to look k positions back with one matrix for all t. It needs sine and cosine of a
pair to run at the same speed, which two common misprints break.

Shapes: T positions, D features, P = D / 2 pairs.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.5.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.attention.position_encoding import (
    pair_angles,
    rotate_pairs,
    sinusoidal_encoding,
)
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.misprints.attention import FEATURES, POSITIONS, SHIFT, encode, speeds
from netwright.theory.verdict import Verdict, at_least, at_most

LARGEST_SHIFT = {"quick": 10, "full": 30}
ROUNDING = 1e-12
CLEAR = 0.1  # of encodings between -1 and 1


@dataclass(frozen=True, kw_only=True)
class PositionConfig(Config):
    """How positions are encoded."""

    shared_speed: Annotated[
        bool,
        Assumption(
            "sine and cosine of a pair run at one speed; without it, each feature has its own"
        ),
    ] = True


def misprinted() -> dict[str, Tensor]:
    """The two encodings whose sines and cosines differ in speed, (T, P, 2) each."""
    even = 2 * torch.arange(FEATURES // 2)
    return {
        "10000^(-2k/D), k the feature": encode(speeds(2 * even), speeds(2 * (even + 1))),
        "10000^(k/D), k the feature": encode(speeds(even, 1e4), speeds(even + 1, 1e4)),
    }


def missed_by_turning(encoding: Tensor, shift: int) -> float:
    """How far the pairs (T, P, 2) turned by k w_i are from those k positions on, at most."""
    angles = pair_angles(shift + 1, FEATURES)[-1]
    # Sine comes first: the pair turns the other way round.
    turned = rotate_pairs(encoding[:-shift].flatten(1), angles.cos(), -angles.sin())
    return float((turned - encoding[shift:].flatten(1)).abs().max())


def missed_by_any_map(encoding: Tensor, shift: int) -> float:
    """How far the best 2 x 2 map of each pair misses those k positions on, at most."""
    now, later = encoding[:-shift].transpose(0, 1), encoding[shift:].transpose(0, 1)  # (P, T, 2)
    best = torch.linalg.lstsq(now, later).solution
    return float((now @ best - later).abs().max())


def measure_position_rotation(given: PositionConfig, seed: int, effort: Effort) -> Verdict:
    """Shift the library's encoding and two misprinted ones, and look for the map that does it."""
    wrong = misprinted()
    right = sinusoidal_encoding(POSITIONS + SHIFT, FEATURES).view(-1, FEATURES // 2, 2)
    compared = wrong if not given.shared_speed else {"10000^(-2i/D), i the pair": right, **wrong}
    ours = next(iter(compared.values()))
    shifts = range(1, LARGEST_SHIFT[effort] + 1)
    turned = [missed_by_turning(ours, shift) for shift in shifts]
    mapped = {
        name: [missed_by_any_map(encoding, shift) for shift in shifts]
        for name, encoding in compared.items()
    }
    return Verdict(
        findings=(
            at_most(
                "difference from turning each pair by k wᵢ, the largest",
                ROUNDING,
                max(turned),
                n=len(shifts) * ours.numel(),
            ),
            *(
                at_least(
                    f"what the best maps miss, speeds {name}, the least of all shifts",
                    CLEAR,
                    min(mapped[name]),
                    n=len(shifts),
                )
                for name in wrong
            ),
        ),
        chart=ClaimChart(
            x_label="shift, k positions",
            y_label="what the best 2 x 2 maps miss, at most",
            series=(
                predicted("rounding", (shifts[0], shifts[-1]), (ROUNDING, ROUNDING)),
                *(measured(f"speeds {name}", shifts, found) for name, found in mapped.items()),
            ),
            explanation="For each shift the best linear map of every pair is fitted, from the "
            "encodings of all positions to those k positions on. Only where sine and cosine of a "
            "pair share their speed does one fit.",
            log="y",
        ),
    )


POSITION_ROTATION = Claim(
    card=Card(
        sentence="A shift of sinusoidal positions is a rotation of each pair of features, the same"
        " at every position.",
        formula=r"p_{t+k} = R_k \, p_t, \quad p_{t, 2i} = \sin(t \, \omega_i), \;"
        r" p_{t, 2i+1} = \cos(t \, \omega_i), \quad \omega_i = 10000^{-2i/D}",
        symbols={
            "p_t": "encoding of position t, (D)",
            r"\omega_i": "speed of pair i, from 0 to D/2 - 1",
            "R_k": r"turns pair i by the angle k omega_i, (D, D)",
        },
        source="Vaswani et al. (2017), arXiv:1706.03762, section 3.5",
        misprint="i is the number of the pair, not of the feature, and the exponent is negative:"
        " otherwise sine and cosine of a pair run at different speeds, and no map shifts them.",
    ),
    topic="Attention",
    kind="theorem",
    settings=PositionConfig,
    experiment=measure_position_rotation,
)
