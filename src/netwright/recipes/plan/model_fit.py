"""Whether a model can take the data: said before it is read where that is known, with a way out."""

from collections.abc import Collection

from netwright.core.errors import ConfigError
from netwright.data.catalog import SOURCES
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.models.model import IN_WORDS, check_fits, check_reads

SHOWN = 3  # models that are named in a refusal
MARKS_ANSWERS = (
    "name the column of its texts (--text COLUMN), or give it the columns question, context and "
    "answer; "
)


def check_source_fits(model: str, source: str, place: str = "") -> None:
    """Refuse a model that cannot read what a source of data gives, before anything is loaded.

    Args:
        model: its name in the catalog; empty for a module of the user's own, which may read it.
        source: the name of the source in the catalog.
        place: the file or folder that it would read.
    """
    kinds = SOURCES.load(source).inputs
    if not model or not kinds:
        return
    try:
        check_reads(MODELS.load(model), model, kinds)
    except ConfigError as refusal:
        what = f" ({place})" if place else ""
        hint = MARKS_ANSWERS if source == "table" and _marks_answers(model) else ""
        raise ConfigError(f"{refusal}{what}; {hint}{_suggestion(kinds)}") from None


def _marks_answers(model: str) -> bool:
    return "span" in MODELS.load(model).targets


def check_model_fits(model: str, spec: DataSpec) -> None:
    """Refuse a model that cannot read these inputs or predict these targets, and name some."""
    try:
        check_fits(MODELS.load(model), model, spec)
    except ConfigError as refusal:
        raise ConfigError(f"{refusal}; {_suggestion([spec.inputs], spec.target)}") from None


def models_for(inputs: InputKind, target: TargetKind | None = None) -> list[str]:
    """The models that read such inputs, those for most kinds of targets first; no ensembles."""
    kinds = {name: MODELS.load(name) for name in MODELS}
    fitting = {
        name: kind
        for name, kind in kinds.items()
        if inputs in kind.inputs
        and target in {None, *kind.targets}
        and (inputs, target) not in kind.apart
    }
    alone = [name for name, kind in fitting.items() if not issubclass(kind, Ensemble)]

    def kinds_of_target(name: str) -> int:
        kind = fitting[name]
        return sum((inputs, one) not in kind.apart for one in kind.targets)

    return sorted(alone, key=kinds_of_target, reverse=True)


def _suggestion(inputs: Collection[InputKind], target: TargetKind | None = None) -> str:
    data = " or ".join(IN_WORDS[kind] for kind in inputs)
    named = list(dict.fromkeys(name for kind in inputs for name in models_for(kind, target)))
    if not named:
        return f"no model of the catalog takes {data} and gives targets of kind {target!r}"
    of_kind = f" and targets of kind {target!r}" if target else ""
    more = ", ..." if len(named) > SHOWN else ""
    return f"for {data}{of_kind} there are {', '.join(named[:SHOWN])}{more}"
