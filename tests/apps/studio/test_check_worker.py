"""The process of a check: what it answers, and what it refuses."""

import json
import subprocess
import sys
from typing import Any

import pytest

from netwright.apps.studio import check_worker
from netwright.apps.studio.check_worker import answer

SMALL = {"claim": "novikoff", "settings": {"sets": 3, "points": 5}}


def test_a_verdict_a_refusal_and_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer(SMALL)["verdict"]["answer"] == "holds"
    assert "novikoff" in answer({"claim": "novikof"})["refused"]

    def fails(error: Exception) -> Any:
        def check(asked: Any) -> Any:
            raise error

        return check

    monkeypatch.setattr(check_worker, "check_asked", fails(MemoryError()))
    assert "too much memory" in answer(SMALL)["refused"]
    monkeypatch.setattr(check_worker, "check_asked", fails(RuntimeError("a fault")))
    with pytest.raises(RuntimeError, match="a fault"):
        answer(SMALL)


@pytest.mark.slow
def test_what_is_printed_meanwhile_is_no_answer() -> None:
    code = (
        "from netwright.apps.studio import check_worker as worker\n"
        "worker.check_asked = lambda asked: print('aside') or asked\n"
        "worker.answer_checks(60, 2**33)"
    )
    lines = b'{"a": 1}\n{"b": 2}\n'
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, input=lines, capture_output=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"verdict": {"a": 1}},
        {"verdict": {"b": 2}},
    ]
    assert done.stderr.count(b"aside") == 2
