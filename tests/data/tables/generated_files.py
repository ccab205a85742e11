"""Files of tables as people write them, and as they break them: bytes drawn from a seed."""

import random
from collections.abc import Callable

NAMES = [
    "a",
    "b b",
    "name",
    "date",
    "x",
    "1",
    "2.5",
    "",
    "a",
    "caf\u00e9",
    '"q, z"',
    " c ",
    "split",
]
WORDS = [
    "red",
    "blue",
    "N/A",
    "NA",
    "?",
    "",
    "null",
    "na\u00efve",
    "\u00fcber",
    "x y",
    " lead",
    "trail ",
]
ODD = [
    '"a""b"',
    '"a, b"',
    '"a\nb"',
    '5" pipe',
    ' "spaced"',
    '"open',
    '"x"y',
    "\u00a0",
    '""',
    '"NA"',
    "a\0b",
]


def _number(draw: random.Random) -> str:
    forms = ["{:.3f}", "{:+.1e}", "{:g}", "{:.0f}", "{:015.2f}"]
    return draw.choice(forms).format(draw.choice([draw.gauss(0, 1), draw.randint(-999, 9999)]))


def _date(draw: random.Random) -> str:
    day, month, year = draw.randint(1, 28), draw.randint(1, 12), draw.randint(1990, 2030)
    forms = [f"{year}-{month:02}-{day:02}", f"{day}.{month}.{year}", f"{month}/{day}/{year}"]
    forms += [f"{day} Mar {year}", f"March {day}, {year}"]
    return draw.choice(forms)


def _signed_kind(draw: random.Random) -> Callable[[], str]:
    """Prices, shares and balances, each column written in one way, with a few plain cells."""
    shape = draw.choice(["${}", "{} \u20ac", "\u00a3 {}", "{}%", "{} %", "({})", "\u2212{}"])
    digits = draw.choice(["{:.2f}", "{:,.2f}", "{:,.0f}", "{:.0f}", "{:.3f}"])
    is_comma, plain = draw.random() < 0.4, draw.choice([0, 0.1, 0.5])

    def cell() -> str:
        text = digits.format(draw.choice([draw.random(), draw.uniform(0, 5e6)]))
        if is_comma:
            text = text.translate(str.maketrans(",.", ".,"))
        return text if draw.random() < plain else shape.format(text)

    return cell


def _column(draw: random.Random, rows: int, oddness: float) -> list[str]:
    kinds: list[Callable[[], str]] = [
        lambda: _number(draw),
        lambda: str(draw.randint(0, 3)),
        lambda: f"{draw.randint(0, 2000):03}",
        lambda: _number(draw).replace(".", ","),
        lambda: f"{draw.randint(1, 999)},{draw.randint(100, 999)}",
        lambda: f'"{draw.choice(WORDS)}"',
        lambda: draw.choice(WORDS),
        lambda: _date(draw),
        lambda: draw.choice(["TRUE", "false", "1", "1.0"]),
        *(_signed_kind(draw) for _ in range(4)),
    ]
    kind = draw.choice(kinds)
    gaps = draw.choice([0, 0, 0.2])
    cells = ["" if draw.random() < gaps else kind() for _ in range(rows)]
    return [draw.choice(ODD) if draw.random() < oddness else cell for cell in cells]


def _quoted(cell: str, delimiter: str) -> str:
    return f'"{cell}"' if delimiter in cell and '"' not in cell else cell


def generated_file(seed: int) -> tuple[bytes, str, str]:
    """The bytes of a file, and the delimiter and the encoding that a reader is told, often none."""
    draw = random.Random(seed)
    width, rows = draw.choice([1, 2, 3, 4, 5]), draw.choice([0, 1, *range(2, 13)])
    delimiter = draw.choice([",", ",", ",", ";", "\t", "|"])
    oddness = draw.choice([0, 0, 0, 0, 0.03, 0.2])
    names = [f"c{place}" for place in range(width)]
    if draw.random() < 0.3:
        names = [draw.choice(NAMES) for _ in range(width)]
    columns = [_column(draw, rows, oddness) for _ in names]
    if draw.random() < 0.9:  # the others have rows with too many fields
        columns = [[_quoted(cell, delimiter) for cell in cells] for cells in columns]
    records = [delimiter.join(fields) for fields in [names, *zip(*columns, strict=True)]]
    if draw.random() < 0.2:  # a ragged end, or a ragged row
        place = draw.randrange(len(records))
        records[place] += draw.choice([delimiter, delimiter + "1", "\n", " ", "\n  ", '"'])
    if draw.random() < 0.2:
        records.insert(draw.randrange(len(records) + 1), draw.choice(["", "", "  ", "\t", '""']))
    if draw.random() < 0.05:
        records = [record + delimiter for record in records]
    if draw.random() < 0.15:  # as Excel writes it; now and then of another delimiter
        mark = draw.choice([delimiter, delimiter, delimiter, ";"])
        records.insert(0, draw.choice(["sep={}", "sep={}", "SEP={}", '"sep={}"']).format(mark))
    end = draw.choice(["\n", "\n", "\n", "\r\n", "\r"])
    text = end.join(records) + draw.choice(["", end, end + end])
    written = draw.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "latin-1", "cp1252", "utf-16-le"])
    content = text.encode(written, "replace")
    told = draw.choice(
        ["" if written in {"utf-8", "utf-8-sig", "utf-16"} else written] * 9
        + ["", "latin-1", "nonsense", "rot13"]
    )
    return content, draw.choice(["", "", "", delimiter, "\t"]), told
