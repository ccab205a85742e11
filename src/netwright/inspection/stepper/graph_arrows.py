"""Where the boxes of a graph stand in pixels, and how its arrows go from one to another.

No arrow runs behind a box: one to the next column is a short curve, one along the first row rises
over the boxes between, and all others keep to the gaps between columns and rows, like streets.
"""

from netwright.inspection.stepper.step_graph import Box, Graph

WIDTH, HEIGHT = 170.0, 80.0  # of a box
ACROSS, DOWN = 206.0, 110.0  # from box to box
_ARCH = 56.0  # how high arrows rise that pass over other boxes
_TURN = 6.0  # radius of a corner
_LANES = 4  # side by side in a gap, so that arrows from different rows are told apart

Point = tuple[float, float]


def arrow_path(start: Box, end: Box) -> list[Point]:
    """From the right side of one box to the left side of another: a chain of cubic curves."""
    x, y = corner(start)
    x, y = x + WIDTH, y + HEIGHT / 2
    to_x, to_y = corner(end)
    to_y += HEIGHT / 2
    if end.column == start.column + 1:
        reach = (to_x - x) / 2
        return [(x, y), (x + reach, y), (to_x - reach, to_y), (to_x, to_y)]
    if _passes(start, end):
        top = y - HEIGHT / 2 - _ARCH
        below = y - HEIGHT / 2
        return [(x - 20, below), (x + 20, top), (to_x - 20, top), (to_x + 20, below)]
    lane = 3.0 * (start.row % _LANES)
    side = -1 if end.row >= start.row else 1  # the gap of rows that lies on the way
    street = to_y + side * (DOWN / 2 - 9 + lane)
    down, into = x + 8 + lane, to_x - 14
    return _rounded([(x, y), (down, y), (down, street), (into, street), (into, to_y), (to_x, to_y)])


def _rounded(corners: list[Point]) -> list[Point]:
    """Straight lines through the corners, as cubic curves with round turns."""
    path = [corners[0]]
    for before, turn, after in zip(corners, corners[1:], corners[2:], strict=False):
        arrive, leave = _towards(turn, before), _towards(turn, after)
        path += [path[-1], arrive, arrive, turn, turn, leave]
    middle = ((path[-1][0] + corners[-1][0]) / 2, corners[-1][1])  # so that the end has a direction
    return [*path, middle, middle, corners[-1]]


def _towards(start: Point, end: Point) -> Point:
    """A little way along a line that is level or upright."""
    step_x, step_y = end[0] - start[0], end[1] - start[1]
    share = min(_TURN, abs(step_x + step_y) / 2) / max(abs(step_x + step_y), 1e-9)
    return start[0] + share * step_x, start[1] + share * step_y


def _passes(start: Box, end: Box) -> bool:
    """Whether there are other boxes between them in the first row, above which there is room."""
    return start.row == end.row == 0 and end.column - start.column > 1


def corner(box: Box) -> Point:
    """The upper left of a box."""
    return 17 + box.column * ACROSS, 7 + box.row * DOWN


def top_of(graph: Graph) -> float:
    """Where the picture begins: above the boxes, if arrows go over those of the first row."""
    boxes = {box.key: box for box in graph.boxes}
    return -_ARCH if any(_passes(boxes[a], boxes[b]) for a, b in graph.arrows) else 0.0


def extent_of(graph: Graph) -> tuple[float, float]:
    """Width and height, from its top on."""
    return graph.columns * ACROSS, graph.rows * DOWN - 16 - top_of(graph)
