"""Explain a part by its name: its card, its settings, and the lines of code that compute it.

    for explanation in explain("adam"):
        print(explanation.card.formula, explanation.code[0].place)

A name is looked for in every table; where several have it, each is explained.
"""

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from torch import nn

from netwright.core.card import Card
from netwright.core.checks import nearest
from netwright.core.config import Field, describe
from netwright.core.errors import UnknownNameError
from netwright.core.learner import Learner
from netwright.data.augment.augmentation import Augmentation
from netwright.data.augment.catalog import AUGMENTATIONS
from netwright.data.catalog import SOURCES
from netwright.data.source import Source
from netwright.data.text.catalog import TOKENIZERS
from netwright.data.text.tokenizer import Tokenizer
from netwright.inspection.drawing.card_blocks import card_blocks
from netwright.inspection.drawing.formula import formula_text
from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import Html, Page, code, folded, heading, table
from netwright.layers.activations import ACTIVATIONS, Activation
from netwright.layers.attention.attention_scores import SCORES, Score
from netwright.layers.initializer import Initializer
from netwright.layers.initializers import INITIALIZERS, TORCH
from netwright.losses.catalog import LOSSES
from netwright.losses.loss import Loss
from netwright.metrics.catalog import METRICS, Measure, Metric
from netwright.metrics.tokens import TOKEN_FORMULAS
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.models.model import Model
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import OptimizerEntry
from netwright.optimizers.rules import RULES
from netwright.optimizers.schedule import Schedule
from netwright.optimizers.schedules import SCHEDULES
from netwright.recipes.explain.source_code import Code, called_neighbours, code_of
from netwright.recipes.plan.regularizer import FirstSetting, Regularizer
from netwright.recipes.plan.regularizers import REGULARIZERS
from netwright.recipes.ready.catalog import READY, ReadyRecipe
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.entry import ViewEntry
from netwright.theory.catalog import CLAIMS
from netwright.theory.claims import Claim

MOST_OPEN_LINES = 60  # longer code is folded on a page


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """All there is to say about a part.

    Args:
        name: what it is called in its table.
        kind: which table: "model", "optimizer", "metric" ...
        card: sentence, formula, symbols, source; data sets have no formula.
        settings: what may be set, with defaults.
        code: the functions that compute it.
    """

    name: str
    kind: str
    card: Card
    settings: tuple[Field, ...]
    code: tuple[Code, ...]

    def page(self) -> str:
        """A page of its own, as HTML."""
        return explanation_page((self,))

    def __repr__(self) -> str:
        return f"Explanation({self.kind} {self.name!r}: {self.card.sentence})"

    def __str__(self) -> str:
        card = self.card
        symbols = [f"    {formula_text(symbol)}: {what}" for symbol, what in card.symbols.items()]
        formula = [f"    {formula_text(card.formula)}"] if card.formula else []
        set_to = [f"    {field.name} = {_shown(field.default)}" for field in self.settings]
        lines = [f"{self.name} ({self.kind})", card.sentence, *formula, *symbols]
        lines += ["settings:", *set_to] if set_to else []
        return "\n".join([*lines, f"source: {card.source}", *(one.place for one in self.code)])

    def _repr_html_(self) -> str:
        settings = table(setting_rows(self.settings)) if self.settings else Html("")
        title = heading(f"{self.name} ({self.kind})")
        lines = folded("Code", *_code_blocks(self.code))
        return in_notebook(title, *card_blocks(self.card), settings, lines)


