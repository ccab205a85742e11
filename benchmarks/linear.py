"""How fast the linear models are fitted beside scikit-learn's: one fit each, from arrays in memory.

Measured: N examples of 50 normal inputs, targets by a linear rule with noise. In each round both
sides fit the same arrays once, in an order drawn anew; the first round is thrown away. Both have
the same penalty and the same tolerance, scikit-learn's own defaults for the rest. The clock covers
`fit` there, and here all of the model's `fit_steps` on tensors that share the arrays' memory, which
is what a run of netwright does; building the model is outside. scikit-learn also looks for NaN,
which netwright does when it loads data.

    ratio = median over rounds of (CPU-seconds of scikit-learn / CPU-seconds of netwright)

1.00 is as fast, 0.50 takes twice as long, 2.00 half. The gate is `difference`: the largest
difference of a weight or bias, over the largest weight. The perceptrons stop at no optimum, so that
theirs are not compared; they make five passes each.
"""

import argparse
import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from reporting import add_json_option, measure_box, quartiles, show, spread

INPUTS = 50
COLUMNS = {
    "model": ("name", ""),
    "netwright s": ("seconds", ".4f"),
    "scikit-learn s": ("peer_seconds", ".4f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
    "by wall": ("wall_ratio", ".2f"),
    "difference": ("difference", ".1e"),
    "remarks": ("remarks", ""),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--examples", type=int, default=100_000, help="N (100000)")
    options.add_argument("--threads", type=int, default=1, help="threads of both (1)")
    options.add_argument("--dtype", choices=["float32", "float64"], help="both unless told")
    add_json_option(options)
    return options


@dataclass(frozen=True, kw_only=True)
class Duel:
    """A model of ours and its peer.

    Args:
        name: in our catalog.
        settings: of our model.
        peer: a new estimator of scikit-learn.
        classes: whether it tells two classes apart, or predicts a real.
        optimum: whether both end at the one optimum, so that weights can be compared.
        remarks: what a reader must know.
    """

    name: str
    settings: dict[str, Any]
    peer: Callable[[], Any]
    classes: bool = False
    optimum: bool = True
    remarks: str = ""


def duels(examples: int) -> list[Duel]:
    from sklearn import linear_model as peers

    return [
        Duel(name="least-squares", settings={}, peer=peers.LinearRegression),
        Duel(
            name="ridge",
            settings={"l2": 1e-3},
            peer=lambda: peers.Ridge(alpha=1e-3 * examples),
        ),
        Duel(
            name="lasso",
            settings={"l1": 0.1, "tol": 1e-4},
            peer=lambda: peers.Lasso(alpha=0.1, tol=1e-4),
            remarks="with a path of 30 penalties",
        ),
        Duel(
            name="logistic-newton",
            settings={"l2": 1 / examples, "tol": 1e-4},
            peer=lambda: peers.LogisticRegression(C=1.0, tol=1e-4),
            classes=True,
        ),
        Duel(
            name="logistic-newton",
            settings={"l2": 1 / examples, "tol": 1e-10},
            peer=lambda: peers.LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000),
            classes=True,
            remarks="to 1e-10",
        ),
        Duel(
            name="perceptron",
            settings={"epochs": 5},
            peer=lambda: peers.Perceptron(max_iter=5, tol=None),
            classes=True,
            optimum=False,
            remarks="5 passes",
        ),
    ]


@dataclass(frozen=True)
class Arrays:
    """What both sides fit: inputs (N, D), and reals (N,) or classes (N,)."""

    inputs: np.ndarray
    reals: np.ndarray
    classes: np.ndarray


def draw(examples: int, dtype: str) -> Arrays:
    numbers = np.random.default_rng(0)
    inputs = numbers.standard_normal((examples, INPUTS))
    sums = inputs @ numbers.standard_normal(INPUTS)
    reals = sums + 3 + numbers.standard_normal(examples)
    classes = sums + 3 * numbers.standard_normal(examples) > 1
    return Arrays(inputs.astype(dtype), reals.astype(dtype), classes.astype(np.int64))


@dataclass
class Record:
    """What one side took, round by round, and what it found."""

    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)
    weights: np.ndarray | None = None


