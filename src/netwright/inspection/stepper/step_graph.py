"""The graph of a computation in columns: what is given on the left, the loss on the right.

A small graph has a box for every value; a large one a box for every module and step in time. What
only moves numbers is left out, its arrow goes through. Each box stands one column right of the last
of its inputs, and a long row is broken like a line of text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from netwright.inspection.stepper.stepped import Step, label

MOST_BOXES = 22  # of a graph that is drawn value by value
MOST_GROUPS = 28  # of one that is drawn by modules
LETTERS = 22  # that fit into a box
COLUMNS = 7  # in a row, before it is broken


@dataclass(frozen=True, kw_only=True)
class Box:
    """One value, or what one module computed.

    Args:
        key: the number of the value, or of the last one of a group.
        kind: what it is: input, parameter or operation.
        title: its name.
        place: where and when it was computed.
        value: its numbers.
        gradient: the derivative of the loss by it.
        column: from the left.
        row: from the top.
    """

    key: int
    kind: str
    title: str
    place: str
    value: str
    gradient: str
    column: int = 0
    row: int = 0


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Boxes where they stand, and the arrows between them by their keys."""

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]

    @property
    def columns(self) -> int:
        """How many are side by side."""
        return 1 + max(box.column for box in self.boxes)

    @property
    def rows(self) -> int:
        """How many are above each other."""
        return 1 + max(box.row for box in self.boxes)


class Links:
    """What is computed from what, leaving out the values that are only moved, but for the loss.

    Args:
        steps: all values, in order.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        loss = len(steps) - 1
        self.visible = [
            place for place, step in enumerate(steps) if not step.quiet or place == loss
        ]
        reached: list[list[int]] = []  # of every value: the visible ones that it is computed from
        for step in steps:
            through = [reached[one] if steps[one].quiet else [one] for one in step.inputs]
            reached.append(list(dict.fromkeys(chain.from_iterable(through))))
        self.sources = {place: reached[place] for place in self.visible}
        self.users: dict[int, list[int]] = {place: [] for place in self.visible}
        for place in self.visible:
            for one in self.sources[place]:
                self.users[one].append(place)


def graph_of(links: Links) -> Graph:
    """The whole computation: all values, or modules and moments where there are many."""
    if len(links.visible) <= MOST_BOXES:
        return graph_around(links, links.visible)
    return _grouped(links)


def graph_around(links: Links, chosen: Iterable[int]) -> Graph:
    """These visible values, and the arrows between them."""
    boxes = {place: _box(links.steps, place) for place in chosen}
    arrows = [(one, place) for place in boxes for one in links.sources[place] if one in boxes]
    return _laid_out(list(boxes.values()), arrows)


def _box(steps: Sequence[Step], place: int) -> Box:
    step = steps[place]
    return Box(
        key=place,
        kind=step.kind,
        title=label(steps, place),
        place=step.place or ("" if step.kind == "operation" else step.kind),
        value=step.value.brief(LETTERS),
        gradient=step.gradient.brief(LETTERS),
    )


def _grouped(links: Links) -> Graph:
    """A box for each run of operations in one module and moment; parameters are in their boxes.

    Runs in order cannot depend on each other in a circle.
    """
    steps = links.steps
    computed = [place for place in links.visible if steps[place].kind != "parameter"]
    for name in _NAMES:
        runs: list[list[int]] = []
        for place in computed:
            if runs and _same_run(steps, runs[-1][-1], place, name):
                runs[-1].append(place)
            else:
                runs.append([place])
        if len(runs) <= MOST_GROUPS:
            break
    home = {place: run[-1] for run in runs for place in run}
    arrows = {
        (home[one], home[place]): None
        for place in computed
        for one in links.sources[place]
        if one in home and home[one] != home[place]
    }
    return _laid_out([_group_box(steps, run, name) for run in runs], list(arrows))


# From fine to coarse: what operations of one box have in common.
_NAMES: tuple[Callable[[Step], tuple[str, str]], ...] = (
    lambda step: (step.where, step.moment),
    lambda step: (".".join(step.where.split(".")[:2]), step.moment),
    lambda step: (step.where.partition(".")[0], step.moment),
    lambda step: (step.where.partition(".")[0], ""),
    lambda step: ("", ""),
)


def _same_run(
    steps: Sequence[Step], one: int, other: int, name: Callable[[Step], tuple[str, str]]
) -> bool:
    """The loss and what is given stand for themselves."""
    alone = other == len(steps) - 1 or steps[one].kind != "operation"
    return not alone and name(steps[one]) == name(steps[other])


def _group_box(
    steps: Sequence[Step], run: list[int], name: Callable[[Step], tuple[str, str]]
) -> Box:
    if len(run) == 1:
        return _box(steps, run[0])
    last = _box(steps, run[-1])
    path, moment = name(steps[run[-1]])
    title = " ".join(part for part in (path, moment) if part) or "the model"
    return replace(last, title=title, place=f"{len(run)} operations")


def _laid_out(boxes: list[Box], arrows: Sequence[tuple[int, int]]) -> Graph:
    """Columns by the longest way from the left; in each, what was computed above what is given."""
    columns = _columns(boxes, arrows)
    rows: dict[int, int] = {}
    heights: dict[int, int] = {}  # of each line of the broken row
    for column in range(1 + max(columns.values())):
        inside = [box for box in boxes if columns[box.key] == column]
        inside.sort(key=lambda box: (box.kind == "parameter", _mean_row(box, arrows, rows)))
        rows |= {box.key: row for row, box in enumerate(inside)}
        line = column // COLUMNS
        heights[line] = max(heights.get(line, 0), len(inside))
    tops = {line: sum(heights[one] for one in range(line)) for line in heights}
    placed = [
        replace(
            box,
            column=columns[box.key] % COLUMNS,
            row=tops[columns[box.key] // COLUMNS] + rows[box.key],
        )
        for box in boxes
    ]
    return Graph(boxes=tuple(placed), arrows=tuple(arrows))


def _mean_row(box: Box, arrows: Sequence[tuple[int, int]], rows: Mapping[int, int]) -> float:
    """Where its inputs stand, on average."""
    found = [rows[start] for start, end in arrows if end == box.key]
    return sum(found) / len(found) if found else 0.0


def _columns(boxes: list[Box], arrows: Sequence[tuple[int, int]]) -> Mapping[int, int]:
    """Operations behind the last of their inputs, what is given right before its first use."""
    columns: dict[int, int] = {}
    for box in boxes:  # in the order of computation
        columns[box.key] = max((columns[a] + 1 for a, b in arrows if b == box.key), default=0)
    for box in boxes:
        used = [columns[b] for a, b in arrows if a == box.key]
        if box.kind != "operation" and used:
            columns[box.key] = min(used) - 1
    return columns
