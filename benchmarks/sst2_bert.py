"""What pre-training is worth on SST-2: the mini BERT from WikiText-2 beside the same from scratch.

    python benchmarks/sst2_bert.py --seeds 3
    python benchmarks/sst2_bert.py --seeds 3 --run runs/bert-mini-masked-wikitext-2-001

`ready/bert-mini-wikitext` is pre-trained, unless `--run` has it, and `ready/sst2-bert` is trained
from it and from scratch, with the same word pieces, seed by seed; each result is printed as soon as
it is known. The gain on the test rows has a bootstrap interval over rows and seeds, both paired.
There is one pre-trained network: the interval says nothing of others.

`--small` is a try of about a minute on a CPU, whose numbers mean nothing.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from reporting import add_json_option, show
from sst2_text_cnn import SCORES, interval, right_rows, spread_of

import netwright as nw

PRETRAINING, FINE_TUNING = "ready/bert-mini-wikitext", "ready/sst2-bert"
SMALL = {
    "model.layers": 1,
    "model.width": 32,
    "model.heads": 2,
    "train.precision": "fp32",
    "train.max_steps": 20,
    "train.warmup": 5,
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=3, help="of fine-tuning (3)")
    options.add_argument("--run", type=Path, help="a pre-trained run")
    options.add_argument("--epochs", type=int, help="of pre-training (the recipe's)")
    options.add_argument("--batch-size", type=int, help="of pre-training (the recipe's)")
    options.add_argument("--max-time", type=float, help="seconds of pre-training, at most")
    options.add_argument("--small", action="store_true", help="a small network, few updates")
    add_json_option(options)
    return options


def pretrain(options: argparse.Namespace, folder: Path) -> Path:
    """The run to begin with."""
    asked = {
        "train.epochs": options.epochs,
        "train.batch_size": options.batch_size,
        "train.max_time": options.max_time,
    }
    settings: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if options.small:
        settings |= {**SMALL, "data.vocab_size": 300}
    started = time.perf_counter()
    run = nw.fit(nw.load_recipe(PRETRAINING), out=folder / "pretrained", quiet=True, **settings)
    loss = run.history.series("val/loss")[-1]
    taken = time.perf_counter() - started
    print(f"pre-trained in {taken:.0f} s, loss of the validation part {loss:.3f}", flush=True)
    return folder / "pretrained"


def main() -> None:
    options = parser().parse_args()
    with tempfile.TemporaryDirectory() as place:
        first = options.run or pretrain(options, Path(place))
        common: dict[str, Any] = {"save": False, "quiet": True, **(SMALL if options.small else {})}
        beginnings: dict[str, dict[str, Any]] = {
            "from scratch": {"data.vocabulary": str(first)},
            "pre-trained": {"start_from": first},
        }
        right: dict[str, list[np.ndarray]] = {name: [] for name in beginnings}
        recipe = nw.load_recipe(FINE_TUNING)
        for seed in range(options.seeds):
            for name, settings in beginnings.items():
                started = time.perf_counter()
                rows = right_rows(nw.fit(recipe, seed=seed, **settings, **common))
                right[name].append(rows)
                told = f"{100 * rows.mean():.2f} %, {time.perf_counter() - started:.0f} s"
                print(f"seed {seed}, {name}: {told}", flush=True)
    rows = [
        {**spread_of([float(one.mean()) for one in found]), "model": name}
        for name, found in right.items()
    ]
    show(rows, SCORES, title=f"SST-2, test rows, {options.seeds} seeds", as_json=options.json)
    gains = 100 * (np.stack(right["pre-trained"]) - np.stack(right["from scratch"]))
    low, high = interval(gains)
    print(f"gain of pre-training: {gains.mean():.2f} points ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
