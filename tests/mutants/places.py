"""Where a source may be changed.

Left alone is what no program depends on: annotations, docstrings, the sentences of errors and
cards, `__repr__`, what is for type checkers, for Windows or for an accelerator alone, and
`zip(strict=True)`, which is an assertion.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

# What is said to people, and what is there for type checkers: nothing is changed inside.
TEXTS = {
    "Card",
    "Doc",
    "Source",
    "refusal",
    "print_warning",
    "print_message",
    "print_error",
    "cast",
    "TypeVar",
}
TYPES = {"Annotated", "Literal", "Callable", "ClassVar", "Mapping", "Sequence", "TypeAlias"}
SHOWN = {"__repr__", "__str__"}
LISTS = {"__all__", "__slots__"}
# Fields of nodes that hold types, or what happens to a definition as a whole.
UNTOUCHED = {"annotation", "returns", "decorator_list", "type_comment", "bases"}
# Keywords that only assert what holds anyway, bring a text, or matter on an accelerator alone.
UNSEEN = {"strict", "stacklevel", "card", "device", "non_blocking", "pin_memory"}
Step = tuple[str, int | None]
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Changeable = ast.expr | ast.stmt | ast.comprehension


@dataclass(frozen=True)
class Place:
    """A place in a file.

    Args:
        path: the steps from the file's root to the node.
        owner: the function or class that holds it, as `Class.method`; empty for the module.
        in_function: whether it takes effect when a function runs, not when the file is imported.
        statement: the statement that holds it.
    """

    path: tuple[Step, ...] = ()
    owner: str = ""
    in_function: bool = False
    statement: ast.stmt | None = None

    def down(self, parent: ast.AST, step: Step, node: ast.AST) -> "Place":
        """One step further, to this node."""
        inside = replace(self, path=(*self.path, step))
        if isinstance(node, ast.stmt):
            inside = replace(inside, statement=node)
        if isinstance(parent, Scope) and step[0] == "body":
            inside = replace(inside, in_function=True)
        if isinstance(node, ast.ClassDef | Scope) and not inside.in_function:
            name = getattr(node, "name", "<lambda>")
            inside = replace(inside, owner=f"{self.owner}.{name}" if self.owner else name)
        return inside


def changeable(node: ast.AST, place: Place | None = None) -> Iterator[tuple[ast.AST, Place]]:
    """Every node below this one that may be changed, in the order of the source."""
    place = place or Place()
    for step, child in _children(node):
        if _is_word(child, node) or not _is_for_code(child):
            continue
        inside = place.down(node, step, child)
        if isinstance(child, Changeable) and not _asks_for_system(child):
            yield child, inside
        if not isinstance(child, ast.Raise):
            yield from changeable(child, inside)


def child_at(node: ast.AST, step: Step) -> ast.AST:
    """The node that lies one step below."""
    field, index = step
    found = getattr(node, field)
    child: ast.AST = found if index is None else found[index]
    return child


def drops_what_is_unseen(node: ast.AST, changed: ast.AST) -> bool:
    """Whether only a keyword is taken away that no test here can see, as `strict` from `zip`."""
    if not isinstance(node, ast.Call) or not isinstance(changed, ast.Call):
        return False
    dropped = {one.arg for one in node.keywords} - {one.arg for one in changed.keywords}
    return bool(dropped & UNSEEN)


def _children(node: ast.AST) -> Iterator[tuple[Step, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if field in UNTOUCHED or field in _skipped_fields(node):
            continue
        if isinstance(value, ast.AST):
            yield (field, None), value
        elif isinstance(value, list):
            nodes = enumerate(value)
            yield from (((field, place), one) for place, one in nodes if isinstance(one, ast.AST))


def _skipped_fields(node: ast.AST) -> set[str]:
    """What belongs to another system, the form of a printed value, the types that are asked for."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) if _asks_for_system(node):
            return {"test", "orelse" if "!=" in ast.unparse(test) else "body"}
        case ast.FormattedValue():
            return {"format_spec"}
        case ast.Call(func=func) if _name(func) in {"isinstance", "issubclass"}:
            return {"args"}
    return set()


def _asks_for_system(node: ast.AST) -> bool:
    return isinstance(node, ast.If | ast.IfExp) and "sys.platform" in ast.unparse(node.test)


def _is_word(node: ast.AST, parent: ast.AST) -> bool:
    """Whether this stands in a sentence: between its values, or as the name of what is checked."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    checks = isinstance(parent, ast.Call) and _name(parent.func).startswith(
        ("check_", "read_array")
    )
    return checks or isinstance(parent, ast.JoinedStr)


def _is_for_code(node: ast.AST) -> bool:
    """Whether anything but people and type checkers depends on what is in this node."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return False
        case ast.FunctionDef(name=name):
            left_alone = name in SHOWN
        case ast.Call(func=func):
            left_alone = _name(func) in TEXTS or _name(func).endswith("Error")
        case ast.Subscript(value=value):
            left_alone = _name(value) in TYPES
        case ast.If(test=test):
            left_alone = _name(test) == "TYPE_CHECKING"
        case ast.Assign(targets=[target]):
            left_alone = _name(target) in LISTS
        case ast.keyword(arg=arg):
            left_alone = arg in UNSEEN
        case _:
            left_alone = False
    return not left_alone


def _name(node: ast.AST) -> str:
    """`f` of `f`, of `a.f` and of `a.b.f`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
