"""One batch through the model before anything is written: shapes, sizes, and mistakes by name.

Shapes: B batch.
"""

import copy
import statistics
import time
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from netwright.core.adapted_module import AdaptedModule, module_name
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, NetwrightError, ShapeError
from netwright.core.evaluation import differentiable, evaluating
from netwright.core.outputs import Output, logits_of
from netwright.core.seeding import seeded
from netwright.core.trees import Tree, count_rows, map_tensors, move, shapes_of, tensors_of
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch
from netwright.data.loading.source_loader import SourceLoader
from netwright.data.loading.worker_loader import build_loader
from netwright.data.spec import VARIES, DataSpec
from netwright.losses.set_prediction import check_queries
from netwright.train.tasks.forward_pass import forward_for
from netwright.train.tasks.task import Task
from netwright.train.tasks.unlabelled import Unlabelled

TIMED_STEPS = 5
ONE_NUMBER = "Expected more than 1 value per channel"  # so torch refuses to normalise it


@dataclass(frozen=True, kw_only=True)
class Layer:
    """What one layer did with the batch."""

    path: str
    kind: str
    shape: tuple[int, ...]
    parameters: int


@dataclass(frozen=True, kw_only=True)
class FirstBatch:
    """What the first batch showed.

    Args:
        rows: the size of the batch.
        layers: every layer without children, in the order of use.
        parameters: of the whole model, to be learned or not.
        loss: of the batch, before learning.
    """

    rows: int
    layers: tuple[Layer, ...]
    parameters: int
    loss: float


def try_first_batch(
    model: nn.Module, data: Data, task: Task, rows: int, *, goes_back: bool = False
) -> FirstBatch:
    """Run one batch forward; weights and buffers stay as they were.

    A model that cannot take the data is refused with the layer in which it failed.

    Args:
        model: what is tried.
        data: what it is to learn from.
        task: what it is to learn.
        rows: of the batch; fewer are tried where training never makes the logits of so many.
        goes_back: whether to go back through it as well, as it is not known to have gradients.
    """
    batch = first_batch_of(model, data, rows)
    tried = task.rows_at_once(batch)
    if tried < count_rows(batch.inputs):
        batch = map_tensors(itemgetter(slice(tried)), batch)
    layers: list[Layer] = []
    inside: list[str] = []
    handles = [
        handle
        for path, part in model.named_modules()
        for handle in _watch(path or "model", part, layers, inside)
    ]
    try:
        with evaluating(model):
            loss = _loss(model, batch, task, data, inside)
        layers_shown = tuple(layers)
        _try_training_mode(model, batch, task, data, inside, goes_back=goes_back)
    finally:
        for handle in handles:
            handle.remove()
    return FirstBatch(
        rows=count_rows(batch.inputs),
        layers=layers_shown,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        loss=float(loss.detach()),
    )


def _try_training_mode(
    model: nn.Module, batch: Batch, task: Task, data: Data, inside: list[str], *, goes_back: bool
) -> None:
    """The same once more with dropout and batch statistics at work; buffers are put back."""
    if not model.training and not goes_back:
        return
    before = _copied(model.state_dict())
    modes = [(part, part.training) for part in model.modules()]
    model.train()
    try:
        with torch.set_grad_enabled(goes_back), seeded(0):
            loss = _loss(model, batch, task, data, inside)
            if goes_back:
                _check_gradients(model, loss)
    finally:
        model.load_state_dict(before)
        for part, training in modes:
            part.training = training


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """A state that stays; tensors are copied one by one, in a tenth of the time of `deepcopy`."""
    return {
        name: part.clone() if isinstance(part, Tensor) else copy.deepcopy(part)
        for name, part in state.items()
    }


def _check_gradients(model: nn.Module, loss: Tensor) -> None:
    """Refuse a loss without gradients, and gradients that no step can take."""
    learned = {name: one for name, one in model.named_parameters() if one.requires_grad}
    if not loss.requires_grad:
        raise ConfigError(
            "the loss does not depend on any parameter of the model: look in forward for detach(), "
            "no_grad() and argmax(), and for layers that are not used"
        )
    try:
        gradients = torch.autograd.grad(loss, list(learned.values()), allow_unused=True)
    except Exception as error:  # whatever a user's module raises, it is told as one sentence
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"the gradient of the loss cannot be computed: {reason}") from error
    for name, gradient in zip(learned, gradients, strict=True):
        if gradient is not None and gradient.layout != torch.strided:
            raise ConfigError(
                f"the gradient of {name!r} is sparse, wanted a dense one: build the embedding "
                "without sparse=True"
            )


