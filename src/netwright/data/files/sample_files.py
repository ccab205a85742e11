"""Small files to try commands on, the same on every machine: a table, pictures, texts, a series.

`flowers.csv` and `new.csv` are measurements of real plants; everything else is made up here.
Source: Fisher, "The use of multiple measurements in taxonomic problems" (1936), by scikit-learn.
"""

import io
import math
import random
from datetime import date, timedelta
from itertools import product
from pathlib import Path

from netwright.core.errors import ConfigError
from netwright.core.files.inside import kind_of
from netwright.core.files.storage import write_bytes

EVERY = 10  # of the flowers, one in so many is held back for new.csv
PICTURES = 20  # of each shape
SIDE = 16  # pixels
DAYS = 90


def flower_tables() -> dict[str, bytes]:
    """Petals of 150 iris flowers of three species: to learn from, and new ones."""
    from sklearn.datasets import load_iris  # noqa: PLC0415 - slow to import

    found = load_iris()
    rows = [
        f"{place},{length:.1f},{width:.1f},{found.target_names[kind]}"
        for place, ((*_, length, width), kind) in enumerate(
            zip(found.data.tolist(), found.target, strict=True), 1
        )
    ]
    parts = {
        "flowers.csv": [row for place, row in enumerate(rows) if place % EVERY],
        "new.csv": rows[::EVERY],
    }
    header = "id,petal_length,petal_width,species"
    return {name: _lines([header, *its]) for name, its in parts.items()}


def shape_pictures() -> dict[str, bytes]:
    """Circles and squares of any place, size and shade."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 - slow to import

    draw = random.Random(0)
    files = {}
    for shape, number in product(("circle", "square"), range(1, PICTURES + 1)):
        picture = Image.new("RGB", (SIDE, SIDE), (draw.randrange(80),) * 3)
        pen = ImageDraw.Draw(picture)
        width = draw.randrange(6, 12)
        left, top = (draw.randrange(SIDE - width) for _ in range(2))
        paint = pen.ellipse if shape == "circle" else pen.rectangle
        colour = tuple(draw.randrange(120, 256) for _ in range(3))
        paint((left, top, left + width, top + width), fill=colour)
        content = io.BytesIO()
        picture.save(content, "PNG")
        files[f"pictures/{shape}/{number}.png"] = content.getvalue()
    return files


def texts() -> dict[str, bytes]:
    """Notes in one file, and short reviews with what they come to."""
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
    hours = ("noon", "six", "nine")
    topics = ("the garden", "the rain", "an old house", "the sea", "a letter", "the trains")
    notes = [
        f"{day}. We met at {hours[place % 3]}. We spoke of {topic}, and of what comes next."
        for place, (day, topic) in enumerate(product(days, topics))
    ]
    good, bad = ("fine", "clever", "moving", "bright"), ("dull", "poor", "empty", "slow")
    things = ("film", "plot", "story", "ending", "cast")
    reviews = [
        f"a {word} {thing}\t{label}"
        for (fine, dull), thing in product(zip(good, bad, strict=True), things)
        for word, label in ((fine, "good"), (dull, "bad"))
    ]
    return {"notes.txt": _lines(notes), "reviews.tsv": _lines(["sentence\tlabel", *reviews])}


def visit_series() -> dict[str, bytes]:
    """Visits of a page a day: a week's rhythm, a slow rise and noise."""
    draw = random.Random(0)
    rows = ["day,visits"]
    for day in range(DAYS):
        level = 100 + day / 2 + 20 * math.sin(2 * math.pi * day / 7) + draw.gauss(0, 4)
        rows.append(f"{date(2024, 1, 1) + timedelta(days=day)},{level:.1f}")
    return {"visits.csv": _lines(rows)}


SAMPLES = (flower_tables, shape_pictures, texts, visit_series)


def write_samples(folder: Path) -> tuple[list[Path], list[Path]]:
    """Write all files below a folder; give those that are new, and those that were there.

    What is there is left as it is.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file, wanted a folder for the samples")
    written, kept = [], []
    for make in SAMPLES:
        for name, content in make().items():
            path = folder / name
            if kind_of(path, folder):
                kept.append(path)
                continue
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ConfigError(f"{path.parent} cannot be made: {error.strerror}") from None
            write_bytes(path, content, inside=folder)
            written.append(path)
    return written, kept


def _lines(rows: list[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()
