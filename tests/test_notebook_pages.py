"""Whatever a public function gives is shown in a notebook as more than its name."""

from pathlib import Path
from typing import Any

import netwright as nw
from netwright.core.config import field_names
from netwright.data.dataset import Data
from netwright.losses import LOSSES
from netwright.models.mlp import MLP, MLPConfig
from netwright.recipes.exchange.export import Export
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.saved.verification import CheckedFile, Verification
from netwright.train.tasks.classification import Classification
from tests.repetition import for_each
from tests.train.toy_runs import toy_data

SPEC = nw.DataSpec(
    inputs="features",
    input_shape=(2,),
    target="class",
    num_outputs=20,
    class_names=("<b>", *(f"class {number}" for number in range(19))),
)
VERIFIED = Verification(
    folder=Path("runs/odd"),
    kind="run",
    about={"model": "mlp"},
    files=(CheckedFile(name="<i>", state="damaged"),),
    tensors={},
    misfits=("two files differ",),
)


def noted_data() -> Data:
    data = toy_data()
    return Data(
        name=data.name,
        spec=data.spec,
        train=data.train,
        preprocessor=data.preprocessor,
        notes=("a <b> column was left out",),
    )


@for_each(
    ("thing", "parts"),
    [
        (SPEC, ["&lt;b&gt;", "class 10", "and 8 more", "class, 20 outputs", "features (2,)"]),
        (noted_data(), ["train", "a &lt;b&gt; column was left out"]),
        (
            nw.TrainConfig(lr=0.25),
            ["lr", "0.25", "learning rate", f"{len(field_names(nw.TrainConfig)) - 1} defaults"],
        ),
        (MLPConfig(), ["MLPConfig: the defaults", "<summary>"]),
        (LOSSES, ["Catalog of 12, each a loss", "focal"]),
        (
            Export(folder=Path("out"), files=("<i>.onnx",), rows=7, difference=1e-6),
            ["out: 7 rows, predictions differ by at most 1e-06", "&lt;i&gt;.onnx"],
        ),
        (parse_recipe({"model": "mlp", "data": "digits"}), ["mlp on digits", "hidden"]),
        (VERIFIED, ["runs/odd", "2 things wrong", "&lt;i&gt;: damaged", "two files differ"]),
        (MLP.build(MLPConfig(), SPEC), ["MLP, ", "weights: ", "Linear"]),
        (nw.Trainer(nw.TrainConfig(), Classification(3)), ["Trainer of Classification", "seed 0"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_thing_shows_what_is_in_it_and_text_stays_text(thing: Any, parts: list[str]) -> None:
    shown = thing._repr_html_()
    for part in parts:
        assert part in shown
    assert "<i>" not in shown
    assert "<b> column" not in shown


def test_a_catalog_names_its_parts() -> None:
    assert repr(LOSSES).startswith("Catalog(loss: squared-error, ")
