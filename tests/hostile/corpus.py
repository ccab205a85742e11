"""All cases, in the order of the table."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain

from tests.hostile import (
    image_cases,
    import_cases,
    json_cases,
    race_cases,
    recipe_cases,
    run_cases,
    search_cases,
    shard_cases,
    table_cases,
    text_cases,
    weight_cases,
)
from tests.hostile.case import Case

MODULES = (
    run_cases,
    json_cases,
    weight_cases,
    import_cases,
    search_cases,
    race_cases,
    table_cases,
    image_cases,
    shard_cases,
    text_cases,
    recipe_cases,
)


# Of kinds with many or with long cases one in so many is tried each time.
THINNED = {
    "run: files of a finished run": 12,
    "run: files of a resumed run": 28,
    "run: checkpoints": 34,
    "run: JSON of wrong types": 42,
    "run: values of JSON files": 16,
    "weights: safetensors": 16,
    "run: manifests": 8,
    "weights: pickles": 8,
    "imports: a GPT-2": 20,
    "images: bombs": 4,
    "tables: odd files": 8,
    "search: files": 28,
    "search: plans and folders": 14,
    "search: journals": 8,
    "search: databases": 6,
    "search over models: files": 20,
    "search over models: plans": 8,
    "tables: content": 16,
    "images: files": 16,
    "images: folders": 6,
    "shards": 9,
    "texts": 16,
    "tokenizers": 8,
    "recipes: YAML": 12,
    "recipes: settings": 8,
    "in a new process": 10,
    "verify": 48,
    "run: links to folders": 4,
    "tables: archives and formats": 4,
    "tables: arrays": 4,
    "recipes: odd files": 4,
    "recipes: outputs": 4,
}
# Kinds of folders that `netwright verify` looks at too.
VERIFIED = {
    "run: files of a finished run": "verify run",
    "run: values of JSON files": "verify run",
    "run: manifests": "verify run",
    "weights: safetensors": "verify run",
    "search: files": "verify search",
    "search: journals": "verify search",
    "search: databases": "verify search",
    "search over models: files": "verify race",
}
# Tried once more by a Python of their own, as a person would: nothing is imported before.
NEW_PROCESS = (
    "members of members is a link to folder",
    "results.json is a pipe",
    "config.yaml is a link to a device",
    "hidden of 60,000 x 60,000",
    "a manifest names '/dev/zero'",
    "a gzip file of 3 GB as data",
    "torch archive as .pt for train --from",
    "a table with escape codes in its labels",
    "a recipe with a tag that runs a command",
    "search, the monitor is a shell's text, the journal a link",
)


@cache
def all_cases() -> dict[str, Case]:
    """The cases by their names, each of which is there once."""
    found: dict[str, Case] = {}
    for case in chain.from_iterable(module.cases() for module in MODULES):
        if case.name in found:
            raise ValueError(f"two cases are called {case.name!r}")
        found[case.name] = case
    for case in list(found.values()):
        if case.kind in VERIFIED and "started from" not in case.name:
            verified = replace(
                case,
                name=f"verify: {case.name}",
                kind="verify",
                commands=(VERIFIED[case.kind],),
                end="either",
            )
            found[verified.name] = verified
    for name in NEW_PROCESS:
        case = replace(
            found[name], name=f"{name}, in a new process", kind="in a new process", fresh=True
        )
        found[case.name] = case
    return found


def kinds() -> list[str]:
    """The rows of the table."""
    return list(dict.fromkeys(case.kind for case in all_cases().values()))


def of_kind(kind: str) -> Iterator[Case]:
    """The cases of one row."""
    return (case for case in all_cases().values() if case.kind == kind)


def quick_cases() -> list[Case]:
    """The cases that are tried each time; the others are of their kinds."""
    return [case for kind in kinds() for case in list(of_kind(kind))[:: THINNED.get(kind, 1)]]
