"""The lines of code behind a part, as they are shown to a reader."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Code:
    """Lines of a function.

    Args:
        place: file and first line, "netwright/models/mlp.py:70" or "torch/optim/lbfgs.py:347".
        lines: its source; of a long docstring only the first line.
    """

    place: str
    lines: str

    def __str__(self) -> str:
        return f"{self.place}\n{self.lines}"

    def __repr__(self) -> str:
        return f"Code({self.place})"


def code_of(function: Callable[..., Any]) -> Code:
    """Where a function stands, and its lines."""
    if isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function)
    lines, first = inspect.getsourcelines(function)
    package = sys.modules[function.__module__.partition(".")[0]]
    root = Path(inspect.getfile(package)).parent.parent
    place = Path(inspect.getfile(function)).relative_to(root).as_posix()
    return Code(place=f"{place}:{first}", lines=_with_short_docstring("".join(lines)))


def _with_short_docstring(source: str) -> str:
    """The function, dedented; of its docstring only the first line of text."""
    source = textwrap.dedent(source).rstrip()
    function = ast.parse(source).body[0]
    docstring = ast.get_docstring(function) if isinstance(function, ast.FunctionDef) else None
    if not docstring:
        return source
    place = function.body[0]  # type: ignore[attr-defined]
    lines = source.split("\n")
    short = f'{" " * place.col_offset}"""{docstring.splitlines()[0]}"""'
    return "\n".join([*lines[: place.lineno - 1], short, *lines[place.end_lineno :]])


def called_neighbours(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The functions of its own file that a function names."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    names = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    file = vars(sys.modules[function.__module__])
    found = (file[name] for name in names if inspect.isfunction(file.get(name)))
    return [other for other in found if other.__module__ == function.__module__]
