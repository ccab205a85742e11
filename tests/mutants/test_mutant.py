"""A mutant says where it is and what it changes, and changes nothing else."""

import ast

from tests.mutants.mutant import mutants_of, mutated_tree

SOURCE = '''"""A file."""

LIMIT = 3


class Store:
    size = 1

    @property
    def free(self, most=9):
        def inner():
            return (
                self.size
                < LIMIT
            )

        return inner
'''


def test_all_mutants_of_a_small_source() -> None:
    found = [
        (one.line, one.owner, one.at_import, one.change) for one in mutants_of("core/x.py", SOURCE)
    ]
    assert found == [
        (3, "", True, "3 -> 4"),
        (7, "Store", True, "1 -> 2"),
        (10, "Store.free", True, "9 -> 10"),
        (12, "Store.free", False, "return self.size < LIMIT -> return None"),
        (13, "Store.free", False, "self.size < LIMIT -> self.size <= LIMIT"),
        (17, "Store.free", False, "return inner -> return None"),
    ]


def test_the_statement_is_said_in_one_line() -> None:
    by_change = {one.change: one.before for one in mutants_of("core/x.py", SOURCE)}
    assert by_change["9 -> 10"] == "def free(self, most=9):"
    assert by_change["self.size < LIMIT -> self.size <= LIMIT"] == "return self.size < LIMIT"


def test_each_is_found_again_by_its_place() -> None:
    places = [one.place for one in mutants_of("core/x.py", SOURCE)]
    assert len(set(places)) == len(places)
    assert places[0] == "core/x.py body[1].value 0"


def test_only_the_change_is_made_and_lines_stay() -> None:
    original = ast.unparse(ast.parse(SOURCE))
    for mutant in mutants_of("core/x.py", SOURCE):
        tree = mutated_tree(mutant, SOURCE)
        lines = zip(original.splitlines(), ast.unparse(tree).splitlines(), strict=True)
        assert sum(old != new for old, new in lines) == 1
        free = tree.body[2].body[1]  # type: ignore[attr-defined]
        assert free.body[1].lineno == 17
        compile(tree, "x.py", "exec")
