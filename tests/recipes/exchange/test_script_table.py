"""How a predict.py reads tables: by functions of the run where they are short enough."""

import csv
import io
import json
import re
import sys
from datetime import datetime, time
from pathlib import Path
from typing import Any

import numpy as np

from netwright.data.tables.records import find_delimiter
from netwright.recipes.exchange.script_parts import IMPORTS, READERS
from netwright.recipes.exchange.script_table import TABLE


def made() -> dict[str, Any]:
    """What the text defines."""
    names: dict[str, Any] = {"np": np, "csv": csv, "io": io, "json": json, "sys": sys, "re": re}
    names |= {"Path": Path, "datetime": datetime, "time": time}
    exec(IMPORTS["table"] + TABLE, names)
    return names


def test_it_is_the_reader_of_tables() -> None:
    assert READERS["table"].endswith(TABLE)


def test_numbers_have_points_where_nearly_all_are_numbers() -> None:
    with_points = made()["with_points"]
    assert with_points(["1,5", "", "2"]) == ["1.5", "", "2"]
    assert with_points(["1,5", "a,b"]) == ["1,5", "a,b"]


def test_the_delimiter_is_found_as_the_run_finds_it() -> None:
    for header in ['"a,b,c";d', "a\tb", "a,b;c"]:
        assert made()["find_delimiter"](header) == find_delimiter(header)
