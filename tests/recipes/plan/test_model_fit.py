"""Whether a model takes the data: refused before it is read, with the models that do."""

import re
from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.recipes.plan.model_fit import check_model_fits, check_source_fits, models_for

FOR_TABLES = "for a table of features there are mlp, mlp-plr, table-resnet, ..."
FOR_TEXTS = "for text (tokens) there are elman, jordan, lstm, ..."


@pytest.mark.parametrize(
    ("model", "file", "sentence"),
    [
        ("cnn", "t.csv", f"cnn needs images, got a table of features (t.csv); {FOR_TABLES}"),
        ("cnn", "s.txt", f"cnn needs images, got text (tokens) (s.txt); {FOR_TEXTS}"),
        (
            "gru",
            "t.csv",
            f"gru needs text (tokens) or series, got a table of features (t.csv); {FOR_TABLES}",
        ),
    ],
)
def test_a_file_is_refused_without_a_look_at_it(
    model: str, file: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        nw.fit(model, tmp_path / file, out=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_what_only_the_data_tells_is_left_to_it() -> None:
    check_source_fits("mlp", "text-table")  # a bag of words has features
    check_source_fits("cnn", "npy")
    check_source_fits("", "text")
    check_source_fits("cnn", "images")


def test_the_doctor_looks_at_a_text_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("one two three\n" * 20, encoding="utf-8")
    assert nw.doctor(tmp_path / "s.txt", window=8).model == "lstm"


def test_the_target_decides_with_it() -> None:
    spec = DataSpec(inputs="features", input_shape=(3,), target="real", num_outputs=1)
    with pytest.raises(ConfigError, match=r"^logistic predicts class.* there are mlp, "):
        check_model_fits("logistic", spec)
    mask = DataSpec(inputs="tokens", input_shape=(3,), target="mask", num_outputs=2)
    with pytest.raises(ConfigError, match="; no model of the catalog takes text"):
        check_model_fits("gru", mask)


def test_suggested_models_fit() -> None:
    for inputs in ("features", "image", "tokens", "series", "pairs"):
        for name in models_for(inputs):
            assert inputs in MODELS.load(name).inputs
    assert "bagging" not in models_for("features")
    assert "ridge" not in models_for("features", "class")
