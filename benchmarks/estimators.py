"""How long a fit of an estimator takes beside scikit-learn's of the same network, on small tables.

Measured: `NetClassifier("mlp")` and `MLPClassifier`, for reals `NetRegressor` and `MLPRegressor`,
with the same hidden layer, batches, optimizer (Adam), learning rate and number of epochs, no
penalty and no dropout; with early stopping both hold a tenth of the rows out, measure it after each
epoch and make every epoch all the same. Inputs are standardised before; ours does so once more. The
clock covers `fit`: checks, encoding, the first weights, training, and letting go of the rows. Both
are fitted in one process in turns; the first turn is thrown away.

    ratio = median over rounds of (CPU-seconds of netwright / CPU-seconds of scikit-learn)

1.00 is as fast, 2.00 takes twice as long, which is the most that it may take. Weights differ, as
both draw their own; that both made all epochs is checked.
"""

import argparse
import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from reporting import add_json_option, measure_box, quartiles, show, spread

HIDDEN = 100
TABLES = ("iris", "wine", "breast_cancer", "digits", "diabetes")
COLUMNS = {
    "table": ("table", ""),
    "rows": ("rows", "d"),
    "epochs": ("epochs", "d"),
    "stopping": ("stopping", ""),
    "netwright ms": ("milliseconds", ".1f"),
    "scikit-learn ms": ("peer_milliseconds", ".1f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=7, help="counted rounds (7)")
    options.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, help="all")
    options.add_argument("--epochs", type=int, nargs="+", default=[20, 50, 200], help="20 50 200")
    options.add_argument("--batch-size", type=int, default=200, help="rows at most (200)")
    options.add_argument("--threads", type=int, default=1, help="threads of both (1)")
    add_json_option(options)
    return options


def load(table: str) -> tuple[np.ndarray, np.ndarray]:
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    inputs, targets = getattr(datasets, f"load_{table}")(return_X_y=True)
    return StandardScaler().fit_transform(inputs), targets


def fit_ours(
    inputs: np.ndarray, targets: np.ndarray, *, reals: bool, epochs: int, stops: bool, batch: int
) -> int:
    """Fit, and how many epochs were made."""
    from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor

    held_out = round(0.1 * len(inputs)) if stops else 0
    settings: dict[str, Any] = {"patience": epochs} if stops else {}
    estimator = (NetRegressor if reals else NetClassifier)(
        "mlp",
        hidden=(HIDDEN,),
        dropout=0.0,
        batch_size=min(batch, len(inputs) - held_out),
        epochs=epochs,
        optimizer="adam",
        lr=1e-3,
        early_stopping=stops,
        random_state=0,
        **settings,
    )
    return len(estimator.fit(inputs, targets).history_.series("train/loss"))


def fit_peer(
    inputs: np.ndarray, targets: np.ndarray, *, reals: bool, epochs: int, stops: bool, batch: int
) -> int:
    """The same of scikit-learn."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    estimator = (MLPRegressor if reals else MLPClassifier)(
        hidden_layer_sizes=(HIDDEN,),
        alpha=0.0,
        batch_size=min(batch, len(inputs)),
        max_iter=epochs,
        n_iter_no_change=epochs + 1,
        tol=0.0,
        early_stopping=stops,
        random_state=0,
    )
    return int(estimator.fit(inputs, targets).n_iter_)


def compare(table: str, epochs: int, stops: bool, batch: int, rounds: int) -> dict[str, Any]:
    """Both sides in turn; the row of the table."""
    inputs, targets = load(table)
    sides: dict[str, Callable[..., int]] = {"ours": fit_ours, "peer": fit_peer}
    how = {"reals": table == "diabetes", "epochs": epochs, "stops": stops, "batch": batch}
    order, taken = random.Random(0), {side: [] for side in sides}
    for number in range(rounds + 1):
        for side in order.sample(list(sides), 2):
            started = time.process_time()
            made = sides[side](inputs, targets, **how)
            seconds = time.process_time() - started
            if made != epochs:
                raise SystemExit(f"{side} made {made} epochs of {epochs} on {table}")
            if number > 0:
                taken[side].append(seconds)
    ratios = [here / there for here, there in zip(taken["ours"], taken["peer"], strict=True)]
    low, middle, high = quartiles(ratios)
    return {
        "name": f"{table} {epochs}{' stopping' if stops else ''}",
        "table": table,
        "rows": len(inputs),
        "epochs": epochs,
        "stopping": "yes" if stops else "",
        "milliseconds": quartiles(taken["ours"])[1] * 1e3,
        "peer_milliseconds": quartiles(taken["peer"])[1] * 1e3,
        "ratio": middle,
        "ratio_quartiles": [low, high],
        "spread": spread(low, high, ".2f"),
        "rounds": rounds,
    }


def main() -> None:
    options = parser().parse_args()
    from threadpoolctl import threadpool_limits

    box = measure_box(options.threads)
    warnings.simplefilter("ignore")  # that it has not converged
    with threadpool_limits(options.threads):
        rows = [
            {**compare(table, epochs, stops, options.batch_size, options.rounds), "box": box}
            for table in options.tables
            for stops in (False, True)
            for epochs in options.epochs
        ]
    title = f"fits on small tables, {options.threads} thread(s)"
    show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
