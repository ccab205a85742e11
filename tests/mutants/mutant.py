"""A mutant: one change at one place of one file; all that a file allows, and the changed source."""

import ast
from dataclasses import dataclass

from tests.mutants.changes import changes
from tests.mutants.places import Place, Step, changeable, child_at, drops_what_is_unseen


@dataclass(frozen=True)
class Mutant:
    """One change.

    Args:
        file: "core/files/storage.py".
        line: where.
        owner: the function or class that holds it, as `Class.method`; empty for the module.
        at_import: whether it takes effect when the file is imported, not when a function runs.
        path: the steps from the file's root to the node; without any, nothing is changed.
        number: which of the node's changes.
        before: the statement as it is; of a compound one its first line.
        change: the node as it is and as it becomes.
    """

    file: str
    line: int
    owner: str
    at_import: bool
    path: tuple[Step, ...]
    number: int
    before: str
    change: str

    @property
    def place(self) -> str:
        """Which of all mutants it is."""
        steps = (field if index is None else f"{field}[{index}]" for field, index in self.path)
        return f"{self.file} {'.'.join(steps)} {self.number}"


def mutants_of(file: str, source: str) -> list[Mutant]:
    """All mutants of a source, in the order of the file."""
    return [
        Mutant(
            file,
            _line(node, place),
            place.owner,
            not place.in_function,
            place.path,
            number,
            first_line(place.statement) if place.statement else "",
            f"{_shown(node)} -> {_shown(changed)}",
        )
        for node, place in changeable(ast.parse(source))
        for number, changed in enumerate(changes(node))
        if not drops_what_is_unseen(node, changed)
    ]


def mutated_tree(mutant: Mutant, source: str) -> ast.Module:
    """The source with the change, lines where they were."""
    tree = ast.parse(source)
    if not mutant.path:
        return tree
    parent: ast.AST = tree
    node: ast.AST = tree
    for step in mutant.path:
        parent, node = node, child_at(node, step)
    changed = ast.copy_location(list(changes(node))[mutant.number], node)
    field, index = mutant.path[-1]
    if index is None:
        setattr(parent, field, changed)
    else:
        getattr(parent, field)[index] = changed
    return ast.fix_missing_locations(tree)


def first_line(statement: ast.stmt) -> str:
    """A statement as one line; of `if`, `for`, `def` and their like the line with the colon."""
    lines = ast.unparse(statement).splitlines()
    return next(line for line in lines if not line.startswith("@"))


def _line(node: ast.AST, place: Place) -> int:
    fallback = place.statement.lineno if place.statement else 1
    return int(getattr(node, "lineno", fallback))


def _shown(node: ast.AST) -> str:
    return first_line(node) if isinstance(node, ast.stmt) else ast.unparse(node).strip()
