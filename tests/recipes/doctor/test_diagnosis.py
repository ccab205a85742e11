"""A diagnosis as text, as JSON and as a page."""

import json
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError
from netwright.core.finding import Finding
from netwright.data.checkup.examination import Examination
from netwright.recipes.doctor.diagnosis import Diagnosis

ILL = Finding(
    illness="imbalance", sentence="class <b> is rare", fix="Give weights", see="balanced_accuracy"
)


def diagnosis(*findings: Finding) -> Diagnosis:
    seen = Examination(findings=findings, looked_at=("the rows",), not_looked_at=("the rest",))
    return Diagnosis(data="t.csv", model="mlp", seen=seen, seconds=1.23)


def test_it_prints_what_was_found_what_to_do_and_where_to_read() -> None:
    assert str(diagnosis(ILL)) == (
        "t.csv with mlp: 1 thing found, in 1.2 s\n"
        "1. imbalance: class <b> is rare.\n"
        "   Give weights.\n"
        "   netwright explain balanced_accuracy\n"
        "checked: the rows\n"
        "not checked: the rest"
    )


def test_it_says_plainly_when_nothing_was_found() -> None:
    healthy = diagnosis()
    assert str(healthy).startswith("t.csv with mlp: nothing found, in 1.2 s\nchecked: ")
    assert "Nothing." in healthy.page()


def test_json_holds_all_of_it() -> None:
    values = json.loads(json.dumps(diagnosis(ILL, ILL).to_json()))
    assert values["findings"] == [ILL.to_json()] * 2
    assert (values["looked_at"], values["not_looked_at"]) == (["the rows"], ["the rest"])
    assert (values["data"], values["model"], values["seconds"]) == ("t.csv", "mlp", 1.23)


def test_a_page_is_written_and_escaped(tmp_path: Path) -> None:
    path = diagnosis(ILL).save(tmp_path / "doctor.html")
    page = path.read_text(encoding="utf-8")
    assert "class &lt;b&gt; is rare." in page
    assert "netwright explain balanced_accuracy" in page


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x.txt", "a diagnosis is saved as .html, got 'x.txt'"),
        ("no/x.html", "there is no folder 'no' to write x.html into"),
    ],
)
def test_other_places_are_refused(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as refusal:
        diagnosis().save(name)
    assert str(refusal.value) == sentence


def test_data_without_a_model_was_not_loaded() -> None:
    assert diagnosis().is_loaded
    assert not Diagnosis(data="t.csv", model="", seen=Examination(), seconds=0.0).is_loaded


def test_a_notebook_shows_it_escaped() -> None:
    assert repr(diagnosis(ILL)) == "Diagnosis(t.csv with mlp: 1 thing found)"
    page = diagnosis(ILL)._repr_html_()
    for shown in ("The doctor on t.csv with mlp: 1 thing found.", "class &lt;b&gt; is rare."):
        assert shown in page
    assert "not: the rest" in page
    assert "<b>" not in page
    assert "nothing found" in diagnosis()._repr_html_()
