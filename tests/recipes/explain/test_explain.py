"""Explanations: every name of every table, with the code that Python itself would find."""

import inspect
import re
from pathlib import Path

import pytest
import torch

import netwright
from netwright.core.config import Field
from netwright.core.errors import UnknownNameError
from netwright.models.linear.regression import LinearRegression, Ridge
from netwright.optimizers.schedules import SCHEDULES
from netwright.recipes.explain.explain import (
    KINDS,
    Explanation,
    explain,
    explanation_page,
    setting_rows,
)
from netwright.recipes.explain.source_code import Code
from tests.repetition import for_each

ROOTS = {
    "netwright": Path(netwright.__file__).parent.parent,
    "torch": Path(torch.__file__).parent.parent,
}


def only(name: str) -> Explanation:
    (found,) = explain(name)
    return found


def source_line(code: Code) -> str:
    """The line that a place points at, read from the file."""
    path, _, number = code.place.rpartition(":")
    root = ROOTS[path.partition("/")[0]]
    return (root / path).read_text(encoding="utf-8").split("\n")[int(number) - 1].strip()


@for_each("kind", KINDS)
def test_every_name_is_explained_with_code_that_is_where_it_says(kind: str) -> None:
    for name in KINDS[kind].names:
        found = {explanation.kind: explanation for explanation in explain(name)}[kind]
        assert found.name == name
        assert found.card.sentence, name
        assert found.card.source, name
        assert bool(found.code) == (kind != "recipe"), name  # which is all settings
        for code in found.code:
            first = code.lines.split("\n")[0]
            assert first.startswith(("def ", "@")), name
            assert source_line(code) == first, name
            assert compile(code.lines, name, "exec")


def test_a_model_is_its_forward_and_what_makes_its_layers() -> None:
    mlp = only("mlp")
    assert mlp.kind == "model"
    assert mlp.card.formula.startswith("f_0 = x")
    forward, init, hidden_layer = mlp.code
    assert all(re.fullmatch(r"netwright/models/mlp\.py:\d+", code.place) for code in mlp.code)
    assert forward.lines.startswith("def forward(self, x: Tensor) -> Tensor:\n    ")
    assert init.lines.startswith("def __init__(self, config: MLPConfig, ")
    assert hidden_layer.lines.startswith("def _hidden_layer(config: MLPConfig, ")
    assert mlp.settings[0] == Field(
        name="hidden", kind="list of int", default=[256, 128], doc="widths of the hidden layers"
    )


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("lstm", ["forward", "lstm_step", "__init__"]),
        ("mingru", ["forward", "coefficients", "forward", "scan_by_steps", "__init__"]),
        ("gpt", ["forward", "forward", "_add", "forward", "attention_weights", "__init__"]),
    ],
)
def test_a_sequence_model_is_also_what_its_layers_compute(name: str, functions: list[str]) -> None:
    shown = [re.search(r"def (\w+)\(", code.lines) for code in only(name).code]
    assert [found and found[1] for found in shown][: len(functions)] == functions


def test_a_learner_is_also_its_own_rule() -> None:
    forward, init, rule = only("ridge").code
    file = "netwright/models/linear/regression.py"
    assert forward.place == f"{file}:{inspect.getsourcelines(Ridge.forward)[1]}"
    # Where the layers of `forward` are made, not Ridge's own, which only keeps its penalty.
    assert init.place == f"{file}:{inspect.getsourcelines(LinearRegression.__init__)[1]}"
    assert rule.place == f"{file}:{inspect.getsourcelines(Ridge.fit_steps)[1]}"
    assert "solve_least_squares" in rule.lines


@for_each(
    ("name", "file", "functions"),
    [
        ("sgd", "netwright/optimizers/rules", ["gradient_descent"]),
        ("adam", "netwright/optimizers/rules", ["adam"]),
        ("adamw", "netwright/optimizers/rules", ["adamw"]),
        ("lion", "netwright/optimizers/rules", ["lion"]),
        ("muon", "netwright/optimizers/muon", ["orthogonalized", "muon_step"]),
        ("newton", "netwright/optimizers/newton", ["newton_direction", "step"]),
        ("svrg", "netwright/optimizers/svrg", ["step"]),
        ("lbfgs", "torch/optim/lbfgs", ["step"]),
    ],
)
def test_an_optimizer_is_its_rule_in_readable_form(
    name: str, file: str, functions: list[str]
) -> None:
    found = only(name).code
    assert all(code.place.startswith(f"{file}.py:") for code in found)
    for code, function in zip(found, functions, strict=True):
        assert f"def {function}(" in code.lines


def test_a_regularizers_strength_is_one_to_begin_with_and_no_default() -> None:
    decay = only("weight-decay")
    assert "def adamw(" in decay.code[0].lines
    assert setting_rows(decay.settings)[0]["initial value"] == "0.01"
    assert "<th>default</th>" not in decay.page()
    assert "<th>initial value</th>" in decay.page()


def test_an_optimizers_settings_are_those_we_start_it_with() -> None:
    momentum = {field.name: field.default for field in only("momentum").settings}
    assert (momentum["lr"], momentum["momentum"], momentum["weight_decay"]) == (0.05, 0.9, 0.0)
    assert "params" not in momentum
    adamw = {field.name: field.default for field in only("adamw").settings}
    assert adamw["weight_decay"] == 0.0  # torch's own default is 0.01
    assert adamw["betas"] == (0.9, 0.999)
    assert "weight_decay" not in {field.name for field in only("lbfgs").settings}


