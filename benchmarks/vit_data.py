"""A vision transformer beside a ResNet-20, with 1 % to 100 % of the images of a data set.

    python benchmarks/vit_data.py mnist --shares 1,3,10,30,100 --seeds 2
    python benchmarks/vit_data.py cifar10 --steps 4000

Both are trained for as many updates with each share, batches of 256 (or all images, where these are
fewer), images shifted by up to 4 pixels (CIFAR's mirrored, too), and measured on all test images.
The ResNet has the optimizer of its ready recipe, the ViT AdamW with warm-up and a cosine; neither
was tuned to a share. Every result is printed as soon as it is known. Who is ahead with a share is
told only where all seeds agree.

`--small` is a try of a few seconds on a CPU.
"""

import argparse
import time
from dataclasses import replace
from statistics import mean
from typing import Any

import torch
from reporting import add_json_option, show

import netwright as nw
from netwright.core.seeding import generator

TRAINING: dict[str, dict[str, Any]] = {
    "resnet20": {
        "optimizer": "nesterov",
        "lr": 0.1,
        "weight_decay": 5e-4,
        "schedule": "one-cycle",
        "schedule_options": {"rise": 0.1},
    },
    "vit": {
        "patch": 4,
        "layers": 6,
        "heads": 6,
        "width": 192,
        "pool": "mean",
        "dropout": 0.1,
        "optimizer": "adamw",
        "lr": 1e-3,
        "weight_decay": 0.05,
        "penalize": "weights",
        "schedule": "cosine",
        "clip_norm": 1.0,
    },
}
AUGMENT = {"mnist": ["crop=4"], "fashion-mnist": ["crop=4"], "cifar10": ["crop=4", "flip"]}
COLUMNS = {
    "% of the images": ("share", "d"),
    "images": ("images", ",d"),
    "ResNet-20 %": ("resnet20", ".2f"),
    "ViT %": ("vit", ".2f"),
    "ahead": ("ahead", ""),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("data", choices=list(AUGMENT), help="the images")
    options.add_argument("--shares", default="1,3,10,30,100", help="per cent, with commas")
    options.add_argument("--steps", type=int, default=2000, help="updates of each network (2000)")
    options.add_argument("--seeds", type=int, default=1, help="networks of each kind (1)")
    options.add_argument("--small", action="store_true", help="few updates on the CPU")
    add_json_option(options)
    return options


def accuracy(
    options: argparse.Namespace, model: str, whole: nw.Data, share: int, seed: int
) -> float:
    """Per cent of the test images that are right."""
    count = len(whole.train) * share // 100
    rows = torch.randperm(len(whole.train), generator=generator(seed, "share"))[:count]
    data = replace(whole, train=whole.train.take(rows), val=None)
    batch = min(256, count)
    on_gpu = torch.cuda.is_available() and not options.small
    settings = {**TRAINING[model], "augment": AUGMENT[options.data]}
    run = nw.fit(
        model,
        data,
        seed=seed,
        epochs=options.steps * batch // count + 1,
        max_steps=options.steps,
        batch_size=batch,
        precision="bf16-mixed" if on_gpu else "fp32",
        device="cuda" if on_gpu else "cpu",
        save=False,
        quiet=True,
        **({"warmup": options.steps // 10} if model == "vit" else {}),
        **settings,
    )
    return 100 * run.evaluate()["accuracy"]


def main() -> None:
    options = parser().parse_args()
    whole = nw.data.load(options.data, val_count=0)
    if options.small:
        options.steps, options.shares = 3, "1"
        whole = replace(whole, test=whole.test.take(torch.arange(100)))
    rows = []
    for share in map(int, options.shares.split(",")):
        found: dict[str, list[float]] = {model: [] for model in TRAINING}
        for seed in range(options.seeds):
            for model, own in found.items():
                started = time.perf_counter()
                own.append(accuracy(options, model, whole, share, seed))
                taken = time.perf_counter() - started
                print(
                    f"{share} %, seed {seed}, {model}: {own[-1]:.2f} %, {taken:.0f} s", flush=True
                )
        leads = [one - other for one, other in zip(*found.values(), strict=True)]
        ahead = "ResNet-20" if min(leads) > 0 else "ViT" if max(leads) < 0 else "undecided"
        means = {model: mean(own) for model, own in found.items()}
        images = len(whole.train) * share // 100
        rows.append({"share": share, "images": images, **means, "ahead": ahead})
    place = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    title = f"{options.data}, {options.steps} updates, {options.seeds} seed(s), {place}"
    show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
