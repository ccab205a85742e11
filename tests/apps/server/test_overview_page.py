"""The page: what can be asked; it loads nothing, and names from data stay text."""

import re
from pathlib import Path

import pytest

import netwright as nw
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.overview_page import overview_page
from netwright.apps.server.served_runs import ServedRuns
from netwright.apps.server.server_config import ServerConfig

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def runs(folders: dict[str, Path]) -> ServedRuns:
    return ServedRuns(folders, Measurements())


def test_the_page_says_how_to_ask_each_run(runs: ServedRuns) -> None:
    page = overview_page(runs, ServerConfig(), ADDRESS, needs_token=False)
    for name in ("things", "texts", "pets", "iris"):
        assert f"curl {ADDRESS}/runs/{name}/predict" in page
    assert f"curl {ADDRESS}/runs/letters/generate" in page
    assert f"{ADDRESS}/runs/letters/predict" not in page
    assert "POST /runs/things/predict" in page
    assert "max_waiting" in page
    assert "Bearer" not in page
    assert "Bearer $TOKEN" in overview_page(runs, ServerConfig(), ADDRESS, needs_token=True)


def test_the_page_loads_nothing_and_runs_nothing(runs: ServedRuns) -> None:
    page = overview_page(runs, ServerConfig(), ADDRESS, needs_token=False)
    assert not re.search(r"<script|\bon\w+=|src=[\"']?http|url\(http|@import", page)
    assert "default-src &#x27;none&#x27;" in page


def test_names_from_data_stay_text(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    rows = [f"{row},{bad if row % 2 else 'b'},{row % 2}" for row in range(30)]
    (tmp_path / "t.csv").write_text("\n".join([f"<b>size,{bad},kind", *rows]) + "\n")
    nw.fit("logistic", tmp_path / "t.csv", target="kind", out=tmp_path / "r", epochs=1, quiet=True)
    runs = ServedRuns({"r": tmp_path / "r"}, Measurements())
    page = overview_page(runs, ServerConfig(), f"http://{bad}", needs_token=False)
    assert "<script" not in page
    assert "<b>size" not in page
    assert "&lt;script&gt;alert(1)" in page
