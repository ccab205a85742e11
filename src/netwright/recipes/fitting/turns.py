"""Fits in several threads of a process take turns.

Layers draw from the one generator that torch has for the process, and a fit seeds it: of fits in
several threads each would take numbers from the others. Processes run side by side.
"""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

ONE_AT_A_TIME = RLock()  # a fit within a fit, as in a callback, is in the same turn


def in_turn(action: Callable[P, R]) -> Callable[P, R]:
    """The action, which begins when no other thread is in one of these."""

    @wraps(action)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        with ONE_AT_A_TIME:
            return action(*args, **kwargs)

    return waiting
