"""The result of a comparison: table, sentences, page and JSON, from numbers made by hand."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import ConfigError
from netwright.metrics.paired import paired_gap
from netwright.recipes.judging.comparison import ComparedEntry, Comparison
from netwright.recipes.judging.gap_verdict import judge_gap
from netwright.recipes.plan.recipe import parse_recipe
from tests.browser import check_fits
from tests.repetition import for_each

A, B = (0.90, 0.92, 0.91), (0.949, 0.971, 0.96)


def entry(label: str, scores: tuple[float, ...], **changes: Any) -> ComparedEntry:
    recipe = {"model": "mlp", "data": "moons", **changes.pop("recipe", {})}
    settings: dict[str, Any] = {"seeds": tuple(range(len(scores))), "parameters": 1234, **changes}
    return ComparedEntry(
        label=label,
        recipe=parse_recipe(recipe).to_mapping(),
        scores=scores,
        seconds=0.5,
        **settings,
    )


def comparison(*rows: ComparedEntry, **changes: Any) -> Comparison:
    first, *others = rows
    better = changes.get("better", "higher")
    verdicts = tuple(
        judge_gap(
            paired_gap(first.scores, row.scores, comparisons=len(others)),
            better=better,
            comparisons=len(others),
            seeds_matter=changes.get("seeds_matter", True),
            same_recipe=row.repeats == first.label,
        )
        for row in others
    )
    return Comparison(
        data="moons",
        split="test",
        examples=1080,
        metric=changes.get("metric", "accuracy"),
        better=better,
        baseline=changes.get("baseline", 0.5),
        baseline_rule="always '0', 50.00% of the training rows",
        rows=rows,
        verdicts=verdicts,
    )


@pytest.fixture
def real() -> Comparison:
    wide = {"model": {"name": "mlp", "hidden": [512]}, "train": {"lr": 0.01}}
    return comparison(entry("mlp", A), entry("wide", B, recipe=wide))


def test_the_table_has_a_row_an_entry_and_the_baseline(real: Comparison) -> None:
    gap = real.verdicts[0].gap
    assert gap.interval is not None
    low, high = gap.interval
    blank = dict.fromkeys(("gap to first", "95 % interval", "verdict"), "-")
    fit = {"seeds": "3", "parameters": "1,234", "seconds per fit": "0.50"}
    assert real.table_rows() == [
        {"entry": "mlp", "mean": "0.9100", "std": "0.0100", **fit, **blank},
        {
            "entry": "wide",
            "mean": "0.9600",
            "std": "0.0110",
            "gap to first": "+0.0500",
            "95 % interval": f"[{low:+.4f}, {high:+.4f}]",
            "verdict": "better",
            **fit,
        },
        {
            **{"entry": "trivial baseline", "mean": "0.5000", "std": "-", **blank},
            **dict.fromkeys(fit, "-"),
        },
    ]


def test_sentences_say_who_is_better_by_how_much_and_why(real: Comparison) -> None:
    assert real.sentences == (
        "wide is better than mlp (accuracy +0.0500, 95 % interval [+0.0475, +0.0525]): "
        "the gap is real, p = 0.0001.",
    )
    assert real.setting == "accuracy on test (1,080 rows) of moons, seeds 0 to 2"
    assert real.title == "mlp against wide on moons"


def test_a_repeat_says_that_it_is_paired_by_split_only() -> None:
    again = entry("mlp (again)", (0.93, 0.90, 0.92), repeats="mlp", seeds=(3, 4, 5))
    told = comparison(entry("mlp", A), again)
    assert told.sentences[0].endswith(
        ": this gap is noise, since the recipe is the same. It repeats mlp with seeds 3 to 5: "
        "an A/A comparison, paired by split only."
    )
    assert told.view.shares_seeds == (True, False)
    alarm = comparison(entry("mlp", A), entry("mlp (again)", B, repeats="mlp", seeds=(3, 4, 5)))
    assert alarm.table_rows()[1]["verdict"] == "noise"
    assert '<div class="value">noise</div>' in alarm.page()
    assert alarm.sentences[0].startswith(
        "mlp (again) against mlp (accuracy +0.0500, 95 % interval [+0.0475, +0.0525]): "
        "a false alarm: "
    )
    other = comparison(entry("wide", B), entry("mlp", A), again)
    assert other.sentences[0].endswith("the gap is real, p = 0.0003.")
    assert other.sentences[1].endswith(" It repeats mlp with seeds 3 to 5: paired by split only.")


def test_a_gap_without_an_interval_shows_none() -> None:
    told = comparison(
        entry("least-squares", (57.0,) * 3),
        entry("ridge", (56.5,) * 3),
        better="lower",
        metric="rmse",
        seeds_matter=False,
    )
    assert told.sentences == (
        "ridge is better here than least-squares (rmse -0.50): neither depends on the seed, so "
        "the gap is exact on this split and says nothing about other rows.",
    )
    row = told.table_rows()[1]
    assert (row["95 % interval"], row["verdict"]) == ("-", "better here")


def test_one_seed_has_no_spread() -> None:
    told = comparison(entry("a", (0.5,)), entry("b", (0.75,)))
    assert told.setting.endswith(", seed 0")
    assert told.table_rows()[0]["std"] == "-"
    assert told.sentences == (
        "b against a (accuracy +0.2500): no verdict, at least 3 seeds are needed.",
    )


def test_the_coverage_says_what_an_interval_is_about_and_how_they_are_shared() -> None:
    about = (
        "An interval covers other training seeds on this one split, not other data: the held-out "
        "rows are the same throughout."
    )
    one = comparison(entry("a", A), entry("b", B)).coverage
    assert one == f"{about} A gap is called real where the paired t-test gives p < 0.005."
    three = comparison(*(entry(label, A) for label in "abcd")).coverage
    assert three == (
        f"{about} Each of the 3 intervals has a level of 98.3 %, so that all of them hold "
        f"together in 95 of 100 such comparisons (Bonferroni)."
    )


def test_the_coverage_says_what_it_means_that_seeds_would_settle_it() -> None:
    named = comparison(entry("a", A), entry("b", B), entry("c", (0.95, 0.90, 0.93)))
    assert named.verdicts[1].reason.endswith(" seeds would settle it")
    assert named.coverage.endswith(
        " That number of seeds has a power of 80 % if the gap is as large as measured."
    )


def test_printed_it_is_the_setting_the_table_and_the_sentences(real: Comparison) -> None:
    setting, *lines = str(real).splitlines()
    assert setting == real.setting
    assert lines[0].startswith("entry             seeds  mean    std     gap to first  95 % int")
    assert lines[1].startswith("mlp               3      0.9100  0.0100  -             -       ")
    assert [re.split(r"  +", line) for line in lines[:4]] == [
        list(real.table_rows()[0]),
        *(list(row.values()) for row in real.table_rows()),
    ]
    assert tuple(lines[4:]) == real.remarks
    assert real.remarks == (f"baseline: {real.baseline_rule}", *real.sentences, real.coverage)


def test_its_repr_is_short(real: Comparison) -> None:
    assert repr(real) == "Comparison(mlp against wide on moons: better)"


@for_each(
    ("score", "shown"),
    [
        (1.0, "1.0000"),
        (0.97312, "0.9731"),
        (57.123, "57.12"),
        (12345.6, "12346"),
        (2e-5, "0.00002000"),
        (0.0, "0.0000"),
    ],
)
def test_numbers_have_four_digits(score: float, shown: str) -> None:
    told = comparison(entry("a", (score,) * 3), entry("b", (score,) * 3))
    assert told.table_rows()[0]["mean"] == shown


def test_the_page_opens_with_the_verdict_and_holds_everything(real: Comparison) -> None:
    page = real.page()
    parts = re.findall(r"<h2>(.*?)</h2>", page)
    assert parts == ["Verdict", "Scores", "What differs", "Reproduce"]
    assert '<div class="value">better</div>' in page
    assert html.escape(real.sentences[0]) in page
    assert "trivial baseline" in page
    assert "data:image/svg+xml," in page
    assert html.escape(real.coverage) in page
    differences = page.partition("<h2>What differs</h2>")[2].partition("</section>")[0]
    named = re.findall(r"<tr><td>(.*?)</td>", differences)
    assert named == ["model.hidden", "train.lr"]
    assert "<td>256,128</td><td>512</td>" in differences
    assert "<td>default</td><td>0.01</td>" in differences
    assert "netwright compare mlp mlp:hidden=512:lr=0.01 --data moons" in page
    assert "nw.compare(&#x27;mlp&#x27;" in page
    assert page.count("<details><summary>The recipe of ") == 2


def differences_of(told: Comparison) -> list[list[str]]:
    """The cells of the table of what differs, its head first."""
    table = told.page().partition("<h2>What differs</h2>")[2].partition("</section>")[0]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[1:]]


def test_what_differs_is_shown_as_typed_also_beside_an_entry_called_setting() -> None:
    plain = {"model": {"name": "mlp", "hidden": []}}
    other = {
        "model": {"name": "mlp", "hidden": [16], "batch_norm": True},
        "train": {"optimizer": "sgd", "optimizer_options": {"momentum": 0.9}},
    }
    told = comparison(entry("setting", A, recipe=plain), entry("b", B, recipe=other))
    assert differences_of(told) == [
        ["", "setting", "b"],
        ["model.hidden", "(empty)", "16"],
        ["model.batch_norm", "false", "true"],
        ["train.optimizer", "default", "sgd"],
        ["train.optimizer_options.momentum", "-", "0.9"],
    ]


def test_page_and_json_name_a_file_without_its_folder(tmp_path: Path) -> None:
    table = {"data": {"name": "table", "path": str(tmp_path / "mine.csv"), "target": ["a"]}}
    rows = [entry("a", A, recipe=table), entry("b", B, recipe={**table, "model": "logistic"})]
    told = comparison(*rows)
    for shown in (told.page(), json.dumps(told.to_json())):
        assert "mine.csv" in shown
        assert tmp_path.name not in shown
    assert told.rows[0].recipe["data"]["path"] == str((tmp_path / "mine.csv").resolve())


def test_the_page_of_equal_recipes_says_that_nothing_differs() -> None:
    page = comparison(entry("mlp", A), entry("mlp (again)", B, repeats="mlp")).page()
    assert "Nothing: the recipes are identical." in page


def test_a_hostile_label_stays_text(real: Comparison) -> None:
    label = "<script>alert('x')</script>"
    told = comparison(entry(label, A), entry("b", B))
    for text in (told.page(), told._repr_html_()):
        assert "<script" not in text
        assert html.escape(label) in text


def test_many_entries_do_not_fill_the_title() -> None:
    told = comparison(*(entry(label, A) for label in "abcde"))
    assert told.title == "a against 4 others on moons"
    assert comparison(*(entry(label, A) for label in "abc")).title == "a against b and c on moons"


def test_a_notebook_shows_sentences_table_and_figure(real: Comparison) -> None:
    shown = real._repr_html_()
    _, words = shown.split("</style>")
    assert words.startswith(f"<p>{real.setting}</p><p>wide is better")
    assert '<table class="many">' in shown
    assert "<figure" in shown
    assert "<input" not in shown


def test_json_holds_scores_gaps_and_verdicts(real: Comparison) -> None:
    told = json.loads(json.dumps(real.to_json(), allow_nan=False))
    assert told["format"] == 1
    assert (told["metric"], told["better"], told["baseline"]) == ("accuracy", "higher", 0.5)
    assert told["rows"][0]["scores"] == list(A)
    assert told["rows"][0]["mean"] == pytest.approx(0.91)
    assert told["rows"][0]["std"] == pytest.approx(0.01)
    assert told["rows"][1]["recipe"]["model"]["hidden"] == [512]
    (verdict,) = told["verdicts"]
    assert verdict["word"] == "better"
    assert verdict["gap"]["mean"] == pytest.approx(0.05)
    assert told["sentences"] == list(real.sentences)


def test_saves_as_a_page_or_as_json(real: Comparison, tmp_path: Path) -> None:
    assert real.save(tmp_path / "a.html").read_text(encoding="utf-8") == real.page()
    assert json.loads(real.save(str(tmp_path / "a.json")).read_text()) == real.to_json()
    with pytest.raises(
        ConfigError, match=r"^a comparison is saved as \.html or \.json, got 'a\.png'$"
    ):
        real.save(tmp_path / "a.png")


@pytest.mark.slow
def test_in_a_real_browser_the_page_fits_every_screen(real: Comparison, tmp_path: Path) -> None:
    check_fits(real.save(tmp_path / "compare.html"))
