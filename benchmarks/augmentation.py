"""How fast a batch of images is augmented, beside torchvision.transforms.v2.

Measured: one batch of random float images, in memory (on the accelerator where there is one), to
one augmented batch there. netwright draws numbers of its own for every image, from a generator that
is seeded for the batch. torchvision draws once a call, so it is measured twice:

    loop    one call an image, then a stack: the same kind of result
    batch   one call for the whole batch: quicker, but all images are changed alike

In each round all sides take their turn, in an order drawn anew; the first round is thrown away. A
turn is as many calls as take a twentieth of a second, and the accelerator is waited for at its end.

    ratio = median over rounds of (wall seconds of torchvision / wall seconds of netwright)

`copies` is netwright's time over that of copying the batch once, which is the least that any change
can take. By their nature six single changes cannot be faster than v2's whole batch: flip, crop,
brightness, contrast, noise and cutout are one or two passes over the memory on either side (and a
flip of torchvision's batch does nothing half of the time). What counts there is the pipeline, in
which netwright reads the images fewer times.
torchvision stays out of netwright's own environment; where it is absent its columns stay empty.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from reporting import add_json_option, measure_box, quartiles, show, spread

SIZES = {"32": (512, 3, 32, 32), "224": (64, 3, 224, 224)}
TURN_S = 0.05
MOST_CALLS = 200
CLASSES = 10
COLUMNS = {
    "augmentation": ("name", ""),
    "netwright ms": ("ms", ".3f"),
    "copies": ("copies", ".1f"),
    "v2 loop ms": ("loop_ms", ".2f"),
    "ratio to loop": ("loop_ratio", ".1f"),
    "v2 batch ms": ("batch_ms", ".3f"),
    "ratio to batch": ("batch_ratio", ".2f"),
    "quartiles": ("spread", ""),
    "remarks": ("remarks", ""),
}
PIPELINE = ("crop=4", "flip", "colour-jitter=0.4", "cutout=8")
WARPS = ("crop=4", "flip", "rotation=10", "zoom=0.2")
NAMED = {" + ".join(text.partition("=")[0] for text in specs): specs for specs in (PIPELINE, WARPS)}
Call = Callable[[], Any]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=7, help="counted rounds (7)")
    options.add_argument("--size", choices=list(SIZES), help="of the images; both unless told")
    options.add_argument("--device", help="cpu or cuda; all there are unless told")
    options.add_argument("--threads", type=int, help="of the CPU; all unless told")
    add_json_option(options)
    return options


def peer_transform(specs: tuple[str, ...], side: int) -> Any:
    """The transform of torchvision that does most nearly the same."""
    from torchvision.transforms import InterpolationMode, v2

    between = {"interpolation": InterpolationMode.BILINEAR}

    def jitter(s: float) -> Any:
        return v2.ColorJitter(brightness=s, contrast=s, saturation=s, hue=s / 4)

    def erase(pixels: float) -> Any:
        share = (pixels / side) ** 2
        return v2.RandomErasing(p=1, scale=(share, share), ratio=(1, 1))

    makers: dict[str, Callable[[float], Any]] = {
        "flip": v2.RandomHorizontalFlip,
        "crop": lambda s: v2.RandomCrop(side, padding=int(s)),
        "rotation": lambda s: v2.RandomRotation(s, **between),
        "zoom": lambda s: v2.RandomAffine(0, scale=(1 - s, 1 + s), **between),
        "brightness": lambda s: v2.ColorJitter(brightness=s),
        "contrast": lambda s: v2.ColorJitter(contrast=s),
        "colour-jitter": jitter,
        "noise": lambda s: v2.GaussianNoise(sigma=s),
        "cutout": erase,
        "mixup": lambda s: v2.MixUp(alpha=s, num_classes=CLASSES),
    }
    steps = []
    for text in specs:
        name, _, strength = text.partition("=")
        steps.append(makers[name](float(strength or _default(name))))
    return v2.Compose(steps)


def _default(name: str) -> float:
    from netwright.data.augment import AUGMENTATIONS

    return AUGMENTATIONS.load(name).strength


def sides(specs: tuple[str, ...], images: Any) -> tuple[dict[str, Call], str]:
    """The calls that are timed, and what a reader must know."""
    import torch

    from netwright.data.augment import parse_augmentations
    from netwright.data.augment.scratch import Scratch
    from netwright.data.loading.loader import Batch
    from netwright.data.spec import DataSpec

    shape = tuple(images.shape)
    spec = DataSpec(inputs="image", input_shape=shape[1:], target="class", num_outputs=CLASSES)
    pipeline, scratch = parse_augmentations(specs, spec), Scratch()  # as a training run has it
    rows = torch.arange(shape[0], device=images.device)
    labels = rows % CLASSES
    batch = Batch(images, labels, None, rows)
    calls: dict[str, Call] = {
        "ours": lambda: pipeline(batch, 0, 0, random.getrandbits(30), scratch),
        "copy": images.clone,
    }
    try:
        transform = peer_transform(specs, shape[2])
    except ImportError:
        return calls, "torchvision is not installed"
    if specs[0].startswith("mixup"):
        return {**calls, "batch": lambda: transform(images, labels)}, "an image has no partner"
    calls["batch"] = lambda: transform(images)
    calls["loop"] = lambda: torch.stack([transform(image) for image in images])
    return calls, ""


def turn(call: Call, count: int, wait: Call) -> float:
    """Seconds a call, over several."""
    wait()
    start = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - start) / count


def fight(name: str, specs: tuple[str, ...], images: Any, rounds: int) -> dict[str, Any]:
    """All sides in turn; the row of the table."""
    import torch

    wait = torch.cuda.synchronize if images.is_cuda else (lambda: None)
    calls, remarks = sides(specs, images)
    for call in calls.values():
        call()  # loads kernels, and is not counted
    once = {side: turn(call, 1, wait) for side, call in calls.items()}
    counts = {side: max(1, min(MOST_CALLS, int(TURN_S / once[side]))) for side in calls}
    order = random.Random(0)
    taken: dict[str, list[float]] = {side: [] for side in calls}
    for number in range(rounds + 1):
        for side in order.sample(list(calls), len(calls)):
            seconds = turn(calls[side], counts[side], wait)
            if number:
                taken[side].append(seconds)
    return summary(name, taken, remarks)


def summary(name: str, taken: dict[str, list[float]], remarks: str) -> dict[str, Any]:
    ours = taken["ours"]
    row: dict[str, Any] = {
        "name": name,
        "ms": 1000 * statistics.median(ours),
        "copies": statistics.median(ours) / statistics.median(taken["copy"]),
        "remarks": remarks,
        "rounds": len(ours),
    }
    for side in ("loop", "batch"):
        if side in taken:
            ratios = [there / here for here, there in zip(ours, taken[side], strict=True)]
            low, row[f"{side}_ratio"], high = quartiles(ratios)
            row[f"{side}_ms"] = 1000 * statistics.median(taken[side])
            row["spread"] = spread(low, high, ".2f")  # the batch's, which comes last
    return row


def main() -> None:
    options = parser().parse_args()
    import torch

    from netwright.data.augment import AUGMENTATIONS

    threads = options.threads or torch.get_num_threads()
    box = measure_box(threads)
    random.seed(0)
    devices = [options.device] if options.device else ["cpu"]
    if not options.device and torch.cuda.is_available():
        devices.append("cuda")
    contests = {**{name: (name,) for name in AUGMENTATIONS}, **NAMED}
    for device in devices:
        for size in [options.size] if options.size else list(SIZES):
            images = torch.rand(SIZES[size], device=device)
            place = {"device": device, "shape": list(images.shape), "box": box}
            rows = [
                {**fight(name, specs, images, options.rounds), **place}
                for name, specs in contests.items()
            ]
            title = f"{' x '.join(map(str, images.shape))} on {device}, {threads} thread(s)"
            show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
