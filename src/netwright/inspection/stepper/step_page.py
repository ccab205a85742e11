"""A page to step through a computation, by buttons or by keys.

Each step shows the graph with the present operation marked: all of a small one, of a large one what
the operation is computed from and what uses it. Going forward it shows the formula with its
numbers; going back, the gradient that arrives, the local derivative, and what is handed on.
"""

from collections.abc import Sequence
from typing import Literal

from netwright.inspection.drawing.page import (
    Html,
    Page,
    badge,
    code,
    graph,
    heading,
    note,
    table,
    text,
)
from netwright.inspection.drawing.page import steps as turning
from netwright.inspection.stepper.graph_pictures import graph_svg
from netwright.inspection.stepper.numeric_check import Check, Verdict
from netwright.inspection.stepper.operation_words import formulas
from netwright.inspection.stepper.step_graph import (
    MOST_BOXES,
    Graph,
    Links,
    graph_around,
    graph_of,
)
from netwright.inspection.stepper.step_text import local_words, steps_text
from netwright.inspection.stepper.stepped import Step, arrivals, label

MOST_STEPS = 300  # operations that have panes: those nearest the loss
MOST_NEIGHBOURS = 6  # users of a value that are drawn beside it


def steps_page(title: str, caption: str, steps: Sequence[Step]) -> Page:
    """The page: the steps, then the whole graph and the tables."""
    links = Links(steps)
    computed = [place for place in links.visible if steps[place].kind == "operation"]
    shown = computed[-MOST_STEPS:]
    panes = [_forward(links, place) for place in shown]
    panes += [_backward(links, place) for place in reversed(shown)]
    whole = len(shown) == len(computed)
    words = "" if whole else f"The last {len(shown)} of {len(computed):,} operations, to the loss."
    page = Page(title, subtitle=caption, keys=True)
    turned = turning("step", panes, jumps={"forward": 0, "backward": len(shown)})
    page.section("Step by step", note(words), turned)
    page.section("The whole graph", graph("the whole graph", graph_svg(graph_of(links))))
    page.section("All steps", code(steps_text(steps), is_table=True))
    return page


def _forward(links: Links, place: int) -> Html:
    """What is computed, from what, and by which formula."""
    steps, step = links.steps, links.steps[place]
    rows = [
        {"": "from", "what": label(steps, one), "numbers": str(steps[one].value)}
        for one in step.inputs
    ]
    rows += [{"": "with", "what": name, "numbers": str(one)} for name, one in step.constants]
    rows.append({"": "gives", "what": label(steps, place), "numbers": str(step.value)})
    picture = graph_svg(
        _neighbourhood(links, place),
        marked=place,
        values=lambda key: key <= place or steps[key].kind != "operation",
        gradients=lambda _: False,
    )
    formula, _ = formulas(step.name) if step.usual else ("", "")
    return _pane("forward", links, place, picture, text(formula), table(rows))


def _backward(links: Links, place: int) -> Html:
    """What arrives, the local derivative, and what is handed on."""
    steps, step = links.steps, links.steps[place]
    arrived: list[dict[str, str | Html]] = [
        {"": "from", "what": label(steps, user), "gradient": str(one.amount), "measured": ""}
        for user, one in arrivals(steps, place)
    ]
    total = {
        "": "in all",
        "what": label(steps, place),
        "gradient": str(step.gradient),
        "measured": _badge(step.check),
    }
    handed: list[dict[str, str | Html]] = [
        {
            "hands on to": label(steps, one.target),
            "local derivative": local_words(one),
            "times what arrived": str(one.amount),
            "measured": _badge(one.check),
        }
        for one in step.contributions
    ]
    picture = graph_svg(
        _neighbourhood(links, place),
        marked=place,
        gradients=lambda key: min(links.users[key], default=key) >= place,  # all users are done
    )
    _, derivative = formulas(step.name) if step.usual else ("", "")
    blocks = (text(derivative), table([*arrived, total]), table(handed))
    return _pane("backward", links, place, picture, *blocks)


def _pane(way: str, links: Links, place: int, picture: bytes, *blocks: Html) -> Html:
    step, title = links.steps[place], f"{way}: {label(links.steps, place)}"
    where = note(f"in module {step.place}") if step.where else note(step.moment)
    return Html("".join([heading(title), where, graph(title, picture), *blocks]))


def _neighbourhood(links: Links, place: int) -> Graph:
    """All of a small graph; of a large one the operation, its inputs and its users."""
    if len(links.visible) <= MOST_BOXES:
        return graph_around(links, links.visible)
    users = links.users[place][:MOST_NEIGHBOURS]
    return graph_around(links, [*sorted(links.sources[place]), place, *users])


def _badge(check: Check | None) -> Html:
    if check is None:
        return Html("")
    moods: dict[Verdict, Literal["good", "bad", "plain"]] = {
        "ok": "good",
        "off": "bad",
        "kink": "plain",
        "unclear": "plain",
    }
    return badge(str(check), moods[check.verdict])
