"""The MNIST results of the lecture notes beside ours: test error in per cent.

Measured: each model trains on the first 50,000 images of MNIST's training part, once a seed; the
last 10,000 choose the settings (beforehand) and the best epoch (during training); the 10,000 test
images are read once, at the end. Pixels are divided by 255 and nothing else. Both MLPs have
235,146 parameters and the same optimizer, schedule and number of epochs: they differ in what keeps
them from overfitting alone, and its strength was chosen by validation error.

Linear discriminant analysis is scikit-learn's, has nothing to choose and no seed, and trains on
the same 50,000 images (on all 60,000 its error is 12.70 instead of 12.72).

MNIST is read from `mnist/` in the folder that NETWRIGHT_DATA names. `--by hand` trains the rows
by a plain torch loop instead of by netwright: the check that the table is no accident of ours.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from mnist import Pair, load_mnist, mnist_folder
from mnist_by_hand import percent_wrong, train_by_hand
from reporting import add_json_option, show

TRAINED_ON = 50_000
COLUMNS = {
    "model": ("name", ""),
    "notes": ("notes", ".1f"),
    "ours": ("test_error", ".2f"),
    "each seed": ("seeds", ""),
    "settings": ("settings", ""),
}
SHARED = {"optimizer": "adam", "schedule": "cosine", "batch_size": 128}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the notes' table: its model, its error there, and how we train it."""

    name: str
    notes: float
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)


ROWS = [
    Row(
        name="MLP with dropout",
        notes=1.8,
        model="mlp",
        settings={**SHARED, "hidden": (256, 128), "lr": 1e-3, "epochs": 30, "dropout": 0.3},
    ),
    Row(
        name="MLP with L2",
        notes=2.3,
        model="mlp",
        settings={**SHARED, "hidden": (256, 128), "lr": 1e-3, "epochs": 30, "weight_decay": 3e-4},
    ),
    Row(
        name="softmax regression",
        notes=7.2,
        model="softmax-regression",
        settings={**SHARED, "lr": 1e-3, "epochs": 20},
    ),
]
LDA = Row(name="linear discriminant analysis", notes=12.7, model="lda")


def netwright_test_error(model: str, settings: Mapping[str, Any], seed: int) -> float:
    """Train by netwright; test error in per cent of the weights that were best in validation.

    To be wired to the public API: `load_mnist(mnist_folder(), "train")` and `"test"` give the
    images; the first TRAINED_ON of "train" learn, the others validate.
    """
    raise SystemExit(f"{model}: netwright is not wired up here yet; use --by hand")


def by_hand_test_error(model: str, settings: Mapping[str, Any], seed: int) -> float:
    """The same training as a plain torch loop."""
    train, validation, test = _splits(_folder())
    network, _ = train_by_hand(settings, train=train, validation=validation, seed=seed)
    return percent_wrong(network, test)


def lda_test_error() -> float:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    (inputs, labels), _, (test_inputs, test_labels) = _splits(_folder())
    analysis = LinearDiscriminantAnalysis().fit(inputs.numpy(), labels.numpy())
    return 100 * float((analysis.predict(test_inputs.numpy()) != test_labels.numpy()).mean())


def _splits(folder: Path) -> tuple[Pair, Pair, Pair]:
    """Training, validation and test part."""
    inputs, labels = load_mnist(folder, "train")
    train = inputs[:TRAINED_ON], labels[:TRAINED_ON]
    validation = inputs[TRAINED_ON:], labels[TRAINED_ON:]
    return train, validation, load_mnist(folder, "test")


def _folder() -> Path:
    folder = mnist_folder()
    if folder is None:
        raise SystemExit("MNIST is not here: set NETWRIGHT_DATA to a folder with mnist/ in it")
    return folder


def measure_table(
    test_error: Callable[[str, Mapping[str, Any], int], float], seeds: int
) -> list[dict[str, Any]]:
    rows = []
    for row in ROWS:
        errors = [test_error(row.model, row.settings, seed) for seed in range(seeds)]
        rows.append(_line(row, errors))
    return [*rows, _line(LDA, [lda_test_error()])]


def _line(row: Row, errors: list[float]) -> dict[str, Any]:
    return {
        "name": row.name,
        "notes": row.notes,
        "test_error": sum(errors) / len(errors),
        "seeds": " ".join(f"{error:.2f}" for error in errors),
        "errors": errors,
        "settings": ", ".join(f"{name} {value}" for name, value in row.settings.items()),
    }


def order_holds(rows: list[dict[str, Any]]) -> bool:
    """For every seed: dropout before L2 before softmax regression before LDA, as in the notes."""
    *trained, lda = [row["errors"] for row in rows]
    by_seed = [[*errors, lda[0]] for errors in zip(*trained, strict=True)]
    return all(errors == sorted(set(errors)) for errors in by_seed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3, help="runs a model: seeds 0, 1, ... (3)")
    parser.add_argument("--threads", type=int, default=2, help="threads (2)")
    parser.add_argument("--by", choices=["netwright", "hand"], default="netwright")
    add_json_option(parser)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    test_error = {"netwright": netwright_test_error, "hand": by_hand_test_error}[options.by]
    rows = measure_table(test_error, options.seeds)
    show(rows, COLUMNS, title="MNIST, test error in per cent", as_json=options.json)
    if not options.json:
        print(f"order of the notes kept for every seed: {'yes' if order_holds(rows) else 'NO'}")


if __name__ == "__main__":
    main()
