"""`netwright serve`: what it refuses before it listens."""

from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type
from tests.apps.hidden_packages import hide_starlette


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--max-batch", "0"], "max_batch must be greater than 0, got 0"),
        (["--timeout", "-1"], "timeout must be greater than 0.0, got -1.0"),
        (["--host", "no host"], "--host must be a name or an address, got 'no host'"),
        (["--port", "x"], "--port must be a whole number, got 'x'"),
        (["--port", "0", "nowhere"], "nowhere is not a run folder: there is no such folder"),
        (["things"], "two runs are called things: give one another name by NAME=FOLDER"),
    ],
)
def test_refuses_in_one_sentence(
    type_in: Type, things_run: Path, words: list[str], sentence: str
) -> None:
    pytest.importorskip("httptools")
    answer = type_in("serve", things_run, *words)
    assert (answer.code, answer.err) == (2, f"error: {sentence}\n")


def test_without_its_packages_it_says_what_to_install(
    type_in: Type, things_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_starlette(monkeypatch)
    answer = type_in("serve", things_run)
    assert answer.err == "error: serving needs the extra: pip install 'netwright[serve]'\n"
