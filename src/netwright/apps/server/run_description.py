"""What a run takes and gives, as the server tells it: from its data, not from its weights."""

import json
from typing import Any

from netwright.apps.server.accepted_forms import Accepted, accepted_forms, can_generate
from netwright.apps.server.served_runs import ServedRun
from netwright.apps.server.server_config import ServerConfig
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.features.category_feature import CategoryFeature
from netwright.data.tables.features.feature import Feature
from netwright.data.tables.features.number_feature import NumberFeature
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.spans.span_encoder import SpanEncoder
from netwright.recipes.run.run import Run

MOST_VALUES = 20  # categories of a column that are listed


def describe_run(served: ServedRun, config: ServerConfig) -> dict[str, Any]:
    """The run in plain values, for `GET /runs/NAME`."""
    run, spec = served.run, served.run.spec
    accepted = served_forms(run)
    return {
        "name": served.name,
        "model": str(run.config["model"].get("name", "")),
        "takes": {
            "keys": list(accepted.keys),
            "media": list(accepted.media),
            "columns": columns_of(run),
            "shape": list(spec.input_shape),
            "max_rows": config.rows_of(spec.num_features),
        },
        "gives": {
            "target": spec.target,
            "names": list(spec.target_names),
            "classes": list(spec.class_names),
        },
        "generates": can_generate(run),
        "measured": {name: value for name, value in run.results["metrics"].items()},
        "problem": served.problem,
    }


def served_forms(run: Run) -> Accepted:
    """How the run can be asked for predictions; none of a language model or of pre-training."""
    is_silent = run.task.unmeasured or run.spec.inputs == "masked" or can_generate(run)
    return Accepted(()) if is_silent else accepted_forms(run)


def columns_of(run: Run) -> list[dict[str, Any]]:
    """The columns of a row: name, type, and the values that a category may have.

    Numbers that are not written plainly (12%) are texts, with an example of how they are written.
    """
    encoder = run.preprocessor
    if isinstance(encoder, TableEncoder):
        return [_column(feature) for feature in encoder.features]
    if isinstance(encoder, SeriesEncoder):
        known = encoder.known.features if encoder.known else ()
        return [_column(feature) for feature in (*encoder.past.features, *known)]
    if isinstance(encoder, RowEncoder):
        return [{"name": encoder.column, "type": "string"}]
    if isinstance(encoder, PairEncoder | SpanEncoder):
        asked = encoder.columns[: 2 if isinstance(encoder, SpanEncoder) else 1]
        return [{"name": name, "type": "string"} for name in asked]
    return [{"name": name, "type": "number"} for name in run.spec.feature_names]


def _column(feature: Feature) -> dict[str, Any]:
    if isinstance(feature, NumberFeature) and feature.form is not None:
        return {"name": feature.name, "type": "string", "example": feature.form.example}
    if feature.kind == "number":
        return {"name": feature.name, "type": "number"}
    column: dict[str, Any] = {"name": feature.name, "type": "string"}
    if isinstance(feature, CategoryFeature):
        column["values"] = list(feature.categories[:MOST_VALUES])
    return column


def example_body(run: Run) -> str:
    """A JSON body that the run takes, with values in their places."""
    keys = served_forms(run).keys
    if "rows" in keys:
        row = {one["name"]: _example(one) for one in columns_of(run)}
        return json.dumps({"rows": [row]})
    if "texts" in keys:
        return json.dumps({"texts": ["a text"]})
    if "images" in keys:
        return json.dumps({"images": ["the file in base64"]})
    return json.dumps({"inputs": ["..."]})


def _example(column: dict[str, Any]) -> Any:
    if column["type"] == "number":
        return 1.0
    if "example" in column:
        return column["example"]
    return (column.get("values") or ["a text"])[0]
