"""`results.json` of a run folder, read back: each number is one, each text is one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netwright.core.checks import is_finite_number
from netwright.core.errors import DataError
from netwright.core.files.storage import read_json


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_numbers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(is_finite_number, value.values()))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_findings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def _is_score(value: Any) -> bool:
    """Whether it is what `TranslationScore` is made of."""
    if not isinstance(value, Mapping) or not isinstance(value.get("signature"), str):
        return False
    numbers = {"bleu", "copied", "pairs", "beams", "length_penalty"}
    names = {*numbers, "signature"}
    return set(value) == names and all(is_finite_number(value[name]) for name in numbers)


# What every run has, and what only some have.
NEEDED: dict[str, Callable[[Any], bool]] = {
    "status": _is_text,
    "split": _is_text,
    "metrics": _are_numbers,
    "baseline": _are_numbers,
}
KNOWN: dict[str, Callable[[Any], bool]] = {
    **NEEDED,
    "finished": lambda value: isinstance(value, bool),
    "rows": _is_count,
    "baseline_rule": _is_text,
    "parameters": _is_count,
    "epochs": _is_count,
    "best_epoch": _is_count,
    "steps": _is_count,
    "best_step": _is_count,
    "seconds": is_finite_number,
    "load_seconds": is_finite_number,
    "compile_seconds": is_finite_number,
    "notes": _are_texts,
    "findings": _are_findings,
    "bleu": _is_score,
    "contents": lambda value: isinstance(value, Mapping),
}


def read_results(folder: Path) -> dict[str, Any]:
    """The results in a run folder; what a run could not have written is refused by its name."""
    path = folder / "results.json"
    results = read_json(path)
    if not isinstance(results, dict):
        raise DataError(f"{path} does not contain the results of a run")
    for name in NEEDED:
        if name not in results:
            raise DataError(f"{path} lacks {name!r}")
    for name, is_right in KNOWN.items():
        if name in results and not is_right(results[name]):
            raise DataError(f"{path} holds {results[name]!r:.60} as {name!r}")
    return results
