"""How a new file is written: two settings of data, and no others."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.apps.cli.reading_options import read_as
from netwright.core.errors import ConfigError
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.encoding import TableEncoder


def test_two_settings_are_taken(things_run: Path) -> None:
    run = nw.open_run(things_run)
    read_as(run, [])
    assert run.preprocessor == nw.open_run(things_run).preprocessor
    read_as(run, ["data.encoding=latin-1", "data.thousands=,"])
    assert isinstance(run.preprocessor, TableEncoder)
    assert run.preprocessor.dialect == Dialect(encoding="latin-1", thousands=",")


@pytest.mark.parametrize("text", ["data.target=x", "model.hidden=3", "train.encoding=utf-8"])
def test_others_are_refused(things_run: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=f"data.encoding and data.thousands here, got {text!r}$"):
        read_as(nw.open_run(things_run), [text])


def test_a_run_that_reads_no_such_file_says_so(tmp_path: Path) -> None:
    run = nw.fit("perceptron", "iris", out=tmp_path / "run", quiet=True)
    with pytest.raises(ConfigError, match=r"no text file: encoding cannot be set$"):
        read_as(run, ["data.encoding=latin-1"])
