"""The steps as text: a table of the forward pass, then one of the backward pass.

Going back, each value has a line with the gradient that arrived, and below it one line for each of
its inputs: the local derivative, and what is handed on. What only moves numbers stands in brackets.
"""

from collections.abc import Sequence

from netwright.inspection.drawing.wording import short_name
from netwright.inspection.stepper.numeric_check import Check
from netwright.inspection.stepper.stepped import Contribution, Step, label

MOST_ROWS = 240  # of one table: more are left out in its middle
_FORWARD = (5, 20, 16, 18, 36)  # letters a column: 100 with the gaps
_BACKWARD = (5, 24, 30, 30, 7)


def steps_text(steps: Sequence[Step]) -> str:
    """Both tables, at most 100 letters wide."""
    forward = [row for place in range(len(steps)) for row in _forward(steps, place)]
    backward = [row for place in reversed(range(len(steps))) for row in _backward(steps, place)]
    return "\n".join(
        [
            "FORWARD",
            _row(_FORWARD, "", "operation", "of", "where", "value"),
            *_shortened(forward),
            "",
            "BACKWARD",
            _row(_BACKWARD, "", "operation", "where", "gradient that arrives", "check"),
            _row(
                _BACKWARD, "", "  -> hands on to", "local derivative", "gradient handed on", "check"
            ),
            *_shortened(backward),
        ]
    )


def _forward(steps: Sequence[Step], place: int) -> list[str]:
    step = steps[place]
    made_of = " ".join(f"#{one}" for one in step.inputs) or step.kind
    first = _row(_FORWARD, f"#{place}", _name(step), made_of, step.place, str(step.value))
    constants = () if step.quiet else step.constants
    return [first, *(_row(_FORWARD, "", "", f"  {name}", "", str(one)) for name, one in constants)]


def _backward(steps: Sequence[Step], place: int) -> list[str]:
    step = steps[place]
    first = _row(
        _BACKWARD, f"#{place}", _name(step), step.place, str(step.gradient), _verdict(step.check)
    )
    return [first, *(_handed(steps, step, one) for one in step.contributions)]


def _handed(steps: Sequence[Step], step: Step, handed: Contribution) -> str:
    return _row(
        _BACKWARD,
        "",
        f"  -> {label(steps, handed.target)}",
        "" if step.quiet else local_words(handed),
        str(handed.amount),
        str(handed.check),
    )


def local_words(handed: Contribution) -> str:
    """The local derivative in words: its numbers, or how large the matrix is."""
    if handed.local is None:
        return "a large matrix"
    return str(handed.local) if handed.kind == "matrix" else f"slopes {handed.local}"


def _name(step: Step) -> str:
    return f"({step.name})" if step.quiet else step.name


def _verdict(check: Check | None) -> str:
    return "" if check is None else str(check)


def _row(widths: Sequence[int], *cells: str) -> str:
    """Cells in columns; what is too long is cut."""
    shown = [
        short_name(cell, width) if cell.strip() else ""
        for cell, width in zip(cells, widths, strict=True)
    ]
    return " ".join(f"{cell:<{width}}" for cell, width in zip(shown, widths, strict=True)).rstrip()


def _shortened(rows: list[str]) -> list[str]:
    if len(rows) <= MOST_ROWS:
        return rows
    half = MOST_ROWS // 2
    return [*rows[:half], f"      ... {len(rows) - 2 * half:,} lines ...", *rows[-half:]]
