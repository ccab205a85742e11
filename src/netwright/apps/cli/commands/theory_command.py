"""`netwright theory`: claims as experiments, each with a verdict; all of them are the ledger."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netwright.apps.cli.misprints_list import show_misprints

if TYPE_CHECKING:
    from netwright.theory.ledger import LedgerEntry

SIZES = ("quick", "full")


def theory(
    names: Annotated[
        list[str] | None, typer.Argument(help="Claims to check; without any they are listed.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every claim.")] = False,
    misprints: Annotated[
        bool, typer.Option("--misprints", help="Formulas that are often printed wrong.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter or assumption of the claim."),
    ] = None,
    size: Annotated[str, typer.Option(help="quick, or full (more repetitions).")] = "quick",
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Check claims: statement, prediction, measurement, verdict. Exits with 1 on a surprise.

    netwright theory
    netwright theory novikoff --set margin=0.05
    netwright theory novikoff --set separable=false
    netwright theory --all --html ledger.html
    netwright theory --misprints
    """
    from netwright.apps.cli.commands.list_command import list_names
    from netwright.core.errors import ConfigError

    if size not in SIZES:
        raise ConfigError(f"size must be quick or full, got {size!r}")
    if misprints:
        if names or every or settings:
            raise ConfigError("--misprints takes no claims or settings")
        show_misprints(html, as_json=as_json)
        return
    if every and names:
        raise ConfigError(f"give the names of claims or --all, not both: got {names[0]!r}")
    if not every and not names:
        if html or settings:
            raise ConfigError("name the claims to check, or give --all")
        list_names("claims", as_json=as_json)
        return
    entries = _check(names, settings or [], seed, size, quiet=as_json)
    _tell(entries, seed, size, html, as_json=as_json)
    if not all(entry.is_as_expected for entry in entries):
        raise typer.Exit(1)


def _check(
    names: list[str] | None, typed: list[str], seed: int, size: Any, *, quiet: bool
) -> list["LedgerEntry"]:
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_message
    from netwright.theory.catalog import CLAIMS
    from netwright.theory.ledger import check_claim

    # Names are looked up before the first of them is run.
    chosen = list(dict.fromkeys(CLAIMS.present_name(name) for name in names or CLAIMS))
    if typed and len(chosen) > 1:
        raise ConfigError(f"--set needs exactly one claim, got {len(chosen)}")
    entries = []
    for name in chosen:
        entry = check_claim(
            name, CLAIMS.load(name), seed=seed, size=size, settings=_settings(typed)
        )
        entries.append(entry)
        if len(chosen) > 1 and not quiet:
            surprise = "" if entry.is_as_expected else "  (not as expected)"
            print_message(f"{name:<28}{entry.answer}{surprise}  {entry.seconds:6.2f} s")
    return entries


def _settings(typed: list[str]) -> dict[str, Any]:
    from netwright.core.errors import ConfigError
    from netwright.recipes.plan.recipe_file import typed_value

    settings = {}
    for pair in typed:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise ConfigError(f"--set must be KEY=VALUE, got {pair!r}")
        settings[name.strip()] = typed_value(value)
    return settings


def _tell(
    entries: list["LedgerEntry"], seed: int, size: Any, html: Path | None, *, as_json: bool
) -> None:
    from netwright.core.files.storage import write_text
    from netwright.core.terminal.console import print_json, print_result
    from netwright.theory.ledger_page import ledger_page

    if html is not None:
        write_text(html, ledger_page(entries, seed=seed, size=size))
    if as_json:
        print_json(
            {
                "seed": seed,
                "size": size,
                "seconds": round(sum(entry.seconds for entry in entries), 2),
                "as_expected": all(entry.is_as_expected for entry in entries),
                "claims": [entry.to_json() for entry in entries],
            }
        )
        return
    for entry in entries if len(entries) <= 3 else []:
        _show(entry)
    if len(entries) > 1:
        surprising = [entry.name for entry in entries if not entry.is_as_expected]
        answers = [entry.answer for entry in entries]
        open_ = answers.count("undecided")
        print_result(
            f"{len(entries)} claims: {answers.count('holds')} hold, {answers.count('fails')} fail"
            f"{f', {open_} undecided' if open_ else ''}; not as "
            f"expected: {', '.join(surprising) or 'none'}"
        )
    if html is not None:
        print_result(f"page: {html}")


def _show(entry: "LedgerEntry") -> None:
    """Statement, formula, findings, and what each assumption is worth."""
    from netwright.core.terminal.console import print_result, print_table
    from netwright.inspection.drawing.formula import formula_text

    print_result(f"{entry.name} ({entry.claim.kind}): {entry.claim.statement}")
    print_result(f"\n    {formula_text(entry.claim.card.formula)}\n")
    print_table(
        [
            {
                "measured": finding.what,
                "predicted": finding.wanted,
                "found": finding.found,
                "n": f"{finding.n}",
                "": {"holds": "ok", "fails": "no", "undecided": "open"}[finding.answer],
            }
            for finding in entry.verdict.findings
        ]
    )
    surprise = "" if entry.is_as_expected else ", which was not expected"
    print_result(f"\nverdict: it {entry.verdict.words}{surprise} ({entry.seconds:.2f} s)")
    if entry.settings:
        print_result("settings were changed, so no verdict is expected")
    for name, verdict in entry.without.items():
        text = entry.claim.assumptions[name]
        print_result(f"without {name} ({text}): it {verdict.told}")
    if entry.warning:
        print_result(entry.warning)
    print_result(f"source: {entry.claim.card.source}\n")
