"""Code as it is shown: where it stands, its lines, and the neighbours that it calls."""

from functools import partial

from netwright.recipes.explain.source_code import called_neighbours, code_of


def outer(x: int) -> int:
    """The first line.

    More that is not shown.
    """
    return inner(x) + len(str(x))


def inner(x: int) -> int:
    return x + 1


def test_of_a_docstring_the_first_line_is_shown() -> None:
    shown = code_of(called_neighbours)
    assert shown.place.startswith("netwright/recipes/explain/source_code.py:")
    assert shown.lines.startswith("def called_neighbours(")
    assert '"""The functions of its own file that a function names."""' in shown.lines


def test_a_partial_is_its_function() -> None:
    assert code_of(partial(called_neighbours, outer)) == code_of(called_neighbours)


def test_neighbours_are_functions_of_the_same_file() -> None:
    assert called_neighbours(outer) == [inner]
