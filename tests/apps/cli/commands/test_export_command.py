"""`netwright export`: a run for other tools."""

from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type


def test_says_what_was_written_and_how_closely_it_agrees(type_in: Type, things_run: Path) -> None:
    answer = type_in("export", things_run, "--to", "state-dict", "--out", "weights")
    assert answer.code == 0
    assert answer.out == (
        "weights: model.safetensors, preprocessing.json, export.json; compared with the run on 12 "
        "rows, the predictions differ by at most 0\n"
    )
    assert Path("weights/model.safetensors").is_file()


def test_an_unknown_format_is_refused_before_anything_is_read(type_in: Type) -> None:
    answer = type_in("export", "no/such/run", "--to", "onxn")
    assert answer.code == 2
    assert "unknown format 'onxn'" in answer.err
    answer = type_in("export", "no/such/run")
    assert answer.code == 2
    assert "--to" in answer.err


@pytest.mark.slow
def test_a_script_is_written_beside_it_on_request(type_in: Type, things_run: Path) -> None:
    answer = type_in("export", things_run, "--to", "torch-export", "--out", "graph", "--script")
    assert answer.code == 0
    assert {"model.pt2", "predict.py", "requirements.txt"} <= {
        path.name for path in Path("graph").iterdir()
    }
    refused = type_in("export", things_run, "--to", "state-dict", "--out", "w", "--script")
    assert refused.code == 2
    assert "leave out --script" in refused.err
