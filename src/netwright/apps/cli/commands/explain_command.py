"""`netwright explain`: what a name stands for, its formula, and the code that computes it."""

from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from netwright.recipes.explain.explain import Explanation

MOST_LINES = 40  # of a function on a terminal


def explain(
    name: Annotated[str, typer.Argument(help="A model, optimizer, metric, activation ...")],
    html: Annotated[bool, typer.Option("--html", help="Write a page.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where the page goes. (NAME.html)")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Explain a component: one sentence, formula, symbols, settings, source, and its code.

    netwright explain adam
    netwright explain mlp --html
    """
    from netwright.core.files.storage import write_text
    from netwright.core.terminal.console import print_json, print_result
    from netwright.inspection.drawing.view import plain
    from netwright.recipes.explain.explain import explain, explanation_page

    found = explain(name)
    page = out or (Path(f"{name}.html") if html else None)
    if page is not None:
        write_text(page, explanation_page(found))
    if as_json:
        print_json([plain(explanation) for explanation in found])
    elif page is not None:
        print_result(f"page: {page}")
    else:
        for explanation in found:
            if explanation is not found[0]:
                print_result("")
            _show(explanation)


def _show(explanation: "Explanation") -> None:
    """From the sentence to the code, in the order in which one reads it."""
    from netwright.core.terminal.console import print_result, print_table
    from netwright.inspection.drawing.formula import formula_text
    from netwright.recipes.explain.explain import setting_rows

    card = explanation.card
    print_result(f"{explanation.name} ({explanation.kind})\n{card.sentence}")
    if card.formula:
        print_result(f"\n    {formula_text(card.formula)}\n    LaTeX: {card.formula}")
    symbols = [{"symbol": formula_text(s), "meaning": m} for s, m in card.symbols.items()]
    for rows in (symbols, setting_rows(explanation.settings)):
        if rows:
            print_result("")
            print_table(rows)
    if card.misprint:
        print_result(f"\nBeware: {card.misprint}")
    print_result(f"\nSource: {card.source}")
    for code in explanation.code:
        count = code.lines.count("\n") + 1
        if count > MOST_LINES:
            print_result(f"\n{code.place} ({count} lines; --html shows them)")
        else:
            print_result(f"\n{code.place}\n{indent(code.lines, '    ')}")
