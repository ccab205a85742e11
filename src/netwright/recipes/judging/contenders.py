"""Entries that met their data: whole recipes with labels, and the seeds they are trained under."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from netwright.core.config import Config
from netwright.core.errors import NetwrightError
from netwright.data.dataset import Data
from netwright.recipes.judging.entries import ComparisonEntry, Settings
from netwright.recipes.judging.reproduce_comparison import entry_words
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.recipe import Recipe
from netwright.train.own.parts import NO_PARTS, OwnParts


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A recipe that is ready to be trained under its seeds.

    Args:
        label: what it is called; no other contender has it.
        recipe: what is trained; its seed is replaced.
        seeds: one a fit.
        repeats: the label of the first contender with the same recipe, or nothing. Under the same
            seeds both would be equal bit by bit, so a repeat has seeds of its own.
        make: makes its module, where that is of the caller's own.
    """

    label: str
    recipe: Recipe
    seeds: tuple[int, ...]
    repeats: str = ""
    make: OwnModel | None = None


def build_contenders(
    entries: Sequence[ComparisonEntry],
    source: tuple[str, Config | None, Data],
    shared: Settings,
    own: OwnParts = NO_PARTS,
    *,
    seeds: int,
    seed: int,
) -> tuple[Contender, ...]:
    """Resolve the entries on their data; a refusal says which entry it is about.

    Args:
        entries: what is compared.
        source: the name, the settings and the data, as `load_source` gives them.
        shared: settings of training for all.
        own: objects that were handed over for all.
        seeds: how many.
        seed: the first; the first repeat of a recipe goes on after the last.
    """
    name, config, data = source
    contenders: list[Contender] = []
    for place, entry in enumerate(entries, start=1):
        try:
            recipe = entry.resolve(data, shared, own)
        except NetwrightError as error:
            raise type(error)(f"{entry.label or f'entry {place}'}: {error}") from None
        recipe = replace(recipe, data=name, data_settings=config, seed=seed)
        this = (recipe, entry.make)
        earlier = [other for other in contenders if (other.recipe, other.make) == this]
        first = seed + seeds * len(earlier)
        contenders.append(
            Contender(
                label=_label(entry, recipe, contenders, earlier),
                recipe=recipe,
                seeds=tuple(range(first, first + seeds)),
                repeats=earlier[0].label if earlier else "",
                make=entry.make,
            )
        )
    return tuple(contenders)


def _label(
    entry: ComparisonEntry,
    recipe: Recipe,
    others: Sequence[Contender],
    earlier: Sequence[Contender],
) -> str:
    """What the entry is called, with a number where that is taken."""
    taken = {other.label for other in others}
    wanted = entry.label or entry_words(recipe.to_mapping(), {})
    if earlier:
        times = "" if len(earlier) == 1 else f" {len(earlier)}"
        wanted = f"{earlier[0].label} (again{times})"
    number, label = 1, wanted
    while label in taken:
        number += 1
        label = f"{wanted} ({number})"
    return label
