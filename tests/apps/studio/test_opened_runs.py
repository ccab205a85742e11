"""Asking and looking inside: what the commands say of the same run, and of no other folder."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import netwright as nw
from tests.apps.studio.conftest import LET_IN, SMALL, Open

RUN = "runs/mlp-2-0"
ROW = {"x1": 0.3, "x2": -0.2}


def test_a_run_answers_as_predict_does(studio: Open) -> None:
    visitor = studio()
    columns = [one["name"] for one in visitor.get(f"/api/run?run={RUN}").json["takes"]["columns"]]
    row = dict(zip(columns, (0.3, -0.2), strict=True))
    (said,) = visitor.post(f"/api/predict?run={RUN}", {"rows": [row]}).json["answers"]
    expected = nw.open_run(visitor.folder / RUN).predict_proba([row])
    shown = [value for name, value in said.items() if name.startswith("p(")]
    assert shown == pytest.approx(list(expected[0]), abs=1e-6)


def test_white_is_known_where_grey_images_are_scaled_numbers(studio: Open) -> None:
    visitor = studio()
    small = {name: value for name, value in SMALL.items() if name not in {"n", "noise"}}
    nw.fit("mlp", "digits", out=visitor.folder / "digits", max_steps=1, **small)
    assert visitor.get("/api/run?run=digits").json["takes"]["white"] == 16
    assert visitor.get(f"/api/run?run={RUN}").json["takes"]["white"] is None
    images = np.full((20, 1, 4, 4), 3.0), np.arange(20) % 2  # nobody knows what white is
    nw.fit("mlp", images, out=visitor.folder / "own", max_steps=1, **small)
    assert visitor.get("/api/run?run=own").json["takes"]["white"] is None


def test_of_a_forecast_it_is_told_how_many_rows_it_reads_first(studio: Open) -> None:
    visitor = studio()
    rows = [f"{100 + n % 7}" for n in range(60)]
    (visitor.folder / "visits.csv").write_text("\n".join(["visits", *rows, ""]))
    small = {name: value for name, value in SMALL.items() if name not in {"n", "noise"}}
    series: dict[str, Any] = {"data.name": "series", "target": "visits", "window": 4, "hidden": 2}
    nw.fit("lstm", visitor.folder / "visits.csv", out=visitor.folder / "visits", **series, **small)
    assert visitor.get("/api/run?run=visits").json["takes"]["first_row"] == 4
    assert visitor.get(f"/api/run?run={RUN}").json["takes"]["first_row"] == 0


def test_what_cannot_be_asked_is_refused_in_a_sentence(studio: Open) -> None:
    visitor = studio()
    assert visitor.post(f"/api/predict?run={RUN}", {"rows": "x"}).status == 400
    assert visitor.post("/api/predict?run=../x", {"rows": [ROW]}).status == 400
    assert visitor.post(f"/api/generate?run={RUN}", {"prompt": "x"}).status == 400
    assert visitor.get("/api/run?run=").status == 400


def test_a_text_is_generated_as_it_comes(studio: Open) -> None:
    visitor = studio()
    (visitor.folder / "notes.txt").write_text("the cat sat on the mat. " * 20)
    out = visitor.folder / "texts"
    small = {name: value for name, value in SMALL.items() if name not in {"n", "noise"}}
    nw.fit(
        "elman", visitor.folder / "notes.txt", window=16, hidden=4, embedding=4, out=out, **small
    )
    asked = {"prompt": "the", "max_tokens": 5, "seed": 1}
    answer = visitor.post("/api/generate?run=texts", asked)
    assert answer.status == 200
    assert answer.body.decode() == nw.open_run(out).generate("the", max_tokens=5, seed=1)


def test_views_have_settings_and_show_what_inspect_measures(studio: Open) -> None:
    visitor = studio()
    views = visitor.get(f"/api/views?run={RUN}").json
    assert {"confusion", "decision-regions", "backprop"} <= set(views)
    assert next(field["name"] for field in views["backprop"]["fields"]) == "example"
    shown = visitor.get(f"/api/view?run={RUN}&view=class-balance").json
    seen = nw.inspect(visitor.folder / RUN, "class-balance")
    assert (shown["title"], shown["caption"]) == (seen.title, seen.caption)
    assert shown["picture"].startswith("data:image/svg+xml,")
    page = visitor.get(f"/view?run={RUN}&view=class-balance")
    assert page.status == 200 and b"Content-Security-Policy" in page.body


def test_a_view_that_there_is_not_is_refused(studio: Open) -> None:
    visitor = studio()
    for asked in ("view=nosuch", "view=", "view=attention", "view=confusion&data=/etc/passwd"):
        assert visitor.get(f"/api/view?run={RUN}&{asked}").status == 400
    assert visitor.get(f"/api/view?run={quote('/etc')}&view=confusion").status == 400


def test_what_an_answer_hangs_on_is_what_inspect_measures(studio: Open) -> None:
    visitor = studio()
    columns = [one["name"] for one in visitor.get(f"/api/run?run={RUN}").json["takes"]["columns"]]
    row = dict(zip(columns, (0.3, -0.2), strict=True))
    own = f"/api/view/own?run={RUN}&view="
    shown = visitor.post(f"{own}occlusion", {"rows": [row]}).json
    seen = nw.inspect(visitor.folder / RUN, "occlusion", of=[0.3, -0.2])
    assert (shown["title"], shown["caption"]) == (seen.title, seen.caption)
    assert visitor.post(f"{own}occlusion", {"rows": [row, row]}).status == 400
    assert visitor.post(f"{own}confusion", {"rows": [row]}).status == 400
    assert visitor.post(f"{own}occlusion&of=/etc/passwd", {"rows": [row]}).status == 400
    views = visitor.get(f"/api/views?run={RUN}").json
    assert views["occlusion"]["own_input"] and not views["confusion"]["own_input"]


def test_a_run_that_changes_is_opened_again(studio: Open, tmp_path: Path) -> None:
    visitor = studio()
    asked = {**LET_IN, "Content-Type": "application/json"}
    columns = [one["name"] for one in visitor.get(f"/api/run?run={RUN}").json["takes"]["columns"]]
    body = json.dumps({"rows": [dict(zip(columns, (0.3, -0.2), strict=True))]}).encode()
    before = visitor.asking.ask("POST", f"/api/predict?run={RUN}", body, asked).body
    (visitor.folder / RUN).rename(tmp_path / "away")
    (visitor.folder / "runs" / "mlp-2-1").rename(visitor.folder / RUN)
    assert visitor.asking.ask("POST", f"/api/predict?run={RUN}", body, asked).body != before