def time_step(model: nn.Module, data: Data, task: Task, rows: int) -> float:
    """Seconds of one forward and backward pass: the median of a few, after one to warm up."""
    batch = first_batch_of(model, data, rows)
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    forward, seconds = forward_for(model, task), []
    for _ in range(TIMED_STEPS + 1):
        started = time.perf_counter()
        with evaluating(model), differentiable(model):
            _, loss = task.score(forward(task.inputs(batch)), batch)
            torch.autograd.grad(loss, learned, allow_unused=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


def first_batch_of(model: nn.Module, data: Data, rows: int) -> Batch:
    """So many rows, or all, as they stand, on the model's device."""
    train = data.train
    if isinstance(train, SourceSplit):
        if train.kind == "none":  # targets of any form are in no memory
            return _moved(next(SourceLoader(train, learns=False).epoch(0)), model)
        train = train.in_memory()
    loader = build_loader(train, min(rows, len(train)), shuffle=False)
    return _moved(next(loader.epoch(0)), model)


def _moved(batch: Batch, model: nn.Module) -> Batch:
    moved: Batch = map_tensors(lambda tensor: tensor.to(device_of(model)), batch)
    return moved


def _loss(model: nn.Module, batch: Batch, task: Task, data: Data, inside: list[str]) -> Tensor:
    try:
        output: Tensor | Output = model(task.inputs(batch))
    except NetwrightError:
        raise
    except Exception as error:  # whatever a user's module raises, it is told as one sentence
        where = f"layer {inside[-1]!r}" if inside else "the model"
        shape = shapes_of(batch.inputs)
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        hint = _other_dtype(model, batch.inputs)
        raise ShapeError(f"{where} fails on inputs of shape {shape}: {reason}{hint}") from error
    if not isinstance(output, Tensor | Output):
        raise ShapeError(
            f"the model must return a tensor or an Output, got {type(output).__name__}"
        )
    logits = logits_of(output)
    if logits.is_complex():
        raise ShapeError(
            f"the model's output must be real-valued, got {logits.dtype}: return its real part or "
            f"its magnitude, output.abs()"
        )
    wanted = (count_rows(batch.inputs), *_output_shape(data.spec, batch, logits))
    if data.spec.target != "none" and tuple(logits.shape) != wanted:
        raise ShapeError(
            f"the model's output must have shape {wanted} for the {data.spec.num_outputs} "
            f"{_outputs_in_words(data)} of {data.name}, got {tuple(logits.shape)}"
            f"{_other_kind(data.spec, tuple(logits.shape), wanted)}"
        )
    _check_queries(data, logits)
    if isinstance(task, Unlabelled) and task.own_loss is None:
        return logits.new_zeros(())  # a learning rule has a loss of its own
    try:
        task.check_logits(logits)
        return task.loss(output, batch)
    except NetwrightError:
        raise
    except Exception as error:  # an output of a dtype that no loss takes
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ShapeError(
            f"the loss of the model's output fails: {reason}{_given(model, output, task)}"
        ) from error


def _output_shape(spec: DataSpec, batch: Batch, logits: Tensor) -> tuple[int, ...]:
    """What a model must say of each example of this batch, whose length may not be that of all.

    How many boxes are said is up to the model.
    """
    length, *rest = spec.output_shape
    given = logits if spec.target == "boxes" and logits.ndim > 1 else batch.targets
    return (given.shape[1] if length == VARIES else length, *rest)


def _check_queries(data: Data, logits: Tensor) -> None:
    """Refuse a model that can say fewer objects of an image than some image of the data has."""
    if data.spec.target == "boxes":
        for name, split in data.splits():
            check_queries(logits.shape[1], split.targets, f"the {name} split of {data.name}")


def _other_kind(spec: DataSpec, got: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """What to do where labels (B, T) may be classes of tokens (B, T, K); else nothing."""
    if spec.inputs != "parts" or spec.target != "labels" or got[:-1] != wanted:
        return ""
    return ": give kind='tags' for one target a token, kind='tokens' for the next token"


def _given(model: nn.Module, output: Tensor | Output, task: Task) -> str:
    """What a loss of the user's own was given, where the model returns several parts."""
    if isinstance(output, Output) and output.whole is not None:
        return (
            f"; it is given all that the model returns, a {type(output.whole).__name__}: name the "
            f"part that it wants, as in output='logits'"
        )
    part = model.part if isinstance(model, AdaptedModule) else None
    if part is None or task.own_loss is None:
        return ""
    return (
        f"; it is given the part {part!r} alone: remove output={part!r}, and it is given all that "
        f"the model returns"
    )


def _other_dtype(model: nn.Module, inputs: Tree) -> str:
    """What to do where weights and inputs are numbers of different kinds; else nothing."""
    kinds = {weight.dtype for weight in model.parameters() if weight.is_floating_point()}
    given = {part.dtype for part in tensors_of(inputs) if part.is_floating_point()}
    if len(given) != 1 or kinds <= given:
        return ""
    (dtype,) = given
    return f"; inputs are {dtype}: call model.to({dtype}), or convert them in forward"


def _outputs_in_words(data: Data) -> str:
    words = {"class": "classes", "mask": "classes", "labels": "labels"}
    words |= {"tokens": "tokens", "tags": "tags"}
    return words.get(data.spec.target, "outputs")


def _watch(path: str, part: nn.Module, layers: list[Layer], inside: list[str]) -> list[Any]:
    """Note which layer is at work, and what it put out."""

    def enter(module: nn.Module, given: Any) -> None:
        inside.append(path)

    def leave(module: nn.Module, given: Any, output: Any) -> None:
        inside.pop()
        shapes = [tuple(tensor.shape) for tensor in tensors_of(output)]
        if not list(module.children()) and shapes:
            count = sum(parameter.numel() for parameter in module.parameters())
            kind = module_name(module)
            layers.append(Layer(path=path, kind=kind, shape=shapes[0], parameters=count))

    return [part.register_forward_pre_hook(enter), part.register_forward_hook(leave)]


def check_last_batch(module: nn.Module, data: Data, size: int) -> None:
    """Refuse a batch of one row where batch norm would have to find its spread in one number."""
    rows = data.train.total
    if isinstance(data.train, SourceSplit):
        rows = data.train.source.rows or size
    if (size > 1 and rows % size != 1) or _can_normalise_one(module, data.train):
        return
    if rows == 1:
        raise ConfigError("batch norm cannot normalise one sample: use at least 2 training rows")
    raise ConfigError(
        f"batch norm cannot normalise one row: batch_size {size} leaves a last batch of one of "
        f"the {rows} training rows; use {_without_single_row(rows, size)}"
    )


def normalisable_size(module: nn.Module, data: Data, size: int) -> int:
    """A batch size that nobody asked for, or one near it that leaves no batch of one row.

    It is changed only where batch norm would have to find its spread in one number.
    """
    rows = data.train.total
    if rows < 2 or (size > 1 and rows % size != 1) or _can_normalise_one(module, data.train):
        return size
    return _without_single_row(rows, size)


def _without_single_row(rows: int, size: int) -> int:
    return next(other for other in range(max(2, size - 1), rows + 1) if rows % other != 1)


def _can_normalise_one(module: nn.Module, train: Split) -> bool:
    """Whether its batch norms have more than one number a channel, as they do in larger maps."""
    if not any(isinstance(part, _BatchNorm) for part in module.modules()):
        return True
    was_training, before = module.training, _copied(module.state_dict())
    row = train.read(torch.zeros(1, dtype=torch.int64, device=train.targets.device))
    try:
        with torch.no_grad(), seeded(0):
            module.train()(move(row, device_of(module)))
    except Exception as error:  # what else is wrong with it, the first batch tells
        return not str(error).startswith(ONE_NUMBER)
    finally:
        module.load_state_dict(before)
        module.train(was_training)
    return True
