"""The text CNN on SST-2: settings chosen by validation rows alone, then seeds on the test rows.

    python benchmarks/sst2_text_cnn.py --seeds 5 --vectors vectors.txt
    python benchmarks/sst2_text_cnn.py --seeds 5 --choose --workers 12

The ready recipe is measured on the test rows, beside a linear model of tf-idf and the bag of
vectors on the same training rows, and with `--vectors` also from the word vectors of a file of as
many features. The gain of those has a bootstrap interval over test rows and seeds, both paired.

`--choose` first trains the ready recipe and changes of it with three seeds each and tells how their
best weights do on the validation rows; the change of the highest mean is then measured in place of
the recipe. On the test rows the others are not told. `--workers` runs are trained side by side,
which a GPU has room for.
"""

import argparse
import multiprocessing
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from statistics import mean
from typing import Any

import numpy as np
import torch
from reporting import add_json_option, show

import netwright as nw
from netwright.core.devices import device_of

READY = "ready/sst2-text-cnn"
SMALL = {"batch_size": 50, "eval_every": 512}
ALONE = {
    "phrases": False,
    "batch_size": 50,
    "epochs": 10,
    "patience": 3,
    "eval_every": None,
    "average": "none",
}
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "batches of 50": SMALL,
    "batches of 50, Adadelta": {**SMALL, "optimizer": "adadelta", "lr": 1.0},
    "rate 0.0005": {"lr": 5e-4},
    "weights not averaged": {"average": "none"},
    "dropout 0.7": {"dropout": 0.7},
    "100 features": {"embedding": 100},
    "widths 2, 3, 4": {"kernels": (2, 3, 4)},
    "labels smoothed by 0.1": {"label_smoothing": 0.1},
    "sentences alone": ALONE,
    "sentences alone, averaged": {**ALONE, "average": "exponential", "average_decay": 0.99},
    "sentences alone, rate 0.0005": {**ALONE, "lr": 5e-4, "epochs": 15},
    "sentences alone, Adadelta": {
        **ALONE,
        "optimizer": "adadelta",
        "lr": 1.0,
        "epochs": 25,
        "patience": 6,
    },
}
OTHERS: Mapping[str, Mapping[str, Any]] = {
    "tf-idf, linear": {"model": "softmax", "inputs": "tf-idf", "epochs": 10},
    "bag of vectors": {
        "model": "bag-of-vectors",
        "min_count": 1,
        "max_length": 60,
        "epochs": 10,
        "patience": 4,
    },
}
TEXT_CNN, FROM_VECTORS = "text CNN", "text CNN, from vectors"
CHOOSING = 3  # seeds
DRAWS = 10_000
SCORES = {
    "model": ("model", ""),
    "accuracy": ("accuracy", ".4f"),
    "lowest": ("lowest", ".4f"),
    "highest": ("highest", ".4f"),
}


@dataclass(frozen=True, kw_only=True)
class Training:
    """One run: the ready recipe with other settings, or, where these name a model, that model."""

    name: str
    settings: Mapping[str, Any]
    seed: int


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Which rows of each part the best weights got right (N,), and the time it took."""

    val: np.ndarray
    test: np.ndarray
    seconds: float


def learn(training: Training) -> Answers:
    begin = time.perf_counter()
    quiet = {"seed": training.seed, "save": False, "quiet": True}
    if "model" in training.settings:
        run = nw.fit(data="sst2", phrases=True, **training.settings, **quiet)
    else:
        run = nw.fit(nw.load_recipe(READY), **training.settings, **quiet)
    val, test = right_rows(run, "val"), right_rows(run)
    return Answers(val=val, test=test, seconds=time.perf_counter() - begin)


def right_rows(run: nw.Run, part: str = "test") -> np.ndarray:
    """Which rows of a part are right (N,)."""
    split = run.data.split(part)
    run.model.eval()
    with torch.no_grad():
        said = run.model(split.inputs.to(device_of(run.model))).argmax(dim=1).cpu()
    return (said == split.targets.flatten()).double().numpy()


def learn_all(
    pool: ProcessPoolExecutor, table: Mapping[str, Mapping[str, Any]], seeds: int, part: str
) -> dict[str, np.ndarray]:
    """Which rows of a part are right, by seeds: (S, N) for each name of the table."""
    trainings = [
        Training(name=name, settings=settings, seed=seed)
        for seed, (name, settings) in product(range(seeds), table.items())
    ]
    futures = {pool.submit(learn, training): training for training in trainings}
    right: dict[tuple[str, int], np.ndarray] = {}
    for future in as_completed(futures):
        training, answers = futures[future], future.result()
        right[training.name, training.seed] = getattr(answers, part)
        print(  # it takes long: what is known, is told
            f"{training.name}, seed {training.seed}: {getattr(answers, part).mean():.4f} of {part} "
            f"in {answers.seconds:.0f} s",
            flush=True,
        )
    return {name: np.stack([right[name, seed] for seed in range(seeds)]) for name in table}


def tell(right: Mapping[str, np.ndarray], title: str, *, as_json: bool) -> None:
    rows = [
        {**spread_of(answers.mean(axis=1).tolist()), "model": name}
        for name, answers in right.items()
    ]
    show(rows, SCORES, title=title, as_json=as_json)


def spread_of(values: list[float]) -> dict[str, float]:
    return {"accuracy": mean(values), "lowest": min(values), "highest": max(values)}


def choose(pool: ProcessPoolExecutor, limit: Mapping[str, Any], *, as_json: bool) -> str:
    """The change that does best on the validation rows."""
    changes = {name: {**settings, **limit} for name, settings in CHANGES.items()}
    right = learn_all(pool, changes, CHOOSING, "val")
    tell(right, f"validation rows, {CHOOSING} seeds", as_json=as_json)
    return max(right, key=lambda name: right[name].mean())


def measure(
    pool: ProcessPoolExecutor, chosen: str, limit: Mapping[str, Any], given: argparse.Namespace
) -> None:
    table = {TEXT_CNN: CHANGES[chosen], **OTHERS}
    if given.vectors:
        table[FROM_VECTORS] = {**CHANGES[chosen], "embeddings": given.vectors}
    table = {name: {**settings, **limit} for name, settings in table.items()}
    right = learn_all(pool, table, given.seeds, "test")
    tell(right, f"test rows, {given.seeds} seeds; {chosen}", as_json=given.json)
    if given.vectors:
        gains = 100 * (right[FROM_VECTORS] - right[TEXT_CNN])
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


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--choose", action="store_true")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--vectors", default="")
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--max-steps", type=int, help="of each training, to try the script")
    add_json_option(options)
    given = options.parse_args()
    limit = {} if given.max_steps is None else {"max_steps": given.max_steps}
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.workers, mp_context=spawning) as pool:
        chosen = choose(pool, limit, as_json=given.json) if given.choose else "as it is"
        measure(pool, chosen, limit, given)


if __name__ == "__main__":
    main()
