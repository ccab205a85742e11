"""Our networks for images beside torchvision's and timm's: same weights, same outputs, same counts.

Not a race but a check; it ends with 1 where something differs. Batch norms get statistics and
weights that do something first, since a network at its start would hide a missing one.

    theirs -> ours   torchvision's weights in our network; the largest difference of an output
    ours -> theirs   the other way round
    timm             timm's weights, through a file and `read_foreign_weights`
    shapes           names and shapes of all weights, and their number

Measured on 2026-11-15 with torch 2.11.0+cu130, torchvision 0.26.0 and timm 1.0.29, on a CPU in
float32 and float64: AlexNet, VGG-16, ResNet-18 and ResNet-50 differ by 0, both ways; of timm's
networks ResNet-18 and ResNet-50 by 0 and VGG-16 by 1.5e-7 (float32; 3.5e-16 in float64). Shapes and
counts of ResNet-34, 101 and 152, of VGG-11, 13 and 19, and of all VGG with batch norm are equal.
The tables in tests/models/vision stand in for this check where torchvision is not installed.
"""

import argparse
import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from reporting import Row, add_json_option, show
from safetensors.torch import save_file
from torch import nn

from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.exchange.foreign_weights import read_foreign_weights

PEERS = ("torchvision", "timm")
SIDE = 224
SPEC = DataSpec(inputs="image", input_shape=(3, SIDE, SIDE), target="class", num_outputs=1000)
TOLERANCE = 1e-5
COLUMNS = {
    "network": ("name", ""),
    "compared": ("compared", ""),
    "size": ("size", "d"),
    "device": ("device", ""),
    "type": ("dtype", ""),
    "weights": ("weights", ",d"),
    "difference": ("difference", ".1e"),
    "equal": ("equal", ""),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_json_option(options)
    return options


def ours(name: str, **settings: Any) -> nn.Module:
    kind = MODELS.load(name)
    return kind.build(kind.settings(**settings), SPEC).eval()


def theirs(name: str) -> nn.Module:
    import torchvision

    network: nn.Module = getattr(torchvision.models, name)().eval()
    return network


def count(network: nn.Module) -> int:
    return sum(weight.numel() for weight in network.parameters())


def stir(network: nn.Module) -> None:
    """Batch norms that do something."""
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            nn.init.uniform_(part.weight, 0.5, 1.0)
            nn.init.normal_(part.bias, std=0.1)
            nn.init.normal_(part.get_buffer("running_mean"), std=0.1)
            nn.init.uniform_(part.get_buffer("running_var"), 0.5, 1.5)


def outputs_row(first: nn.Module, second: nn.Module, size: int, place: Row) -> Row:
    """The largest difference of two networks' outputs on one device, in one type."""
    device, dtype = place["device"], getattr(torch, place["dtype"])
    images = torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(0))
    images = images.to(device, dtype)
    with torch.no_grad():
        difference = (first.to(device, dtype)(images) - second.to(device, dtype)(images)).abs()
    apart = difference.max().item()
    return {"size": size, **place, "difference": apart, "equal": apart < TOLERANCE}


def compare_outputs(first: nn.Module, second: nn.Module, size: int = SIDE) -> Iterator[Row]:
    for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
        for dtype in ("float32", "float64"):
            yield outputs_row(first, second, size, {"device": device, "dtype": dtype})
    for network in (first, second):
        network.cpu().float()


def compare_shapes(mine: nn.Module, other: nn.Module) -> Row:
    """Names and shapes in their order, and the number of weights."""
    layouts = [
        [(name, value.shape) for name, value in network.state_dict().items()]
        for network in (mine, other)
    ]
    equal = layouts[0] == layouts[1] and count(mine) == count(other)
    return {"compared": "shapes", "weights": count(mine), "equal": equal}


def torchvision_both_ways(name: str, size: int = SIDE) -> Iterator[Row]:
    torch.manual_seed(0)
    other, mine = theirs(name), ours(name)
    stir(other)
    yield compare_shapes(mine, other)
    mine.load_state_dict(other.state_dict())
    for row in compare_outputs(other, mine, size):
        yield {"compared": "theirs -> ours", **row}
    torch.manual_seed(1)
    mine = ours(name)
    stir(mine)
    other.load_state_dict(mine.state_dict())
    for row in compare_outputs(other, mine, size):
        yield {"compared": "ours -> theirs", **row}


def timm_through_a_file(name: str, folder: Path) -> Iterator[Row]:
    import timm

    torch.manual_seed(0)
    other, mine = timm.create_model(name, pretrained=False).eval(), ours(name)
    stir(other)
    path = folder / f"{name}.safetensors"
    save_file({key: value.contiguous() for key, value in other.state_dict().items()}, path)
    mine.load_state_dict(read_foreign_weights(path, mine))
    path.unlink()
    for row in compare_outputs(other, mine):
        yield {"compared": "timm", **row}


def shapes_alone(name: str, their_name: str, **settings: Any) -> Row:
    with torch.device("meta"):
        return {"name": their_name, **compare_shapes(ours(name, **settings), theirs(their_name))}


def compare_all() -> Iterator[Row]:
    halvings_that_round_up = ("resnet18", 97)
    pairs = [(name, SIDE) for name in ("alexnet", "vgg16", "resnet18", "resnet50")]
    for name, size in [*pairs, halvings_that_round_up]:
        for row in torchvision_both_ways(name, size):
            yield {"name": name, **row}
    for name in ("resnet34", "resnet101", "resnet152", "vgg11", "vgg13", "vgg19"):
        yield shapes_alone(name, name)
    for depth in (11, 13, 16, 19):
        yield shapes_alone(f"vgg{depth}", f"vgg{depth}_bn", batch_norm=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("resnet18", "resnet50", "vgg16"):
            for row in timm_through_a_file(name, Path(folder)):
                yield {"name": name, **row}


def main() -> int:
    options = parser().parse_args()
    missing = [peer for peer in PEERS if importlib.util.find_spec(peer) is None]
    if missing:
        print(f"nothing is compared: {' and '.join(missing)} not installed")
        return 0
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    rows = list(compare_all())
    show(rows, COLUMNS, title="ours beside torchvision's and timm's", as_json=options.json)
    return 0 if all(row["equal"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
