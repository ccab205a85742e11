"""The small changes: what one node of the source may become, each a slip that a person could make.

`0` becomes 1, `<` becomes `<=`, `and` becomes `or`, a condition is always true, a statement is left
out. A change is given as the node that takes the place of the old one.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
# A string that code asks for, such as a key, a mode or a name; a sentence has spaces.
NAME = re.compile(r"[\w./:+-]{1,40}")
NodeT = TypeVar("NodeT", bound=ast.AST)
Changes = Iterator[ast.AST]


def changes(node: ast.AST) -> Changes:
    """What may stand in place of this node, in an order that never changes."""
    if (make := BY_TYPE.get(type(node))) is not None:
        yield from make(node)
    if _may_be_left_out(node):
        yield ast.Pass()


def _of_constant(node: ast.Constant) -> Changes:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
    elif isinstance(value, str) and NAME.fullmatch(value):
        yield ast.Constant(f"XX{value}XX")


def _of_comparison(node: ast.Compare) -> Changes:
    for place, operator in enumerate(node.ops):
        swapped = COMPARED[type(operator)]()
        yield _with(node, ops=[*node.ops[:place], swapped, *node.ops[place + 1 :]])


def _of_arithmetic(node: ast.BinOp | ast.AugAssign) -> Changes:
    if type(node.op) in COMPUTED:
        yield _with(node, op=COMPUTED[type(node.op)]())


def _of_and_or(node: ast.BoolOp) -> Changes:
    yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _of_sign(node: ast.UnaryOp) -> Changes:
    if isinstance(node.op, ast.USub | ast.Not):
        yield node.operand


def _of_slice(node: ast.Slice) -> Changes:
    for end in ("lower", "upper", "step"):
        if getattr(node, end) is not None:
            yield _with(node, **{end: None})


def _of_call(node: ast.Call) -> Changes:
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield _with(node, keywords=node.keywords[:place] + node.keywords[place + 1 :])


def _of_condition(node: ast.If | ast.IfExp) -> Changes:
    yield _with(node, test=ast.Constant(True))
    yield _with(node, test=ast.Constant(False))


def _of_loop(node: ast.While) -> Changes:
    yield _with(node, test=ast.Constant(False))  # with True it would only never end


def _of_comprehension(node: ast.comprehension) -> Changes:
    if node.ifs:
        yield _with(node, ifs=[])


def _of_return(node: ast.Return) -> Changes:
    if node.value is not None and ast.unparse(node.value) != "None":
        yield _with(node, value=ast.Constant(None))


BY_TYPE: Mapping[type[ast.AST], Callable[[Any], Changes]] = {
    ast.Constant: _of_constant,
    ast.Compare: _of_comparison,
    ast.BinOp: _of_arithmetic,
    ast.AugAssign: _of_arithmetic,
    ast.BoolOp: _of_and_or,
    ast.UnaryOp: _of_sign,
    ast.Slice: _of_slice,
    ast.Call: _of_call,
    ast.If: _of_condition,
    ast.IfExp: _of_condition,
    ast.While: _of_loop,
    ast.comprehension: _of_comprehension,
    ast.Return: _of_return,
}


def _may_be_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            return True
        case ast.Assign(targets=targets):
            return any(isinstance(one, ast.Attribute | ast.Subscript) for one in targets)
        case ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
            return True
    return False


def _with(node: NodeT, **fields: object) -> NodeT:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
