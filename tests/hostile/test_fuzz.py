"""Every parser ends in a value or in a sentence, whatever it is given."""

import os
import subprocess
import sys

import pytest

from tests.hostile.fuzz import PARSERS, fuzz
from tests.hostile.guard import PLAIN, ROOT

SECONDS = 60


@pytest.mark.parametrize("parser", PARSERS)
def test_a_parser_ends_in_a_value_or_a_sentence(parser: str) -> None:
    assert fuzz(parser, examples=20, seconds=float("inf")) >= 20


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
def test_a_parser_ends_so_for_a_minute_and_within_a_gigabyte(parser: str) -> None:
    command = [sys.executable, "-m", "tests.hostile.fuzz", parser, str(SECONDS)]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **PLAIN}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
