"""Outlines as the text that SVG reads, in few letters.

Corners are rounded to a grid and written as steps from the one before, `t` where a curve goes on as
smoothly as its predecessor did, and without a space where a sign or a point stands: a third of the
absolute coordinates with six decimals that matplotlib writes, and no visible difference.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

# A command of an SVG path with its absolute coordinates: ("Q", (x1, y1, x, y)).
Segment = tuple[str, Sequence[float]]

_COMMAND = re.compile(r"([MLQCZz])([^MLQCZz]*)")


def path_data(segments: Iterable[Segment], *, places: int) -> str:
    """The `d` of a path.

    Args:
        segments: M, L, Q, C and Z with absolute coordinates.
        places: decimals of the grid on which the corners come to lie.
    """
    grid = 10**places
    written: list[str] = []
    here = start = control = (0, 0)  # on the grid, as the browser sees them
    last = ""
    for letter, numbers in segments:
        if letter == "Z":
            written.append("z")
            here, last = start, "z"
            continue
        corners = [round(grid * number) for number in numbers]
        steps = [corner - here[place % 2] for place, corner in enumerate(corners)]
        command = letter.lower()
        mirrored = (2 * here[0] - control[0], 2 * here[1] - control[1])
        if command == "l" and 0 in steps:  # along one axis
            command, steps = ("v", steps[1:]) if steps[0] == 0 else ("h", steps[:1])
        elif command == "q" and last in {"q", "t"} and _is_near(mirrored, corners):
            command, steps, control = "t", steps[2:], mirrored
        else:
            control = (corners[0], corners[1])
        here = (corners[-2], corners[-1])
        written.append(_words(command if command != last else "", steps, places))
        if command == "m":
            start, command = here, "l"  # what follows a move is a line, unless it says otherwise
        last = command
    return "".join(written)


def read_path(data: str) -> list[Segment]:
    """The segments of a path as matplotlib writes it: absolute, a letter for each of them."""
    return [
        (letter.upper(), [float(number) for number in numbers.split()])
        for letter, numbers in _COMMAND.findall(data)
    ]


def decimals(number: float, places: int) -> str:
    """A number with at most so many decimals and no zero that says nothing: -.5, 12, 0."""
    return _decimals(round(number * 10**places), places)


@lru_cache(maxsize=1 << 13)
def _decimals(units: int, places: int) -> str:
    whole, rest = divmod(abs(units), 10**places)
    after = f"{rest:0{places}d}".rstrip("0") if rest else ""
    size = f"{whole or ''}.{after}" if after else f"{whole}"
    return f"-{size}" if units < 0 else size


def _is_near(mirrored: tuple[int, int], corners: Sequence[int]) -> bool:
    """Whether the control point that `t` implies is the wanted one, up to rounding."""
    return abs(mirrored[0] - corners[0]) <= 1 and abs(mirrored[1] - corners[1]) <= 1


def _words(command: str, steps: Sequence[int], places: int) -> str:
    """The command and its numbers, with a space only where two of them would run together."""
    text, before = command, "" if command else "0"
    for step in steps:
        number = _decimals(step, places)
        is_apart = not before or number[0] == "-" or (number[0] == "." and "." in before)
        text += number if is_apart else f" {number}"
        before = number
    return text