def prepare_ours(duel: Duel, arrays: Arrays) -> tuple[Callable[[], Any], Callable[[], np.ndarray]]:
    """The call that is timed, and the weights afterwards."""
    import torch

    from netwright.core.config import parse
    from netwright.data.dataset import Split
    from netwright.data.spec import DataSpec
    from netwright.models import MODELS

    kind = MODELS.load(duel.name)
    spec = DataSpec(
        inputs="features",
        input_shape=(INPUTS,),
        target="class" if duel.classes else "real",
        num_outputs=2 if duel.classes else 1,
    )
    inputs = torch.from_numpy(arrays.inputs)
    targets = torch.from_numpy(arrays.classes if duel.classes else arrays.reals[:, None])
    model: Any = kind.build(parse(kind.settings, duel.settings), spec).to(inputs.dtype)
    data = Split(inputs=inputs, targets=targets)

    def fit() -> None:
        for _ in model.fit_steps(data, 0):
            pass

    def weights() -> np.ndarray:
        layer = model.log_odds if duel.classes else model.affine
        return np.append(layer.weight.detach().numpy(), layer.bias.detach().numpy())

    return fit, weights


def prepare_peer(duel: Duel, arrays: Arrays) -> tuple[Callable[[], Any], Callable[[], np.ndarray]]:
    peer = duel.peer()
    targets = arrays.classes if duel.classes else arrays.reals
    return lambda: peer.fit(arrays.inputs, targets), lambda: np.append(peer.coef_, peer.intercept_)


def fight(duel: Duel, arrays: Arrays, rounds: int) -> dict[str, Any]:
    """Both sides in turn; the row of the table."""
    order = random.Random(0)
    sides = {"ours": prepare_ours, "peer": prepare_peer}
    records = {side: Record() for side in sides}
    for number in range(rounds + 1):
        for side in order.sample(list(sides), 2):
            fit, weights = sides[side](duel, arrays)
            cpu, wall = time.process_time(), time.perf_counter()
            fit()
            taken = time.process_time() - cpu, time.perf_counter() - wall
            if number > 0:
                records[side].cpu_s.append(taken[0])
                records[side].wall_s.append(taken[1])
            if duel.optimum:
                records[side].weights = weights()
    return summary(duel, records["ours"], records["peer"])


def summary(duel: Duel, ours: Record, peer: Record) -> dict[str, Any]:
    low, middle, high = quartiles(ratios(ours.cpu_s, peer.cpu_s))
    row = {
        "name": duel.name,
        "seconds": quartiles(ours.cpu_s)[1],
        "peer_seconds": quartiles(peer.cpu_s)[1],
        "ratio": middle,
        "ratio_quartiles": [low, high],
        "spread": spread(low, high, ".2f"),
        "wall_ratio": quartiles(ratios(ours.wall_s, peer.wall_s))[1],
        "remarks": duel.remarks,
        "rounds": len(ours.cpu_s),
    }
    if ours.weights is not None and peer.weights is not None:
        largest = np.abs(peer.weights).max()
        row["difference"] = float(np.abs(ours.weights - peer.weights).max() / largest)
    return row


def ratios(ours: Sequence[float], peer: Sequence[float]) -> list[float]:
    return [there / here for here, there in zip(ours, peer, strict=True)]


def main() -> None:
    options = parser().parse_args()
    from threadpoolctl import threadpool_limits

    box = measure_box(options.threads)
    warnings.simplefilter("ignore")  # of a tolerance that float32 does not reach
    with threadpool_limits(options.threads):
        for dtype in [options.dtype] if options.dtype else ["float64", "float32"]:
            arrays = draw(options.examples, dtype)
            rows = [
                {**fight(duel, arrays, options.rounds), "dtype": dtype, "box": box}
                for duel in duels(options.examples)
            ]
            title = f"{options.examples:,} x {INPUTS}, {dtype}, {options.threads} thread(s)"
            show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
