"""`netwright explain`: a card, its settings and its code, as text, as JSON and as a page."""

import json
import re
from pathlib import Path

import pytest

from netwright.optimizers.schedules import SCHEDULES
from netwright.recipes.explain.explain import explain
from tests.apps.cli.conftest import Type


def test_a_model_as_text(type_in: Type) -> None:
    answer = type_in("explain", "mlp")
    assert (answer.code, answer.err) == (0, "")
    shown = [line.rstrip() for line in answer.out.splitlines()]
    assert shown[:6] == [
        "mlp (model)",
        "Affine maps with a nonlinearity between them; the last is a linear predictor.",
        "",
        "    f₀ = x,   fₗ₊₁ = φ(Wₗ fₗ + bₗ),   f(x) = W_L f_L + b_L",
        r"    LaTeX: f_0 = x, \quad f_{l+1} = \phi(W_l f_l + b_l), \quad f(x) = W_L f_L + b_L",
        "",
    ]
    assert "Wₗ      weights of layer l, (width after it, width before it)" in shown
    assert re.search(r"hidden +list of int +256,128 +widths of the hidden layers", answer.out)
    assert "Source: Rumelhart, Hinton and Williams (1986), Nature 323, 533-536" in shown
    place = next(line for line in shown if line.startswith("netwright/models/mlp.py:"))
    assert shown[shown.index(place) + 1] == "    def forward(self, x: Tensor) -> Tensor:"


def test_parts_stand_apart_by_one_empty_line(type_in: Type) -> None:
    for name in ("ridge", "sigmoid", "iris", "zeros"):
        out = type_in("explain", name).out
        assert "\n\n\n" not in out
        assert "\n\nSource: " in out


def test_a_misprint_is_told_where_there_is_one(type_in: Type) -> None:
    assert "\nBeware: Its slope" in type_in("explain", "sigmoid").out
    assert "Beware" not in type_in("explain", "tanh").out


def test_data_is_shown_without_a_formula(type_in: Type) -> None:
    out = type_in("explain", "iris").out
    assert out.startswith("iris (data set)\n150 iris flowers")
    assert "LaTeX" not in out
    assert "symbol" not in out


def test_long_code_is_named_and_not_printed(type_in: Type) -> None:
    out = type_in("explain", "lbfgs").out
    assert re.search(r"\n\ntorch/optim/lbfgs\.py:\d+ \(\d+ lines; --html shows them\)\n$", out)
    assert "def step" not in out


def test_json_holds_the_same(type_in: Type) -> None:
    (shown,) = json.loads(type_in("explain", "adam", "--json").out)
    (found,) = explain("adam")
    assert (shown["name"], shown["kind"]) == ("adam", "optimizer")
    assert shown["card"]["formula"] == found.card.formula
    assert shown["card"]["symbols"] == dict(found.card.symbols)
    assert shown["settings"][0] == {"name": "lr", "kind": "", "default": 0.001, "doc": ""}
    assert shown["code"] == [{"place": found.code[0].place, "lines": found.code[0].lines}]


def test_a_page_is_written_here(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("explain", "mlp", "--html")
    assert (answer.code, answer.out) == (0, "page: mlp.html\n")
    (found,) = explain("mlp")
    assert (tmp_path / "mlp.html").read_text(encoding="utf-8") == found.page()


def test_or_where_it_is_wanted(type_in: Type, tmp_path: Path) -> None:
    assert type_in("explain", "mlp", "--out", "page.html").out == "page: page.html\n"
    assert (tmp_path / "page.html").exists()
    assert not (tmp_path / "mlp.html").exists()
    both = type_in("explain", "mlp", "--html", "--json")
    assert json.loads(both.out)[0]["name"] == "mlp"
    assert (tmp_path / "mlp.html").exists()


def test_a_page_that_cannot_be_written_is_refused(type_in: Type) -> None:
    answer = type_in("explain", "mlp", "--out", "nowhere/page.html")
    assert answer.code == 2
    assert answer.err == ("error: nowhere/page.html cannot be written: No such file or directory\n")


def test_an_unknown_name_is_refused_with_the_nearest(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("explain", "softmaxx", "--html")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: there is nothing named 'softmaxx'; did you mean 'softmax'?\n"
    assert not list(tmp_path.iterdir())


def test_a_name_in_two_tables_is_shown_twice(
    type_in: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCHEDULES._rows, "mlp", "netwright.optimizers.schedules:LINEAR")
    out = type_in("explain", "mlp").out
    assert out.startswith("mlp (model)\n")
    assert "\n\nmlp (schedule)\n" in out
    assert len(json.loads(type_in("explain", "mlp", "--json").out)) == 2
