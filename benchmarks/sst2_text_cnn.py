"""The text CNN on SST-2: settings chosen by validation rows alone, then seeds on the test rows.

    python benchmarks/sst2_text_cnn.py --choose --seeds 3
    python benchmarks/sst2_text_cnn.py --seeds 5 --vectors vectors.txt

`--choose` trains the ready recipe and changes of it, and tells their validation scores: the test
rows are not looked at. Without it the ready recipe is measured on the test rows, beside a linear
model of tf-idf and the bag of vectors, and with `--vectors` also from the word vectors of a file of
as many features. The gain of those has a bootstrap interval over test rows and seeds, both paired.
"""

import argparse
from collections.abc import Mapping
from statistics import mean
from typing import Any

import numpy as np
import torch
from reporting import add_json_option, show

import netwright as nw
from netwright.core.devices import device_of

READY = "ready/sst2-text-cnn"
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "best weights by accuracy": {"monitor": "val/accuracy"},
    "whole sentences": {"max_length": 64},
    "weights averaged": {"average": "exponential", "average_decay": 0.99},
    "100 features": {"embedding": 100},
    "widths 1, 2, 3": {"kernels": (1, 2, 3)},
    "widths 2, 3, 4": {"kernels": (2, 3, 4)},
    "200 maps": {"maps": 200},
    "dropout 0.7": {"dropout": 0.7},
    "words from 2 on": {"min_count": 2},
    "rate 0.0005": {"lr": 5e-4, "epochs": 15},
    "Adadelta": {"optimizer": "adadelta", "lr": 1.0, "epochs": 25, "patience": 6},
    "labels smoothed by 0.1": {"label_smoothing": 0.1},
    "L2 of 0.0003": {"l2": 3e-4},
}
OTHERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tf-idf, linear": ("softmax", {"inputs": "tf-idf", "epochs": 10}),
    "bag of vectors": ("bag-of-vectors", {"min_count": 1, "epochs": 20, "patience": 4}),
}
DRAWS = 10_000
CHOICE = {
    "change": ("change", ""),
    "val accuracy": ("accuracy", ".4f"),
    "val loss": ("loss", ".4f"),
    "lowest": ("lowest", ".4f"),
    "highest": ("highest", ".4f"),
}
SCORES = {
    "model": ("model", ""),
    "test accuracy": ("accuracy", ".4f"),
    "lowest": ("lowest", ".4f"),
    "highest": ("highest", ".4f"),
}


def choose(given: argparse.Namespace) -> None:
    rows = []
    recipe = nw.load_recipe(READY)
    for change, settings in CHANGES.items():
        accuracies, losses = [], []
        for seed in range(given.seeds):
            history = nw.fit(recipe, seed=seed, save=False, quiet=True, **settings).history
            accuracies.append(max(history.series("val/accuracy")))
            losses.append(min(history.series("val/loss")))
        rows.append({**spread_of(accuracies), "change": change, "loss": mean(losses)})
        print(rows[-1], flush=True)  # it takes long: what is known, is told
    show(rows, CHOICE, title=f"validation rows, {given.seeds} seeds", as_json=given.json)


def right_rows(run: nw.Run) -> np.ndarray:
    """Which test rows are right (N,)."""
    test = run.data.test
    assert test is not None
    run.model.eval()
    with torch.no_grad():
        said = run.model(test.inputs.to(device_of(run.model))).argmax(dim=1).cpu()
    return (said == test.targets.flatten()).double().numpy()


def measure(given: argparse.Namespace) -> None:
    recipe, seeds = nw.load_recipe(READY), range(given.seeds)
    quiet = {"save": False, "quiet": True}
    entries = {
        **{
            name: lambda seed, model=model, settings=settings: nw.fit(
                model, "sst2", seed=seed, **settings, **quiet
            )
            for name, (model, settings) in OTHERS.items()
        },
        "text CNN": lambda seed: nw.fit(recipe, seed=seed, **quiet),
    }
    if given.vectors:
        entries["text CNN, from vectors"] = lambda seed: nw.fit(
            recipe, seed=seed, embeddings=given.vectors, **quiet
        )
    right, rows = {}, []
    for name, learn in entries.items():
        right[name] = np.stack([right_rows(learn(seed)) for seed in seeds])  # (S, N)
        rows.append({**spread_of(right[name].mean(axis=1).tolist()), "model": name})
        print(rows[-1], flush=True)
    show(rows, SCORES, title=f"test rows, {given.seeds} seeds", as_json=given.json)
    if given.vectors:
        gains = 100 * (right["text CNN, from vectors"] - right["text CNN"])
        low, high = interval(gains)
        print(f"gain of the vectors: {gains.mean():.2f} points ({low:.2f} to {high:.2f})")


def interval(gains: np.ndarray) -> tuple[float, float]:
    """Of the mean gain (S, N), by drawing seeds and rows again: 95 %."""
    rng = np.random.default_rng(0)
    seeds, rows = gains.shape
    means = [
        gains[rng.integers(seeds, size=seeds)].mean(axis=0)[rng.integers(rows, size=rows)].mean()
        for _ in range(DRAWS)
    ]
    low, high = np.quantile(means, (0.025, 0.975)).tolist()
    return low, high


def spread_of(values: list[float]) -> dict[str, float]:
    return {"accuracy": mean(values), "lowest": min(values), "highest": max(values)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--choose", action="store_true")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--vectors", default="")
    add_json_option(options)
    given = options.parse_args()
    (choose if given.choose else measure)(given)


if __name__ == "__main__":
    main()
