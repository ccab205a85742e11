"""Transformers beside recurrent networks on `reverse`: strings of letters, said backwards.

    python benchmarks/reverse_contest.py --seeds 2

All learn from the same strings for as many epochs in batches of 128, with Adam, a cosine and a
clipped gradient; the transformers warm up. A whole string counts only if each of its letters is
right, where the network goes on from its own letters. Held-out strings alone are counted.

`--small` is a try of a few seconds on a CPU.
"""

import argparse
import time
from typing import Any

import torch
from reporting import add_json_option, show

import netwright as nw

RECURRENT = {"hidden": 256, "lr": 2e-3}
TRANSFORMER = {
    "layers": 2,
    "heads": 4,
    "width": 128,
    "dropout": 0.0,
    "lr": 1e-3,
    "warmup": 300,
}
CONTESTANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "recurrent": ("encoder-decoder", {**RECURRENT, "attention": "none"}),
    "recurrent with attention": ("encoder-decoder", {**RECURRENT, "attention": "luong-general"}),
    "transformer": ("transformer", TRANSFORMER),
    "T5": ("t5", TRANSFORMER),
}
COLUMNS = {
    "network": ("network", ""),
    "seed": ("seed", "d"),
    "weights": ("weights", ",d"),
    "strings right %": ("strings", ".1f"),
    "letters right %": ("letters", ".2f"),
    "seconds": ("seconds", ".0f"),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=1, help="networks of each kind (1)")
    options.add_argument("--epochs", type=int, default=20, help="passes over the strings (20)")
    options.add_argument("--small", action="store_true", help="few strings and updates")
    add_json_option(options)
    return options


def measure(name: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    model, settings = CONTESTANTS[name]
    start = time.perf_counter()
    run = nw.fit(
        model,
        "reverse",
        seed=seed,
        epochs=options.epochs,
        batch_size=128,
        schedule="cosine",
        clip_norm=1.0,
        save=False,
        quiet=True,
        **settings,
        **({"n": 300} if options.small else {}),
    )
    found = run.evaluate()
    return {
        "network": name,
        "seed": seed,
        "weights": sum(weight.numel() for weight in run.model.parameters()),
        "strings": 100 * found["sequence_accuracy"],
        "letters": 100 * found["free_accuracy"],
        "seconds": time.perf_counter() - start,
    }


def main() -> None:
    options = parser().parse_args()
    if options.small:
        options.epochs = 1
    rows = []
    for seed in range(options.seeds):
        for name in CONTESTANTS:
            rows.append(measure(name, seed, options))
            print(rows[-1], flush=True)
    place = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    title = f"reverse, {options.epochs} epochs, {place}"
    show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
