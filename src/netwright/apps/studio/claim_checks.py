"""Claims as the studio shows them: what each says, what can be changed, and its verdict."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.inspection.drawing.compact_svg import compact_svg
from netwright.inspection.drawing.formula import formula_svg, formula_text
from netwright.inspection.drawing.page import data_address
from netwright.recipes.plan.run_plan import fields_of
from netwright.theory.catalog import CLAIMS
from netwright.theory.claims import Claim

MOST_SETTINGS = 50


def list_claims() -> list[dict[str, str]]:
    """All of them, in the order of the ledger."""
    loaded = {name: CLAIMS.load(name) for name in CLAIMS}
    return [
        {"name": name, "topic": one.topic, "kind": one.kind, "statement": one.statement}
        for name, one in loaded.items()
    ]


def describe_claim(name: str) -> dict[str, Any]:
    """Statement, formula and source, and its settings as fields of a form."""
    claim = CLAIMS.load(name)
    card, assumed = claim.card, claim.assumptions
    fields = [asdict(field) for field in fields_of(claim.settings)]
    return {
        "name": name,
        "topic": claim.topic,
        "kind": claim.kind,
        "statement": claim.statement,
        "expected": claim.expected_answer,
        "formula": data_address("svg", formula_svg(card.formula)),
        "formula_text": formula_text(card.formula),
        "symbols": dict(card.symbols),
        "source": card.source,
        "misprint": card.misprint,
        "assumptions": [field for field in fields if field["name"] in assumed],
        "parameters": [field for field in fields if field["name"] not in assumed],
    }


def asked_claim(asked: Mapping[str, Any]) -> tuple[Claim, dict[str, Any]]:
    """The claim that a page asks for and its settings, of which each is one that the claim has."""
    name, settings = str(asked.get("claim", "")), asked.get("settings", {})
    if not isinstance(settings, dict) or len(settings) > MOST_SETTINGS:
        raise ConfigError("settings must be a mapping of names and values")
    claim = CLAIMS.load(name)
    parse(claim.settings, settings)  # before `check`, whose own arguments are no settings
    return claim, settings


def check_asked(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict of a claim under settings that a page sent, as `netwright theory` gives it."""
    claim, settings = asked_claim(asked)
    began = time.perf_counter()
    verdict = claim.check(asked.get("seed", 0), asked.get("size", "quick"), **settings)
    return {
        "answer": verdict.answer,
        "words": verdict.words,
        "expected": claim.expected_answer if not settings else "",
        "rows": verdict.table_rows(),
        "seconds": round(time.perf_counter() - began, 2),
        "title": verdict.chart.title,
        "caption": verdict.chart.caption,
        "picture": data_address("svg", compact_svg(verdict.chart.image("svg"))),
    }
