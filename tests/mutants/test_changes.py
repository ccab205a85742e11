"""Each kind of node becomes what it should, and nothing else."""

import ast

from tests.mutants.changes import changes
from tests.repetition import for_each

EXPECTED = {
    "0": ["1"],
    "0.5": ["1.5"],
    "True": ["False"],
    "None": [],
    "'mode'": ["'XXmodeXX'"],
    "'a sentence'": [],
    "a < b": ["a <= b"],
    "a <= b < c": ["a < b < c", "a <= b <= c"],
    "a > b": ["a >= b"],
    "a == b": ["a != b"],
    "a in b": ["a not in b"],
    "a is not b": ["a is b"],
    "a + b": ["a - b"],
    "a * b": ["a / b"],
    "a // b": ["a / b"],
    "a ** b": ["a * b"],
    "a @ b": [],
    "a and b": ["a or b"],
    "a or b": ["a and b"],
    "not a": ["a"],
    "-a": ["a"],
    "~a": [],
    "f(a, b=1, **c)": ["f(a, **c)"],
    "a if b else c": ["a if True else c", "a if False else c"],
}
STATEMENTS = {
    "if a:\n    b": ["if True:\n    b", "if False:\n    b"],
    "while a:\n    b": ["while False:\n    b"],
    "return": [],
    "return None": [],
    "return a": ["return None"],
    "raise a": ["pass"],
    "a += 1": ["a -= 1", "pass"],
    "a.b = 1": ["pass"],
    "a[b] = 1": ["pass"],
    "a = 1": [],
    "f(a)": ["pass"],
    "yield a": ["pass"],
    "a": [],
    "del a": ["pass"],
    "break": ["pass"],
}


@for_each("source", EXPECTED)
def test_an_expression_becomes(source: str) -> None:
    node = ast.parse(source, mode="eval").body
    assert [ast.unparse(one) for one in changes(node)] == EXPECTED[source]
    assert ast.unparse(node) == source


@for_each("source", STATEMENTS)
def test_a_statement_becomes(source: str) -> None:
    node = ast.parse(source).body[0]
    assert [ast.unparse(one) for one in changes(node)] == STATEMENTS[source]
    assert ast.unparse(node) == source


def test_a_slice_loses_each_end() -> None:
    found = ast.parse("a[1:2:3]", mode="eval").body
    assert isinstance(found, ast.Subscript)
    assert [ast.unparse(one) for one in changes(found.slice)] == [":2:3", "1::3", "1:2"]


def test_a_comprehension_takes_all() -> None:
    found = ast.parse("[a for a in b if a if c]", mode="eval").body
    assert isinstance(found, ast.ListComp)
    (all_of_them,) = changes(found.generators[0])
    assert ast.unparse(all_of_them).strip() == "for a in b"
