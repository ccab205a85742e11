"""Marked functions: asked once by a compiled graph, with the mark that torch sets."""

from typing import Any

import torch
from torch import Tensor

from netwright.layers.graph_constant import graph_constant


def test_a_graph_asks_once_and_keeps_the_answer() -> None:
    asked: list[str] = []

    @graph_constant
    def is_wanted(kind: str) -> bool:
        asked.append(kind)  # a graph that looked inside would break here
        return kind == "cpu"

    def forward(x: Tensor) -> Tensor:
        return x + 1 if is_wanted(x.device.type) else x

    compiled: Any = torch.compile(forward, backend="eager", fullgraph=True)
    x = torch.zeros(2)
    assert compiled(x).tolist() == compiled(x).tolist() == [1.0, 1.0]
    assert asked == ["cpu"]


def test_the_mark_is_that_of_torch() -> None:
    def ours() -> None: ...
    def theirs() -> None: ...

    marked: Any = torch.compiler.assume_constant_result
    assert vars(graph_constant(ours)) == vars(marked(theirs))
