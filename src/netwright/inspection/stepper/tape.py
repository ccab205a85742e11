"""The tape: what a model computed, one operation after the other, to be run again in parts.

    v_k = f_k(v_i, v_j, ...),    i, j < k

Operations are those of a textbook (linear, tanh, softmax), as torch's functions are called, and not
the kernels below them. Recorded is what the gradient flows through; what is constant is a part of
f_k. A tensor that is changed in place is a new value from then on; one that was changed behind its
back, through a view that shares its memory, is refused when it is used.

Source: Wengert, "A Simple Automatic Derivative Evaluation Program" (1964).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from netwright.core.errors import ConfigError
from netwright.core.trees import map_tensors, tensors_of
from netwright.inspection.stepper.operation_words import textbook_name
from netwright.inspection.stepper.readable_kernels import READABLE
from netwright.inspection.stepper.unrolled_modules import Clock

MOST_OPERATIONS = 3_000  # about ten seconds
MOST_NUMBERS = 4_000_000  # in all values together

_WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
_TO_WIDE = {Tensor.float: Tensor.double, Tensor.half: Tensor.double, Tensor.bfloat16: Tensor.double}

Replay = Callable[[Sequence[Tensor]], Tensor]


@dataclass(frozen=True, eq=False)
class Node:
    """A value: something given, or what an operation made of earlier values.

    Args:
        kind: whether it was given (input, parameter) or computed.
        name: of the operation or the parameter.
        where: the path of the module in which it was computed.
        moment: which step in time or call of this module it was, in words; empty where there is
            one only.
        inputs: the numbers of the values that it was computed from.
        value: what it is.
        replay: computes it from such values; None for what was given.
    """

    kind: Literal["input", "parameter", "operation"]
    name: str
    where: str
    moment: str
    inputs: tuple[int, ...]
    value: Tensor
    replay: Replay | None


def record(
    model: nn.Module,
    names: Mapping[int, str],
    inputs: Tensor,
    loss: Callable[[Any], Tensor],
    clock: Clock,
) -> tuple[Node, ...]:
    """The values on the way from inputs and parameters to the loss, which is the last.

    Args:
        model: in float64, at rest; hooks are left on it.
        names: of its parameters, by id.
        inputs: a batch.
        loss: the model's output -> one number.
        clock: says which step in time it is.
    """
    recorder = _Recorder(clock, names)
    if inputs.is_floating_point():
        inputs = inputs.detach().requires_grad_()
        recorder.give("input", "x", inputs)
    recorder.watch(model)
    with torch.enable_grad(), _own_backwards(recorder), recorder:
        found = loss(model(inputs))
    if not isinstance(found, Tensor) or found.numel() != 1:
        got = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ConfigError(f"backpropagation starts from one number, the loss, got {got}")
    if not found.requires_grad:
        raise ConfigError(
            "the loss has no gradient: it must depend on parameters or real inputs through "
            "operations that can be differentiated"
        )
    return _needed(recorder.finished(), recorder.number_of(found, found._version))


class _Recorder(TorchFunctionMode):
    """Notes every call of a torch function whose result has a gradient."""

    def __init__(self, clock: Clock, names: Mapping[int, str]) -> None:
        super().__init__()
        self._clock, self._names = clock, names
        self._nodes: list[Node] = []
        self._calls: list[tuple[str, int]] = []  # of each node: the module, and which call of it
        # Tensor, version, node; the tensor is held so that no other one gets its id.
        self._known: dict[int, tuple[Tensor, int, int]] = {}
        self._inside: list[tuple[str, int]] = [("", 0)]
        self._called: Counter[str] = Counter()
        self._numbers = 0

    def watch(self, model: nn.Module) -> None:
        """Know in which module each operation runs, and in which of its calls."""
        for path, module in model.named_modules():

            def enter(_module: nn.Module, _given: Any, path: str = path) -> None:
                self._called[path] += 1
                self._inside.append((path, self._called[path]))

            def leave(*_: Any) -> None:
                self._inside.pop()

            module.register_forward_pre_hook(enter)
            module.register_forward_hook(leave)

    def give(self, kind: Literal["input", "parameter"], name: str, tensor: Tensor) -> int:
        """Note a value that is not computed."""
        return self._add(kind, name, (), tensor, None)

    def finished(self) -> list[Node]:
        """All nodes; where a module was called several times it is said which call it was."""
        return [
            replace(node, moment=f"call {call}")
            if not node.moment and self._called[path] > 1 and node.replay
            else node
            for node, (path, call) in zip(self._nodes, self._calls, strict=True)
        ]

    def number_of(self, tensor: Tensor, version: int) -> int:
        """The node of a tensor that was of this version when it was used."""
        if id(tensor) not in self._known and id(tensor) in self._names:
            return self.give("parameter", self._names[id(tensor)], tensor)
        place = f"module {self._inside[-1][0]!r}" if self._inside[-1][0] else "the model"
        if id(tensor) not in self._known:
            raise ConfigError(
                f"{place} uses a value whose making was not seen ({type(tensor.grad_fn).__name__})"
                ": call an autograd.Function as its class, MyFunction.apply(...)"
            )
        _, known_version, number = self._known[id(tensor)]
        if known_version != version:
            raise ConfigError(
                f"{place} uses a tensor that was changed in place through another view of it: "
                "write that change as an operation that gives a new tensor"
            )
        return number

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Called by torch instead of each of its functions."""
        kwargs = kwargs or {}
        if func in READABLE:
            with self:
                return READABLE[func](*args, **kwargs)
        getter = func.__name__ == "__get__"  # of a property, such as Tensor.T
        name = func.__self__.__name__ if getter else func.__name__  # type: ignore[attr-defined]
        args = tuple(_wide(value) for value in args)
        kwargs = {key: _wide(value) for key, value in kwargs.items()}
        return self.run(name, _TO_WIDE.get(func, func), args, kwargs)

    def run(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call the function, and note those of its results that have a gradient."""
        if not torch.is_grad_enabled():
            return function(*args, **kwargs)
        given = [(one, one._version, one.requires_grad) for one in tensors_of((args, kwargs))]
        kept = args
        if _may_write(name) and args and isinstance(args[0], Tensor):
            kept = (args[0] if args[0].requires_grad else args[0].clone(), *args[1:])
        result = function(*args, **kwargs)
        writes = bool(given) and given[0][0]._version != given[0][1]
        made = [given[0][0]] if writes else tensors_of(_plain_tuple(result))
        old = [] if writes else [id(one) for one, _, _ in given]  # handed on as they came
        outputs = [
            (place, tensor)
            for place, tensor in enumerate(made)
            if tensor.requires_grad and id(tensor) not in old
        ]
        if outputs:
            slots = {
                id(one): self.number_of(one, version) for one, version, needed in given if needed
            }
            for place, tensor in outputs:
                part = f"[{place}]" if len(made) > 1 else ""
                self._add(
                    "operation",
                    textbook_name(name) + part,
                    tuple(slots.values()),
                    tensor,
                    _Replay(function, kept, kwargs, tuple(slots), None if writes else place),
                )
        return result

    def _add(
        self,
        kind: Literal["input", "parameter", "operation"],
        name: str,
        inputs: tuple[int, ...],
        tensor: Tensor,
        replay: Replay | None,
    ) -> int:
        self._numbers += tensor.numel()
        for what, count, most in (
            ("operations", len(self._nodes), MOST_OPERATIONS),
            ("numbers", self._numbers, MOST_NUMBERS),
        ):
            if count > most:
                raise ConfigError(
                    f"one example takes more than {most:,} {what}, too many to step through: take "
                    "a shorter sequence, a smaller image or a smaller model"
                )
        where, moment = (self._inside[-1][0], self._clock.now) if replay else ("", "")
        value = tensor.detach().clone()  # what comes later may change it in place
        self._nodes.append(Node(kind, name, where, moment, inputs, value, replay))
        self._calls.append(self._inside[-1])
        self._known[id(tensor)] = (tensor, tensor._version, len(self._nodes) - 1)
        return len(self._nodes) - 1


@dataclass(frozen=True, eq=False)
class _Replay:
    """An operation that can be run again: `slots` are the ids of the tensors that may differ.

    `place` is which of its results is meant; None: its first argument, which it changes.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    slots: tuple[int, ...]
    place: int | None

    def __call__(self, inputs: Sequence[Tensor]) -> Tensor:
        others = dict(zip(self.slots, inputs, strict=True))
        args, kwargs = map_tensors(lambda one: others.get(id(one), one), (self.args, self.kwargs))
        if self.place is None:
            target: Tensor = args[0].clone()
            self.function(target, *args[1:], **kwargs)
            return target
        return tensors_of(_plain_tuple(self.function(*args, **kwargs)))[self.place]


@contextmanager
def _own_backwards(recorder: _Recorder) -> Iterator[None]:
    """Within it, functions with a backward of their own are noted whole: torch tells no mode."""
    original = torch.autograd.Function.__dict__["apply"]

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        return recorder.run(cls.__name__, original.__get__(None, cls), args, kwargs)

    torch.autograd.Function.apply = classmethod(apply)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        torch.autograd.Function.apply = original  # type: ignore[method-assign]


def _wide(value: Any) -> Any:
    """Formats that are named in the code, as float64."""
    return _WIDE.get(value, value) if isinstance(value, torch.dtype) else value


def _may_write(name: str) -> bool:
    """Whether a function changes its first argument, by its name: add_, __iadd__, __setitem__."""
    return (name.endswith("_") and not name.endswith("__")) or name.startswith(("__i", "__set"))


def _plain_tuple(result: Any) -> Any:
    """Torch's named results (values and indices) as a tuple."""
    return tuple(result) if isinstance(result, tuple) else result


def _needed(nodes: Sequence[Node], last: int) -> tuple[Node, ...]:
    """The nodes from which the last one is computed, numbered anew."""
    needed = {last}
    for number in range(last, -1, -1):
        if number in needed:
            needed.update(nodes[number].inputs)
    numbers = {old: new for new, old in enumerate(sorted(needed))}
    return tuple(
        replace(nodes[old], inputs=tuple(numbers[one] for one in nodes[old].inputs))
        for old in numbers
    )
