"""The tape: what a model computed, one operation after the other, to be run again in parts.

    v_k = f_k(v_i, v_j, ...),    i, j < k

Operations are those of a textbook (linear, tanh, softmax), as torch's functions are called, and not
the kernels below them. Recorded is what the gradient flows through; what is constant is a part of
f_k. A tensor that is changed in place is a new value from then on; one that was changed behind its
back, through a view that shares its memory, is refused when it is used.

Source: Wengert, "A Simple Automatic Derivative Evaluation Program" (1964).
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from netwright.core.errors import ConfigError
from netwright.core.trees import tensors_of
from netwright.inspection.stepper.double_precision import Widening, widely
from netwright.inspection.stepper.node import Node, Replay, Replayed, needed_for, results_of
from netwright.inspection.stepper.operation_words import is_elementwise, is_usual, textbook_name
from netwright.inspection.stepper.readable_kernels import READABLE
from netwright.inspection.stepper.unrolled_modules import Clock

MOST_OPERATIONS = 3_000  # about ten seconds
MOST_NUMBERS = 4_000_000  # in all values together


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
        names: of its parameters, and of constants that have a name, by id.
        inputs: a batch.
        loss: the model's output -> one number.
        clock: says which step in time it is.
    """
    # A copy, which the model may change in place: no leaf of autograd, and nobody else's.
    inputs = inputs.detach().requires_grad_(inputs.is_floating_point()).clone()
    recorder = _Recorder(clock, {**names, id(inputs): "x"})
    if inputs.is_floating_point():
        recorder.give("input", "x", inputs)
    recorder.watch(model)
    with torch.enable_grad(), _own_backwards(recorder), recorder, Widening():
        found = loss(model(inputs))
    if not isinstance(found, Tensor) or found.numel() != 1:
        got = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ConfigError(f"backpropagation starts from one number, the loss, got {got}")
    if not found.requires_grad:
        raise ConfigError(
            "the loss has no gradient: it must depend on parameters or real inputs through "
            "operations that can be differentiated"
        )
    return needed_for(recorder.finished(), recorder.number_of(found, found._version))


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
            raise ConfigError(f"{place} uses {_unseen(tensor)}")
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
        return self.run(name, func, args, kwargs)

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
        made = [given[0][0]] if writes else results_of(result)
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
            title = textbook_name(name)
            constants = tuple(self._constants(title, kept, kwargs, slots))
            for place, tensor in outputs:
                part = f"[{place}]" if len(made) > 1 else ""
                self._add(
                    "operation",
                    title + part,
                    tuple(slots.values()),
                    tensor,
                    Replayed(function, kept, kwargs, tuple(slots), None if writes else place),
                    constants,
                    usual=is_usual(title, kwargs),
                )
        return result

    def _constants(
        self, title: str, args: tuple[Any, ...], kwargs: dict[str, Any], slots: Container[int]
    ) -> Iterator[tuple[str, Tensor]]:
        """What an operation reads beside its inputs; plain numbers where they are operands."""
        for one in tensors_of((args, kwargs)):
            if id(one) not in slots:
                yield self._names.get(id(one), "constant"), one.detach().clone()
        if is_elementwise(title):
            for value in args:
                if type(value) in {int, float}:
                    yield "constant", torch.tensor(float(value))

    def _add(
        self,
        kind: Literal["input", "parameter", "operation"],
        name: str,
        inputs: tuple[int, ...],
        tensor: Tensor,
        replay: Replay | None,
        constants: tuple[tuple[str, Tensor], ...] = (),
        *,
        usual: bool = True,
    ) -> int:
        self._numbers += tensor.numel()
        for what, count, most in (
            ("operations", len(self._nodes), MOST_OPERATIONS),
            ("numbers", self._numbers, MOST_NUMBERS),
        ):
            if count > most:
                raise ConfigError(
                    f"one example takes more than {most:,} {what}, too many to step through: use "
                    f"a shorter sequence, a smaller image or a smaller model"
                )
        where, moment = (self._inside[-1][0], self._clock.now) if replay else ("", "")
        value = tensor.detach().clone()  # what comes later may change it in place
        self._nodes.append(Node(kind, name, where, moment, inputs, value, replay, constants, usual))
        self._calls.append(self._inside[-1])
        self._known[id(tensor)] = (tensor, tensor._version, len(self._nodes) - 1)
        return len(self._nodes) - 1


@contextmanager
def _own_backwards(recorder: _Recorder) -> Iterator[None]:
    """Within it, functions with a backward of their own are noted whole: torch tells no mode."""
    original = torch.autograd.Function.__dict__["apply"]

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        return recorder.run(cls.__name__, widely(original.__get__(None, cls)), args, kwargs)

    torch.autograd.Function.apply = classmethod(apply)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        torch.autograd.Function.apply = original  # type: ignore[method-assign]


def _unseen(tensor: Tensor) -> str:
    """A tensor with a gradient that the tape does not know, and what to do about it."""
    if tensor.grad_fn is None:
        return (
            "a tensor that requires a gradient but is not a parameter of the model: make it an "
            "nn.Parameter"
        )
    made = f"a value whose computation was not recorded ({type(tensor.grad_fn).__name__})"
    if isinstance(tensor.grad_fn, torch.autograd.function.BackwardCFunction):
        return f"{made}: call an autograd.Function as its class, MyFunction.apply(...)"
    return f"{made}: compute it without torch.vmap, and not before the model is called"


def _may_write(name: str) -> bool:
    """Whether a function changes its first argument, by its name: add_, __iadd__, __setitem__."""
    return (name.endswith("_") and not name.endswith("__")) or name.startswith(("__i", "__set"))
