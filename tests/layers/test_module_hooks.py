"""A hook of each kind is seen, and no longer when it is removed."""

from typing import Any

import pytest
from torch import nn

from netwright.layers.module_hooks import AROUND_PARTS, count_hooks, has_hooks, is_watched

KINDS = ("forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook")


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_of_any_kind_is_seen_while_it_is_there(kind: str) -> None:
    module: Any = nn.Linear(2, 2)
    assert not has_hooks(module)
    handle = getattr(module, f"register_{kind}")(lambda *_: None)
    assert has_hooks(module)
    handle.remove()
    assert not has_hooks(module)


def test_hooks_around_every_method_watch_nothing() -> None:
    module = nn.Linear(2, 2)
    module.register_forward_hook(lambda *_: None)
    setattr(module, AROUND_PARTS, count_hooks(module))
    assert has_hooks(module) and not is_watched(module)
    module.register_forward_pre_hook(lambda *_: None)
    assert is_watched(module)
