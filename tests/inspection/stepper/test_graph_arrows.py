"""Arrows lead from box to box, and none runs behind another one."""

import itertools

from netwright.inspection.stepper.graph_arrows import HEIGHT, WIDTH, Point, arrow_path, corner
from netwright.inspection.stepper.step_graph import Box
from tests.repetition import for_each

COLUMNS, ROWS = 4, 4


def box(column: int, row: int) -> Box:
    return Box(
        key=0, kind="operation", title="", place="", value="", gradient="", column=column, row=row
    )


def along(path: list[Point]) -> list[Point]:
    """Points of a chain of cubic curves."""
    found = []
    for first in range(0, len(path) - 1, 3):
        a, b, c, d = path[first : first + 4]
        for t in (place / 20 for place in range(21)):
            parts = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x, y = (sum(w * p[k] for w, p in zip(parts, (a, b, c, d), strict=True)) for k in (0, 1))
            found.append((x, y))
    return found


def inside(point: Point, of: Box) -> bool:
    x, y = corner(of)
    return x < point[0] < x + WIDTH and y < point[1] < y + HEIGHT


PLACES = list(itertools.product(range(COLUMNS), range(ROWS)))


@for_each("start", PLACES, ids=str)
def test_no_arrow_runs_behind_a_box(start: tuple[int, int]) -> None:
    boxes = [box(*place) for place in PLACES]
    for end in boxes:
        if end.row == start[1] and end.column <= start[0]:
            continue  # nothing is computed from what stands to its right in its row
        path = arrow_path(box(*start), end)
        assert len(path) % 3 == 1
        assert not any(inside(point, one) for point in along(path) for one in boxes)


def test_an_arrow_comes_from_the_left_and_its_end_has_a_direction() -> None:
    for end in (box(1, 2), box(0, 2), box(3, 1)):
        path = arrow_path(box(0, 0), end)
        x, y = corner(end)
        assert path[-1] == (x, y + HEIGHT / 2)
        assert path[-2][0] < x and path[-2][1] == path[-1][1]
