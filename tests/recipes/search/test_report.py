"""The page of a search: whole, offline, without folders of the owner."""

from pathlib import Path

from netwright.recipes.search.report import CAUTION, write_search_report
from tests.recipes.search.search_plans import plan
from tests.recipes.search.test_study import study_of

SPACE = ("train.lr=log:1e-4..1e-1", "model.hidden=4|8,4", "train.batch_size=8..16")


def test_the_page_has_the_best_the_figures_and_the_table(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", [0.5, 0.25, None, 0.75], plan(SPACE))
    path = write_search_report(study)
    assert path == tmp_path / "s/report.html"
    page = path.read_text(encoding="utf-8")
    assert "<h1>Search: mlp on moons</h1>" in page
    assert page.count('src="data:image/svg+xml') == 2
    for words in (CAUTION, "3 complete, 1 pruned", "8,4", "log:0.0001..0.1", study.command):
        assert words in page
    assert "The best 3 of 3 complete trials." in page
    assert page.index(">0.25</td>") < page.index(">0.5</td>")


def test_higher_is_first_where_higher_is_better(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", [0.5, 0.25], plan(metric="val/accuracy"))
    path = write_search_report(study)
    assert path is not None
    page = path.read_text(encoding="utf-8")
    assert page.index(">0.5</td>") < page.index(">0.25</td>")


def test_without_a_complete_trial_no_page_is_written(tmp_path: Path) -> None:
    assert write_search_report(study_of(tmp_path / "s", [None], plan())) is None
    assert not (tmp_path / "s/report.html").exists()
