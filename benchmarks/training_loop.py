"""How much a training loop costs beside one written by hand, by many libraries.

Measured: the MLP 784-256-128-10 (ReLU), batch 128, Adam at 1e-3, cross-entropy, samples shuffled
each epoch, float32 tensors in memory (MNIST, or noise of its shape). Contestants train in turn in
one process; a round lets each train once from the same first weights, in an order drawn anew; the
first round is thrown away. The clock covers the one call that trains, in CPU-seconds of the process
with all its threads, and in wall seconds.

    ratio = median over rounds of (CPU-seconds by hand / CPU-seconds of the contestant)

1.00 is as fast as by hand, 0.50 takes twice as long. The loss on the training data afterwards is
the gate: who is fast must also have trained. Each peer runs at its fastest fair setting, and once
more with its defaults on. Four tables with equal flags: Adam's foreach and fused kernels, with
torch's default flags and with oneDNN off (on some arm64 machines small layers are faster without
it). A fifth is out of the box: nobody says how Adam steps, and netwright chooses that and oneDNN.

A run costs something once, whatever its length: a fingerprint of the data, the last checkpoint, the
first looks of the doctor. One epoch (the default) shows that at its worst, and `--epochs 10` what
is left of it in a run of seconds.

All five with all contestants take about 25 minutes on two cores; `--only` and `--flags` take parts.
"""

import argparse
import contextlib
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

from environment import enter_bench_environment
from reporting import add_json_option, measure_box, show

COLUMNS = {
    "contestant": ("name", ""),
    "samples/s": ("samples_per_s", ",.0f"),
    "per CPU-s": ("samples_per_cpu_s", ",.0f"),
    "ratio": ("ratio", ".3f"),
    "quartiles": ("spread", ""),
    "by wall": ("wall_ratio", ".3f"),
    "train loss": ("train_loss", ".4f"),
    "remarks": ("remarks", ""),
}
FLAGS = ["default", "onednn-off"]
KERNELS = ["foreach", "fused"]
OUT_OF_THE_BOX = ("default", "")


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=15, help="counted rounds (15)")
    options.add_argument("--samples", type=int, default=19_200, help="samples an epoch (19200)")
    options.add_argument("--epochs", type=int, default=1, help="passes over the samples (1)")
    options.add_argument("--threads", type=int, default=2, help="threads of all (2)")
    options.add_argument("--only", help="contestants to run beside by-hand: a,b")
    options.add_argument("--flags", choices=FLAGS, help="torch's flags; both unless told")
    options.add_argument("--optimizer", choices=KERNELS, help="Adam's kernel; both unless told")
    options.add_argument("--out-of-the-box", action="store_true", help="the fifth table alone")
    options.add_argument("--list", action="store_true", help="print the contestants' names")
    add_json_option(options)
    return options


def load_samples(samples: int) -> tuple[Any, Any, str]:
    from mnist import load_mnist, mnist_folder, noise_like_mnist

    folder = mnist_folder()
    if folder is None:
        return *noise_like_mnist(samples), "noise (NETWRIGHT_DATA has no MNIST)"
    inputs, labels = load_mnist(folder, "train")
    return inputs[:samples].clone(), labels[:samples].clone(), "MNIST"


def tables(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The flags and Adam's kernel of each table that is asked for."""
    if options.out_of_the_box:
        return [OUT_OF_THE_BOX]
    flags = [options.flags] if options.flags else FLAGS
    kernels = [options.optimizer] if options.optimizer else KERNELS
    is_whole = not (options.flags or options.optimizer)
    return [*itertools.product(flags, kernels), *([OUT_OF_THE_BOX] if is_whole else [])]


@contextlib.contextmanager
def onednn(is_on: bool) -> Iterator[None]:
    """Torch's flag for oneDNN; setting it warns of the TF32 of graphics cards."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.backends.mkldnn.flags(enabled=is_on):
            yield


def remarks(row: dict[str, Any], own_adam: bool, kernel: str) -> str:
    parts = [row.pop("note")]
    if own_adam:
        parts.append(f"own Adam, {kernel} cannot be set" if kernel else "own Adam")
    if row.get("trained") is False:
        parts.append("DID NOT TRAIN as the others did")
    return "; ".join(filter(None, parts))


def main() -> None:
    options = parser().parse_args()
    enter_bench_environment()

    from contest import YARDSTICK, Problem, run_contest, summary
    from peers.catalog import CONTESTANTS

    names = [contestant.name for contestant in CONTESTANTS]
    if options.list:
        print("\n".join(names))
        return
    wanted = {YARDSTICK, *(options.only.split(",") if options.only else names)}
    if unknown := wanted - set(names):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    contestants = [contestant for contestant in CONTESTANTS if contestant.name in wanted]

    inputs, labels, source = load_samples(options.samples)
    box = measure_box(options.threads)
    if not options.json:
        limits = f"{box['matmul_gflop_per_s']:.0f} GFLOP/s, copies {box['copy_gb_per_s']:.1f} GB/s"
        print(f"{source}, {len(inputs)} samples, epochs: {options.epochs}, {options.rounds} rounds")
        print(f"torch {box['torch']}, {options.threads} threads of {box['machine']}: {limits}")
    for flags, kernel in tables(options):
        problem = Problem(inputs=inputs, labels=labels, kernel=kernel, epochs=options.epochs)
        with onednn(flags == "default"):
            records = run_contest(
                contestants, problem, rounds=options.rounds, threads=options.threads
            )
        rows = []
        for contestant in contestants:
            row = summary(contestant, records, len(inputs) * options.epochs)
            row["remarks"] = remarks(row, contestant.own_adam, kernel)
            place = {"flags": flags, "optimizer": f"adam-{kernel or 'default'}", "data": source}
            rows.append({**row, **place, "box": box})
        title = f"{flags} flags, Adam {kernel}=True" if kernel else "out of the box"
        show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
