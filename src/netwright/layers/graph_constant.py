"""Functions whose answer a compiler takes as a constant, marked without loading the compiler."""

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])


def graph_constant(function: Function) -> Function:
    """The same function, which a compiled graph asks once, while it is made.

    `torch.compiler.assume_constant_result` sets this mark and nothing else, but imports
    `torch._dynamo` first: 800 modules, for each model that has a convolution.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function
