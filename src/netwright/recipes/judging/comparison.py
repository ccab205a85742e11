"""The result of `compare`: scores by seed, gaps to the first entry, verdicts, and their page."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from netwright.core.errors import ConfigError
from netwright.core.files.storage import write_json, write_text
from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import (
    Html,
    Page,
    code,
    folded,
    heading,
    note,
    picture,
    table,
    text,
    tiles,
)
from netwright.inspection.drawing.view import plain
from netwright.inspection.drawing.wording import short_name
from netwright.inspection.training.paired_scores import PairedScores, measure_paired_scores
from netwright.metrics.paired import CONFIDENCE, SIGNIFICANCE, PairedGap
from netwright.recipes.judging.gap_verdict import GapVerdict
from netwright.recipes.judging.reproduce_comparison import (
    comparison_as_command,
    comparison_as_python,
)
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.plan.reproduce import without_folders
from netwright.recipes.plan.typed_settings import typed_settings

FORMAT = 1
NUMBERS = ("seeds", "mean", "std", "gap to first", "95 % interval", "parameters", "seconds per fit")


@dataclass(frozen=True, kw_only=True)
class ComparedEntry:
    """What one entry reached.

    Args:
        label: what it is called.
        recipe: its resolved recipe, under the first of its seeds.
        repeats: the label of the entry before it with the same recipe, or nothing. It then has
            seeds of its own: under the same ones the two would be equal bit by bit.
        seeds: one a fit.
        scores: one a seed.
        parameters: of the model.
        seconds: of a fit, in the mean.
        unconverged: how many of the fits had more to learn when they ended.
    """

    label: str
    recipe: Mapping[str, Any]
    repeats: str = ""
    seeds: tuple[int, ...]
    scores: tuple[float, ...]
    parameters: int
    seconds: float
    unconverged: int = 0

    @property
    def mean(self) -> float:
        """Of the scores."""
        return statistics.fmean(self.scores)

    @property
    def std(self) -> float | None:
        """Of the scores, with n - 1; None for one seed."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Entries trained on the same data under the same seeds; made by `nw.compare`.

    Args:
        data: the name of the data.
        split: what was measured on.
        examples: how many rows that has.
        metric: what was measured.
        better: whether a higher or a lower value is the better one.
        baseline: the metric of the trivial guess.
        baseline_rule: that guess in words.
        rows: one an entry; the first is what the others are compared with.
        verdicts: on the gap to the first, of each of the others.
    """

    data: str
    split: str
    examples: int
    metric: str
    better: Literal["higher", "lower"]
    baseline: float
    baseline_rule: str
    rows: tuple[ComparedEntry, ...]
    verdicts: tuple[GapVerdict, ...]

    def __str__(self) -> str:
        return "\n".join([self.setting, *_aligned(self.table_rows()), *self.remarks])

    def __repr__(self) -> str:
        words = ", ".join(verdict.word for verdict in self.verdicts)
        return f"Comparison({self.title}: {words})"

    @property
    def title(self) -> str:
        """Who is compared, on what."""
        first, *others = (row.label for row in self.rows)
        rest = " and ".join(others) if len(others) < 3 else f"{len(others)} others"
        return f"{first} against {rest} on {self.data}"

    @property
    def setting(self) -> str:
        """What was measured, in one line."""
        seeds = _in_words(self.rows[0].seeds)
        return f"{self.metric} on {self.split} ({self.examples:,} rows) of {self.data}, {seeds}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdicts in words, one on each entry after the first."""
        return tuple(map(self._sentence, self.rows[1:], self.verdicts))

    @property
    def coverage(self) -> str:
        """What intervals cover, when a gap is called real, and what seeds that settle it mean."""
        challengers = len(self.rows) - 1
        each = 100 - 100 * (1 - CONFIDENCE) / challengers
        together = (
            f" Each of the {challengers} intervals has a level of {each:.1f} %, so that all of "
            f"them hold together in 95 of 100 such comparisons (Bonferroni)."
            if challengers > 1
            else ""
        )
        real = (
            f" A gap is called real where the paired t-test gives p < {SIGNIFICANCE:g}."
            if any(verdict.word in {"better", "worse", "undecided"} for verdict in self.verdicts)
            else ""
        )
        settled = (
            " That number of seeds has a power of 80 % if the gap is as large as measured."
            if any(verdict.seeds_needed for verdict in self.verdicts)
            else ""
        )
        return (
            "An interval covers other training seeds on this one split, not other data: the "
            f"held-out rows are the same throughout.{together}{real}{settled}"
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said below the table: baseline, verdicts and what the intervals cover."""
        return (f"baseline: {self.baseline_rule}", *self.sentences, self.coverage)

    @property
    def view(self) -> PairedScores:
        """The scores as a figure."""
        return measure_paired_scores(
            {row.label: row.scores for row in self.rows},
            metric=self.metric,
            better=self.better,
            own_seeds=[row.label for row in self.rows if row.repeats],
        )

    def table_rows(self) -> list[dict[str, str]]:
        """One row an entry, and the trivial baseline."""
        rows: list[dict[str, str]] = []
        for row, verdict in zip(self.rows, (None, *self.verdicts), strict=True):
            gap = verdict.gap if verdict else None
            rows.append(
                {
                    "entry": row.label,
                    "seeds": str(len(row.seeds)),
                    "mean": self._number(row.mean),
                    "std": "-" if row.std is None else self._number(row.std),
                    "gap to first": self._signed(gap.mean) if gap else "-",
                    "95 % interval": self._interval(gap.interval) if gap and gap.interval else "-",
                    "verdict": self._verdict_word(len(rows)) if verdict else "-",
                    "parameters": f"{row.parameters:,}",
                    "seconds per fit": f"{row.seconds:.2f}",
                }
            )
        guess = {"entry": "trivial baseline", "mean": self._number(self.baseline)}
        return [*rows, {name: guess.get(name, "-") for name in rows[0]}]

    def to_json(self) -> dict[str, Any]:
        """All of it as plain dicts, lists, numbers and text; of files the name alone."""
        values: dict[str, Any] = plain(self)
        for row, listed in zip(self.rows, values["rows"], strict=True):
            recipe = without_folders(listed["recipe"])
            listed.update(recipe=recipe, mean=row.mean, std=row.std)
        return {"format": FORMAT, **values, "sentences": list(self.sentences)}

    def save(self, path: str | Path) -> Path:
        """Write the page (.html) or the numbers (.json); gives the path."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind == ".html":
            write_text(path, self.page())
        elif kind == ".json":
            write_json(path, self.to_json())
        else:
            raise ConfigError(f"a comparison is saved as .html or .json, got {path.name!r}")
        return path

    def page(self) -> str:
        """The comparison as one HTML file: verdict, table, figure, and how to do it again."""
        page = Page(self.title, subtitle=self.setting)
        page.section("Verdict", self._verdict_tiles(), *map(text, self.sentences))
        page.section("Scores", self._table(), picture(self.view), note(self.coverage))
        page.section("What differs", self._differences())
        page.section("Reproduce", *self._again())
        return page.render()

    def _repr_html_(self) -> str:
        said = [text(sentence) for sentence in (self.setting, *self.sentences)]
        return in_notebook(*said, self._table(), picture(self.view), note(self.coverage))

    def _sentence(self, row: ComparedEntry, verdict: GapVerdict) -> str:
        first, word = self.rows[0].label, verdict.word
        head = (
            f"{row.label} is {word} than {first}"
            if word.startswith(("better", "worse"))
            else f"{row.label} against {first}"
        )
        own_seeds = (
            f" It repeats {row.repeats} with {_in_words(row.seeds)}: "
            f"{'an A/A comparison, ' if row.repeats == first else ''}paired by split only."
            if row.repeats
            else ""
        )
        doubts = "".join(map(_doubt, (self.rows[0], row)))
        return f"{head} ({self._gap(verdict.gap)}): {verdict.reason}.{own_seeds}{doubts}"

    def _verdict_tiles(self) -> Html:
        most = max(20, 60 // len(self.verdicts))  # letters; the sentences have labels whole
        first, *others = (short_name(row.label, most) for row in self.rows)
        return tiles(
            [
                (f"{label} against {first}", self._verdict_word(place), self._gap(verdict.gap))
                for place, (label, verdict) in enumerate(
                    zip(others, self.verdicts, strict=True), start=1
                )
            ]
        )

    def _verdict_word(self, place: int) -> str:
        """The word on the entry at this place; marked where one of the two has not converged."""
        doubtful = self.rows[0].unconverged or self.rows[place].unconverged
        return self.verdicts[place - 1].word + (" (not converged)" if doubtful else "")

    def _again(self) -> list[Html]:
        configs, seeds = self._shown_recipes(), len(self.rows[0].seeds)
        command = comparison_as_command(configs, seeds=seeds, metric=self.metric)
        python = comparison_as_python(configs, seeds=seeds, metric=self.metric)
        typed = [heading("As a command"), code(command)] if command else []
        recipes = [
            folded(f"The recipe of {row.label}", code(to_yaml(config)))
            for row, config in zip(self.rows, configs, strict=True)
        ]
        return [*typed, heading("As Python"), code(python), *recipes]

    def _shown_recipes(self) -> list[dict[str, Any]]:
        return [without_folders(row.recipe) for row in self.rows]

    def _table(self) -> Html:
        shown = table(self.table_rows(), numbers=NUMBERS)
        return Html(shown + note(f"Trivial baseline: {self.baseline_rule}."))

    def _differences(self) -> Html:
        """The settings that are not the same in all recipes."""
        flat = [_flat(recipe) for recipe in self._shown_recipes()]
        names = dict.fromkeys(name for settings in flat for name in settings)
        rows = [
            {"": name}  # no label is empty, so no entry takes this column
            | {row.label: own.get(name, "-") for row, own in zip(self.rows, flat, strict=True)}
            for name in names
            if len({own.get(name) for own in flat}) > 1
        ]
        return table(rows) if rows else text("Nothing: the recipes are identical.")

    def _gap(self, gap: PairedGap) -> str:
        interval = f", 95 % interval {self._interval(gap.interval)}" if gap.interval else ""
        return f"{self.metric} {self._signed(gap.mean)}{interval}"

    def _interval(self, interval: tuple[float, float]) -> str:
        return f"[{self._signed(interval[0])}, {self._signed(interval[1])}]"

    def _number(self, value: float) -> str:
        return f"{value:.{self._places}f}"

    def _signed(self, value: float) -> str:
        return f"{value:+.{self._places}f}"

    @property
    def _places(self) -> int:
        """Decimals that show four digits of the largest mean."""
        largest = max(abs(row.mean) for row in self.rows)
        return min(8, max(0, 4 - math.ceil(math.log10(largest)))) if largest else 4


def _doubt(row: ComparedEntry) -> str:
    """What stands beside a verdict on fits that ended too early."""
    if not row.unconverged:
        return ""
    of_all = f"{row.unconverged} of {len(row.seeds)}"
    return (
        f" Beware: training of {row.label} has not converged with {of_all} seeds; with more "
        f"epochs the verdict may change."
    )


def _in_words(seeds: Sequence[int]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"


def _flat(recipe: Mapping[str, Any]) -> dict[str, str]:
    """Settings by their path: model, model.dropout, train.lr ...; the seed is no setting.

    The values are as one types them; nothing reads "default" and an empty list "(empty)".
    """
    flat = {}
    for section in ("model", "data", "train"):
        given = {
            name: "default" if value is None else value for name, value in recipe[section].items()
        }
        for name, value in typed_settings(given).items():
            flat[section if name == "name" else f"{section}.{name}"] = value or "(empty)"
    return {**flat, "from": recipe.get("from", "-")}


def _aligned(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Rows under the keys of the first, as lines of plain text."""
    columns = [[name, *(row[name] for row in rows)] for name in rows[0]]
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in columns]
    return ["  ".join(line).rstrip() for line in zip(*padded, strict=True)]
