"""What code depends on is changed; what is for people, type checkers or other systems is not."""

from tests.mutants.mutant import mutants_of
from tests.repetition import for_each

LEFT_ALONE = {
    "a docstring": '"""word"""',
    "an import": "from a import b",
    "an annotation": 'x: Literal["a"]',
    "a type": 'Mode = Literal["a", "b"]',
    "an argument's type": 'def f(a: "Tensor") -> "Tensor": ...',
    "a decorator": "@dataclass(frozen=True)\nclass A: ...",
    "a card": 'CARD = Card(sentence="word", formula="x+1")',
    "an error kept for later": 'error = DataError(f"{n + 1} rows")',
    "the names of a module": '__all__ = ["a"]',
    "what is for type checkers": "if TYPE_CHECKING:\n    x = 1",
    "what is shown": "class A:\n    def __repr__(self):\n        return 'x' + 'y'",
    "the words of a text": "x = f'{a} of {b:.3f}'",
    "the types that are asked for": "x = isinstance(a, (int, B))",
    "an assertion": "x = zip(a, b, strict=True)",
    "an accelerator": "x = zeros(device=place)",
    "another system": "if sys.platform == 'win32':\n    x = 1",
    "another system first": "if sys.platform != 'win32':\n    x = a\nelse:\n    x = 1",
}


@for_each("what", LEFT_ALONE)
def test_left_alone_is(what: str) -> None:
    assert mutants_of("core/x.py", LEFT_ALONE[what]) == []


def changed(source: str) -> list[str]:
    return [one.change for one in mutants_of("core/x.py", source)]


def test_a_raise_is_left_out_as_a_whole() -> None:
    assert changed("raise DataError(f'{n + 1} rows')") == [
        "raise DataError(f'{n + 1} rows') -> pass"
    ]


def test_a_warning_is_left_out_as_a_whole() -> None:
    call = "print_warning('word', 1)"
    assert changed(call) == [f"{call} -> pass"]


def test_the_name_of_what_is_checked_is_a_word() -> None:
    assert changed("check_shape('bias', bias, 1)") == [
        "check_shape('bias', bias, 1) -> pass",
        "1 -> 2",
    ]


def test_values_in_a_text_are_changed() -> None:
    assert changed("x = f'{a + b} rows'") == ["a + b -> a - b"]
