"""The misprints as lines, as JSON or as a page."""

from itertools import groupby
from pathlib import Path


def show_misprints(html: Path | None, *, as_json: bool) -> None:
    """Check every misprint and tell what its two forms give."""
    from netwright.core.files.storage import write_text
    from netwright.core.terminal.console import print_json, print_result
    from netwright.inspection.drawing.formula import formula_text
    from netwright.theory.misprints.catalog import MISPRINTS
    from netwright.theory.misprints.page import check_misprints, misprints_page

    checked = check_misprints(MISPRINTS)
    if html is not None:
        write_text(html, misprints_page(checked))
    if as_json:
        print_json([entry.to_json() for entry in checked])
        return
    for topic, group in groupby(checked, key=lambda entry: entry.misprint.topic):
        print_result(topic)
        for entry in group:
            misprint = entry.misprint
            print_result(f"  {misprint.name}: {misprint.difference}")
            print_result(f"    right  {formula_text(misprint.right)}")
            print_result(f"    wrong  {formula_text(misprint.wrong)}")
            print_result(f"    {entry.sentence}")
            print_result("")
    if html is not None:
        print_result(f"page: {html}")