class Explanations(tuple[Explanation, ...]):
    """All that a name stands for, one for each table that has it."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        return "".join(explanation._repr_html_() for explanation in self)


def explain(name: str) -> Explanations:
    """What a name stands for, once for each table that has it; an unknown one is refused."""
    found = Explanations(
        _explanation(name, kind, rows.read(rows.load(name)))
        for kind, rows in KINDS.items()
        if name in rows.names
    )
    if not found:
        known = chain.from_iterable(rows.names for rows in KINDS.values())
        hint = nearest(name, known) or "; `netwright list` shows what there is"
        raise UnknownNameError(f"there is nothing named {name!r}{hint}")
    return found


def explanation_page(explanations: Sequence[Explanation]) -> str:
    """One page for all that a name stands for, as HTML."""
    kinds = [explanation.kind for explanation in explanations]
    page = Page(explanations[0].name, subtitle=" and ".join(kinds))
    for explanation in explanations:
        prefix = "" if len(kinds) == 1 else f"{explanation.kind}: "
        page.section(f"{prefix}What it is", *card_blocks(explanation.card))
        if explanation.settings:
            page.section(f"{prefix}Settings", table(setting_rows(explanation.settings)))
        page.section(f"{prefix}Code", *_code_blocks(explanation.code))
    return page.render()


def setting_rows(settings: Sequence[Field]) -> list[dict[str, str]]:
    """One row a setting; a column that is empty in all of them is left out."""
    is_first = any(isinstance(field, FirstSetting) for field in settings)
    value = "initial value" if is_first else "default"
    rows = [
        {
            "setting": field.name,
            "type": field.kind,
            value: _shown(field.default),
            "what it is": field.doc,
        }
        for field in settings
    ]
    columns = [column for column in rows[0] if any(row[column] for row in rows)] if rows else []
    return [{column: row[column] for column in columns} for row in rows]


class Parts(NamedTuple):
    """What an explanation is made of."""

    card: Card
    settings: Sequence[Field]
    functions: Sequence[Callable[..., Any]]


class Rows(NamedTuple):
    """The names of a kind, and how a part of it is loaded and read."""

    names: Collection[str]
    load: Callable[[str], Any]
    read: Callable[[Any], Parts]


def _of_model(model: type[Model]) -> Parts:
    # The class that has `forward` also makes the layers that it calls.
    owner: Any = next(kind for kind in model.__mro__ if "forward" in vars(kind))
    functions: list[Callable[..., Any]] = [
        owner.forward,
        *model.code,
        owner.__init__,
        *called_neighbours(owner.__init__),
    ]
    if issubclass(model, Learner):
        functions.append(model.fit_steps)
    if issubclass(model, Ensemble):
        functions = [model.forward, model.combine, model.lessons]
    return Parts(model.card, describe(model.settings), functions)


def _of_optimizer(name: str) -> Parts:
    entry = OPTIMIZERS.load(name)
    known = inspect.signature(entry.make).parameters
    names = ["lr", *(["weight_decay"] if "weight_decay" in known else []), *entry.options()]
    ours = {"lr": entry.lr, "weight_decay": 0.0, **entry.presets}
    settings = [
        Field(name=setting, kind="", default=ours.get(setting, known[setting].default), doc="")
        for setting in names
    ]
    return Parts(entry.card, settings, _update_rule(name, entry))


def _of_metric(metric: Metric) -> Parts:
    functions = [_formula_of(metric.name, measure) for measure in metric.measures.values()]
    return Parts(metric.card, (), list(dict.fromkeys(functions)))


def _of_activation(activation: Activation) -> Parts:
    return Parts(activation.card, (), [activation.make.forward])


def _of_initializer(initializer: Initializer) -> Parts:
    fill = nn.Linear.reset_parameters if initializer is TORCH else initializer.fill
    return Parts(initializer.card, (), [fill])


def _of_score(score: type[Score]) -> Parts:
    return Parts(score.card, (), [score.forward, *called_neighbours(score.forward)])


def _of_tokenizer(tokenizer: type[Tokenizer]) -> Parts:
    return Parts(tokenizer.card, (), [tokenizer.fit, tokenizer.encode, tokenizer.decode])


def _of_loss(loss: Loss) -> Parts:
    return Parts(loss.card, (), list(loss.of.values()))


def _of_schedule(schedule: Schedule) -> Parts:
    return Parts(schedule.card, describe(schedule.settings), [schedule.shape])


def _of_regularizer(regularizer: Regularizer) -> Parts:
    return Parts(regularizer.card, regularizer.settings(), regularizer.code)


def _of_augmentation(augmentation: Augmentation) -> Parts:
    change = getattr(augmentation, "move", None) or getattr(augmentation, "change", None)
    doc = "used when `augment` names it without a strength; else NAME=STRENGTH"
    strength = Field(name="strength", kind="", default=augmentation.strength, doc=doc)
    return Parts(augmentation.card, [strength], [change or augmentation.apply])


def _of_claim(claim: Claim) -> Parts:
    return Parts(claim.card, describe(claim.settings), [claim.experiment])


def _of_view(entry: ViewEntry) -> Parts:
    return Parts(entry.card, describe(entry.settings), entry.code or (entry.measure,))


def _of_data(source: Source) -> Parts:
    origin = f"{source.origin}; licence: {source.licence}"
    card = Card(sentence=source.sentence, formula="", source=origin)
    return Parts(card, describe(source.config), [source.load])


def _of_recipe(recipe: ReadyRecipe) -> Parts:
    card = Card(sentence=recipe.sentence, formula="", source=f"recipes/ready/{recipe.path.name}")
    settings = [
        Field(name=f"{section}.{name}", kind="", default=value, doc="")
        for section, values in recipe.read().items()
        for name, value in (values if isinstance(values, dict) else {"name": values}).items()
    ]
    return Parts(card, settings, ())


KINDS: dict[str, Rows] = {
    "model": Rows(MODELS, MODELS.load, _of_model),
    "optimizer": Rows(OPTIMIZERS, str, _of_optimizer),  # the name also finds its rule
    "schedule": Rows(SCHEDULES, SCHEDULES.load, _of_schedule),
    "loss": Rows(LOSSES, LOSSES.load, _of_loss),
    "metric": Rows(METRICS, METRICS.__getitem__, _of_metric),
    "activation": Rows(ACTIVATIONS, ACTIVATIONS.load, _of_activation),
    "initializer": Rows(INITIALIZERS, INITIALIZERS.load, _of_initializer),
    "score": Rows(SCORES, SCORES.load, _of_score),
    "tokenizer": Rows(TOKENIZERS, TOKENIZERS.load, _of_tokenizer),
    "regularizer": Rows(REGULARIZERS, REGULARIZERS.__getitem__, _of_regularizer),
    "augmentation": Rows(AUGMENTATIONS, AUGMENTATIONS.load, _of_augmentation),
    "claim": Rows(CLAIMS, CLAIMS.load, _of_claim),
    "view": Rows(VIEWS, VIEWS.load, _of_view),
    "data set": Rows(SOURCES, SOURCES.load, _of_data),
    "recipe": Rows(READY, READY.__getitem__, _of_recipe),
}


def _explanation(name: str, kind: str, parts: Parts) -> Explanation:
    return Explanation(
        name=name,
        kind=kind,
        card=parts.card,
        settings=tuple(parts.settings),
        code=tuple(code_of(function) for function in parts.functions),
    )


def _formula_of(name: str, measure: Measure) -> Callable[..., Any]:
    """What a metric computes: most are wrapped in a function that counts first."""
    held = inspect.getclosurevars(measure).nonlocals
    if "name" in held:  # it sums tokens, and then asks the table of their formulas
        return TOKEN_FORMULAS[name]
    formula: Callable[..., Any] = held.get("formula", measure)
    return formula


def _update_rule(name: str, entry: OptimizerEntry) -> list[Callable[..., Any]]:
    """The readable reference, with which the fast kernels agree; or what the class itself does."""
    if name in RULES:
        return [RULES[name].step]
    return list(entry.code or (entry.make.step,))


def _code_blocks(functions: Sequence[Code]) -> list[Html]:
    blocks: list[Html] = []
    for function in functions:
        count = function.lines.count("\n") + 1
        if count > MOST_OPEN_LINES:
            blocks.append(folded(f"{function.place} ({count} lines)", code(function.lines)))
        else:
            blocks += [heading(function.place), code(function.lines)]
    return blocks


def _shown(value: Any) -> str:
    """A default as one would type it."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
