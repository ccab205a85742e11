"""The room keeps its promise: nothing in it asks torch for a derivative."""

import ast
from pathlib import Path

import netwright.backprop

ROOM = Path(netwright.backprop.__file__).parent
WITH_TORCH = {"second_order.py"}  # second derivatives are taken by torch's own means
MEANS = {"autograd", "backward", "requires_grad", "requires_grad_", "func", "vmap", "jvp", "vjp"}


def means_in(path: Path) -> set[str]:
    """The means of differentiation that a file imports or asks a thing for."""
    named = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            named.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("torch"):
            named |= {*str(node.module).split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            named |= {part for alias in node.names for part in alias.name.split(".")}
    return named & MEANS


def test_derivatives_are_worked_by_hand() -> None:
    files = sorted(path for path in ROOM.glob("*.py") if path.name not in WITH_TORCH)
    assert len(files) > 9
    assert {path.name: means_in(path) for path in files if means_in(path)} == {}
