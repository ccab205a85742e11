"""Ways to learn from the same images: netwright's, and loops that people write themselves.

Shapes: N images, B batch, I/J height/width.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from netwright.data.dataset import Data
from netwright.data.images.encoder import ImageEncoder
from netwright.data.pixels import PixelSplit
from netwright.layers.convolution import fused_norm
from netwright.models.catalog import MODELS
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext

CLASSES = 10
MEAN, SCALE = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BORDER = 4
GATE = 1024  # images whose loss says whether something was learned
DECAY = 5e-4


class Setting(NamedTuple):
    """Pixels of a side, images a step, steps of a pass, passes of a turn, learning rate."""

    side: int
    batch_size: int
    steps: int
    passes: int = 1
    lr: float = 0.05


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is learned, and with which first weights.

    Args:
        model: its name.
        network: a copy is what a contestant trains.
        pixels: images (N, 3, I, J), bytes on the device.
        labels: classes (N,).
        setting: batches, passes and rate.
        workers: processes of the dataloader.
    """

    model: str
    network: nn.Module
    pixels: Tensor
    labels: Tensor
    setting: Setting
    workers: int

    @property
    def batch_size(self) -> int:
        return self.setting.batch_size

    @property
    def device(self) -> torch.device:
        return self.pixels.device

    @property
    def side(self) -> int:
        return self.pixels.shape[3]

    def loss(self, forward: Callable[[Tensor], Tensor], images: Tensor, labels: Tensor) -> Tensor:
        """Of a batch; on CUDA in bfloat16."""
        on_cuda = self.pixels.is_cuda
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=on_cuda):
            return F.cross_entropy(forward(images), labels)

    def loss_after(self, network: nn.Module) -> float:
        """Of some images, by their own statistics: those that batch norm keeps lag behind."""
        some = slice(GATE)
        with torch.no_grad(), plain_layers():
            images = scaling(self.device)(self.pixels[some])
            return self.loss(network.train(), images, self.labels[some]).item()


def pose(model: str, setting: Setting, device: str, workers: int) -> Problem:
    """Draw images that can be told apart, and first weights."""
    torch.manual_seed(0)
    side, count = setting.side, setting.batch_size * setting.steps
    labels = torch.arange(count, device=device) % CLASSES
    colours = torch.randint(0, 128, (CLASSES, 3, 1, 1), dtype=torch.uint8, device=device)
    noise = torch.randint(0, 128, (count, 3, side, side), dtype=torch.uint8, device=device)
    kind = MODELS.load(model)
    return Problem(
        model=model,
        network=kind.build(kind.settings(), encoder(side).spec).to(device),
        pixels=noise.add_(colours[labels]),
        labels=labels,
        setting=setting,
        workers=workers,
    )


def encoder(side: int) -> ImageEncoder:
    return ImageEncoder(
        input_shape=(3, side, side),
        mode="RGB",
        target="class",
        num_outputs=CLASSES,
        class_names=tuple(str(number) for number in range(CLASSES)),
        mean=MEAN,
        scale=SCALE,
    )


class Turn(NamedTuple):
    """A contestant that is ready.

    Args:
        train: all passes over the images, from the first weights on; gives seconds off the clock.
        network: what it trains.
    """

    train: Callable[[], float]
    network: nn.Module


def shift_and_mirror(pixels: Tensor) -> Tensor:
    """Each image by numbers of its own (B, 3, I, J), read once; its channels lie together then."""
    device, (count, _, tall, wide) = pixels.device, pixels.shape
    down, right = torch.randint(-BORDER, BORDER + 1, (2, count, 1), device=device)
    rows = (torch.arange(tall, device=device) + down).clamp(0, tall - 1)  # (B, I)
    columns = (torch.arange(wide, device=device) + right).clamp(0, wide - 1)  # (B, J)
    is_mirrored = torch.rand(count, 1, device=device) < 0.5
    columns = torch.where(is_mirrored, columns.flip(1), columns)
    images = torch.arange(count, device=device)
    found = pixels[images[:, None, None], :, rows[:, :, None], columns[:, None]]  # (B, I, J, 3)
    return found.permute(0, 3, 1, 2)


def scaling(device: torch.device) -> Callable[[Tensor], Tensor]:
    """Bytes (..., 3, I, J) -> floats."""
    mean, scale = torch.tensor([MEAN, SCALE], device=device)[..., None, None]
    offset, factor = -mean / scale, 1 / (255 * scale)
    return lambda pixels: torch.addcmul(offset, pixels, factor)


def v2_changes(side: int) -> Callable[[Tensor], Tensor]:
    from torchvision.transforms import v2

    return v2.Compose([v2.RandomCrop(side, padding=BORDER), v2.RandomHorizontalFlip()])


