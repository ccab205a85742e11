"""Calls of torch's functions while a model runs: seen, and where asked, answered otherwise.

Hooks see modules; much of what a network does, an activation or attention, is a function that no
module is called for. A torch function mode sees every call that the model's own code makes.

Source: torch.overrides, "Extending torch with a __torch_function__ mode".
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

# A function of torch, its arguments, and what it gave -> what the model goes on with.
Note = Callable[[Callable[..., Any], tuple[Any, ...], Mapping[str, Any], Any], Any]


class WatchedCalls(TorchFunctionMode):
    """Within it, every function of torch that is called is noted.

    The calls that a note makes itself, and those inside a noted function, are not seen.

    Args:
        note: is given each call, and gives what the caller gets.
    """

    def __init__(self, note: Note) -> None:
        super().__init__()
        self.note = note

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        return self.note(func, args, given, func(*args, **given))


@contextmanager
def running_modules(model: nn.Module) -> Iterator[list[str]]:
    """Within it, the paths of the modules that are running, the innermost last."""
    running: list[str] = []

    def leave(*_: Any) -> None:
        running.pop()

    with ExitStack() as hooks:
        for path, part in model.named_modules():
            hooks.enter_context(
                part.register_forward_pre_hook(lambda *_, path=path: running.append(path))
            )
            hooks.enter_context(part.register_forward_hook(leave, always_call=True))
        yield running
