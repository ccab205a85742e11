"""Functions are seen as they are called, and modules while they run."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.inspection.inside.torch_calls import WatchedCalls, running_modules


def test_calls_are_seen_in_order_and_what_a_note_gives_goes_on() -> None:
    seen, x = [], torch.tensor([-1.0, 2.0])

    def note(func: object, _: object, __: object, result: Tensor) -> Tensor:
        seen.append(func)
        return result + 1

    with WatchedCalls(note):
        out = functional.relu(x)
    assert seen == [functional.relu]
    assert out.tolist() == [1, 3]
    assert functional.relu(torch.tensor([-1.0])).item() == 0  # outside nothing is changed


def test_the_innermost_running_module_stands_last() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    stacks = []
    with running_modules(model) as running:

        def note(func: object, *_: object) -> object:
            stacks.append((getattr(func, "__name__", ""), list(running)))
            return _[-1]

        x = torch.ones(1, 2)
        with WatchedCalls(note):
            model(x)
    assert stacks == [("linear", ["", "0"]), ("relu", ["", "1", "1.0"])]
    assert running == []