def torchvision_network(problem: Problem) -> nn.Module:
    import torchvision

    if problem.model not in torchvision.models.list_models():
        raise ImportError(f"torchvision has no {problem.model}")
    network: nn.Module = torchvision.models.get_model(problem.model, num_classes=CLASSES)
    network.load_state_dict(problem.network.state_dict())  # names and shapes are the same
    return network


@contextmanager
def plain_layers() -> Iterator[None]:
    """Torch's layers one by one, as they are in a network that people write."""
    kept, fused_norm.DEVICES = fused_norm.DEVICES, ()
    try:
        yield
    finally:
        fused_norm.DEVICES = kept


def trained_by_hand(
    problem: Problem,
    batches: Callable[[], Iterable[tuple[Tensor, Tensor]]],
    *,
    network: nn.Module | None = None,
    compiles: bool = False,
) -> Turn:
    """The loop that people write."""
    network = copy.deepcopy(problem.network) if network is None else network.to(problem.device)
    network.to(memory_format=torch.channels_last)
    forward = torch.compile(network) if compiles else network
    first = copy.deepcopy(network.state_dict())

    def train() -> float:
        network.load_state_dict(first)
        network.train()
        optimizer = torch.optim.SGD(
            network.parameters(),
            lr=problem.setting.lr,
            momentum=0.9,
            nesterov=True,
            weight_decay=DECAY,
            fused=True,
        )
        with plain_layers():
            for _ in range(problem.setting.passes):
                for images, labels in batches():
                    loss = problem.loss(forward, images, labels)
                    loss.backward()
                    optimizer.step()
                    optimizer.zero_grad()
        return 0.0

    return Turn(train, network)


def by_hand(
    problem: Problem,
    *,
    changes: Callable[[Tensor], Tensor] = shift_and_mirror,
    network: nn.Module | None = None,
    compiles: bool = False,
) -> Turn:
    """Bytes on the device: a permutation, one indexing a batch, changes, floats."""
    scaled = scaling(problem.device)

    def batches() -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.randperm(len(problem.pixels), device=problem.device)
        for rows in order.split(problem.batch_size):
            yield scaled(changes(problem.pixels[rows])), problem.labels[rows]

    return trained_by_hand(problem, batches, network=network, compiles=compiles)


def with_torchvision(problem: Problem) -> Turn:
    return by_hand(problem, network=torchvision_network(problem))


def with_v2(problem: Problem) -> Turn:
    return by_hand(problem, changes=v2_changes(problem.side))


class Images(Dataset):
    """One image at a time, changed and scaled."""

    def __init__(self, pixels: Tensor, labels: Tensor) -> None:
        self.pixels, self.labels, self.scaled = pixels, labels, scaling(pixels.device)
        try:
            self.changes = v2_changes(pixels.shape[3])
        except ImportError:
            self.changes = lambda image: shift_and_mirror(image[None])[0]

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor]:
        return self.scaled(self.changes(self.pixels[row])), self.labels[row]


def dataloader(problem: Problem) -> Turn:
    """What tutorials show."""
    loader = DataLoader(
        Images(problem.pixels.cpu(), problem.labels.cpu()),
        batch_size=problem.batch_size,
        shuffle=True,
        num_workers=problem.workers,
        pin_memory=problem.pixels.is_cuda,
        persistent_workers=problem.workers > 0,
    )

    def batches() -> Iterator[tuple[Tensor, Tensor]]:
        to = partial(Tensor.to, device=problem.device, non_blocking=True)
        for images, labels in loader:
            yield to(images, memory_format=torch.channels_last), to(labels)

    return trained_by_hand(problem, batches)


def netwright(problem: Problem, *, compiles: bool = False) -> Turn:
    """What `fit` does between loading the data and measuring the result, kept in memory."""
    network, images = copy.deepcopy(problem.network), encoder(problem.side)
    split = PixelSplit(pixels=problem.pixels, scaling=images.scaling, targets=problem.labels)
    prepared = prepare(
        network,
        Data(name="images", spec=images.spec, train=split, preprocessor=images),
        epochs=problem.setting.passes,
        batch_size=problem.batch_size,
        lr=problem.setting.lr,
        weight_decay=DECAY,
        optimizer="nesterov",
        augment=(f"crop={BORDER}", "flip"),
        precision="bf16-mixed" if problem.pixels.is_cuda else "fp32",
        channels_last=True,
        compile=compiles,
        device=str(problem.device),
    )
    first = copy.deepcopy(network.state_dict())

    def train() -> float:
        network.load_state_dict(first)
        return gradient_fit(prepared, RunContext()).compile_seconds

    return Turn(train, network)