def test_a_metric_is_its_formula_for_each_kind_of_target() -> None:
    classes, labels, tokens = only("accuracy").code
    assert classes.lines.startswith("def accuracy(confusion: Tensor)")
    assert labels.lines.startswith("def label_accuracy(")
    assert tokens.lines.startswith("def token_accuracy(")
    assert len(only("roc_auc").code) == 1  # the same function for both


@for_each(
    ("name", "kind", "place", "words"),
    [
        ("gelu", "activation", "torch/nn/modules/activation.py", "F.gelu(input"),
        ("he-normal", "initializer", "torch/nn/init.py", "def kaiming_normal_("),
        ("torch", "initializer", "torch/nn/modules/linear.py", "def reset_parameters("),
        ("normal", "initializer", "netwright/layers/initializers.py", "def small_normal("),
        ("cosine", "schedule", "netwright/optimizers/schedules.py", "math.cos("),
        (
            "cosine",
            "score",
            "netwright/layers/attention/attention_scores.py",
            "cosine_scores(queries, keys)",
        ),
        ("bpe", "tokenizer", "netwright/data/text/subword_tokenizer.py", "BpeTrainer("),
        ("iris", "data set", "netwright/data/bundled.py", "def load_classes("),
    ],
)
def test_the_other_kinds(name: str, kind: str, place: str, words: str) -> None:
    (found,) = (one for one in explain(name) if one.kind == kind)
    assert found.code[0].place.startswith(f"{place}:")
    assert words in found.code[0].lines


def test_data_has_no_formula_but_an_origin_and_a_licence() -> None:
    iris = only("iris")
    assert iris.card.formula == ""
    assert iris.card.source.startswith("Fisher")
    assert iris.card.source.endswith("(1936); licence: CC BY 4.0")
    assert "standardize" in {field.name for field in iris.settings}


def test_of_a_long_docstring_only_the_first_line_is_shown() -> None:
    (code,) = only("xavier-normal").code
    assert '    """Fill the input `Tensor` with values using a Xavier normal' in code.lines
    assert "Examples:" not in code.lines
    assert code.lines.endswith("return _no_grad_normal_(tensor, 0.0, std, generator)")
    (gelu,) = only("gelu").code  # its docstring begins with an empty line
    assert '    """Runs the forward pass."""\n' in gelu.lines
    (zeros,) = only("torch").code  # it has none
    assert zeros.lines.startswith("def reset_parameters(")


@for_each(
    ("name", "hint"),
    [
        ("mpl", "did you mean 'mlp'?"),
        ("xaviernormal", "did you mean 'xavier-normal'?"),
        ("acuracy", "did you mean 'accuracy'?"),
        ("zzzz", "`netwright list` shows what there is"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_of_all(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError) as refused:
        explain(name)
    assert str(refused.value) == f"there is nothing named {name!r}; {hint}"


def test_a_name_in_two_tables_is_explained_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEDULES._rows, "mlp", "netwright.optimizers.schedules:LINEAR")
    model, schedule = explain("mlp")
    assert (model.kind, schedule.kind) == ("model", "schedule")
    page = explanation_page((model, schedule))
    assert "<h2>model: What it is</h2>" in page
    assert "<h2>schedule: What it is</h2>" in page
    assert "model and schedule" in page


def test_the_page_holds_everything() -> None:
    page = only("ridge").page()
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>ridge</h1>" in page
    assert "Least squares with an L2 penalty" in page
    assert page.count('class="formula"') == 1
    assert 'alt="\\lambda"' in page
    assert "the penalty, `l2`" in page
    assert "L2 penalty; scikit-learn&#x27;s alpha is n times it" in page
    assert "Source: Hoerl and Kennard" in page
    assert "netwright/models/linear/regression.py:" in page
    assert "def fit_steps(self" in page
    assert "Beware" not in page
    assert re.findall("<h2>(.*?)</h2>", page) == ["What it is", "Settings", "Code"]


def test_a_page_leaves_out_what_there_is_not() -> None:
    assert "<h2>Settings</h2>" not in only("gelu").page()
    iris = only("iris").page()
    assert 'class="formula"' not in iris
    assert "<th>symbol</th>" not in iris
    assert "Beware: Its slope" in only("sigmoid").page()


def test_long_code_is_folded() -> None:
    assert re.search(
        r"<summary>torch/optim/lbfgs\.py:\d+ \(\d+ lines\)</summary>", only("lbfgs").page()
    )
    assert "<details>" not in only("mlp").page()


def test_settings_are_shown_as_one_types_them() -> None:
    settings = [
        Field(name="hidden", kind="", default=[256, 128], doc=""),
        Field(name="bias", kind="", default=True, doc="whether"),
        Field(name="l2", kind="", default=1e-3, doc=""),
    ]
    assert setting_rows(settings) == [
        {"setting": "hidden", "default": "256,128", "what it is": ""},
        {"setting": "bias", "default": "true", "what it is": "whether"},
        {"setting": "l2", "default": "0.001", "what it is": ""},
    ]
    assert setting_rows([]) == []


def test_it_reads_in_a_terminal_and_in_a_notebook() -> None:
    found = explain("adam")
    (adam,) = found
    assert repr(adam).startswith("Explanation(optimizer 'adam': Momentum and a root mean square")
    assert str(found) == str(adam)
    lines = str(adam).splitlines()
    assert lines[0] == "adam (optimizer)"
    assert "    lr = 0.001" in lines
    assert any(line.startswith("source: Kingma and Ba") for line in lines)
    page = found._repr_html_()
    assert page == adam._repr_html_()
    assert "adam (optimizer)" in page
    assert "w &lt;- w" in page  # the code is escaped
    assert repr(adam.code[0]) == f"Code({adam.code[0].place})"
    assert str(adam.code[0]).startswith(adam.code[0].place)
    assert repr(adam.card) == f"Card({adam.card.sentence})"
