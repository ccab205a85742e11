"""The part of a predict.py that reads a table: the same file as the run, encoded as it encodes it.

It is text, and what is short enough is the source of the run's own functions.
"""

from inspect import getsource

from netwright.data.tables.cells import (
    MONTH_NUMBERS,
    NAMED_DATES,
    as_date,
    clock_time,
    named_date,
    numeric_date,
)
from netwright.data.tables.column_cells import LARGEST
from netwright.data.tables.features.text_feature import WORD
from netwright.data.tables.number_marks import CLEAR_SHARE, as_number
from netwright.data.tables.raw_table import MISSING
from netwright.data.tables.records import DELIMITERS, SEPARATOR, find_delimiter

_DATES = {form: shape.pattern for form, shape in NAMED_DATES.items()}
_AS_NUMBER, _DELIMITER = getsource(as_number), getsource(find_delimiter)
_AS_DATE = "\n\n".join(getsource(one) for one in (as_date, numeric_date, named_date, clock_time))
TABLE = f'''
MISSING = {sorted(MISSING)!r}
LARGEST = {LARGEST!r}
WORD = {WORD.pattern!r}
NAMED_DATES = {{form: re.compile(shape) for form, shape in {_DATES!r}.items()}}
MONTH_NUMBERS = {MONTH_NUMBERS!r}
SEPARATOR = re.compile({SEPARATOR.pattern!r}, re.IGNORECASE)
DELIMITERS = {"".join(DELIMITERS)!r}


def read(paths):
    """The rows of a CSV file, encoded as the training rows were (N, F)."""
    text = text_of(*paths, PREPROCESSING["dialect"]["encoding"])
    named = SEPARATOR.match(text)  # a first line sep=; tells Excel the delimiter
    text = text[named.end() if named else 0 :].lstrip("\\r\\n")
    delimiter = named[2] if named else find_delimiter(re.split("[\\r\\n]", text)[0])
    file = io.StringIO(text, newline="")
    table = csv.DictReader(file, delimiter=delimiter, skipinitialspace=True)
    table.fieldnames = [name.strip() for name in table.fieldnames]
    rows = list(table)
    missing = {{*MISSING, *PREPROCESSING["missing"]}}
    parts = []
    for feature in PREPROCESSING["features"]:
        cells = [row[feature["name"]].strip() for row in rows]
        cells = ["" if cell in missing else cell for cell in cells]
        if delimiter == ";":
            cells = with_points(cells)
        parts += ENCODERS[feature["kind"]](feature, cells)
    return np.stack(parts, axis=1).astype(np.float32)


{_DELIMITER}

def with_points(cells):
    """1,5 as 1.5, where nearly all cells are then numbers."""
    written = [cell.replace(",", ".", 1) for cell in cells]
    numbers = [as_number(cell) is not None for cell in written if cell]
    return written if sum(numbers) >= {CLEAR_SHARE} * len(numbers) else cells


{_AS_NUMBER}

def standardised(scaling, values):
    """(x - mean) / std, the median in place of what is missing."""
    filled = np.where(np.isnan(values), scaling["median"], values)
    return np.clip((filled - scaling["mean"]) / scaling["std"], -LARGEST, LARGEST)


def encode_number(feature, cells):
    values = np.array([float(cell) if cell else np.nan for cell in cells])
    bent = bend(feature["curve"], values) if feature.get("curve") else values
    parts = [standardised(feature["scaling"], bent)] if feature["scaling"]["std"] else []
    return [*parts, np.isnan(values)] if feature["has_indicator"] else parts


def bend(curve, values):
    """Logarithms on both sides of 0, or normal scores between knots."""
    if curve["kind"] == "log":
        return np.sign(values) * np.log1p(np.abs(values) / curve["unit"])
    return np.interp(values, curve["knots"], curve["scores"])


def places_of(feature, cells):
    """The place of each category among those of training, beyond them where it has none."""
    places = {{key_of(name): place for place, name in enumerate(feature["categories"])}}
    other = places["other"] if feature["has_other"] else len(places)
    missing = places["missing"] if feature["has_missing"] else other
    return np.array([places.get(key_of(cell), other) if cell else missing for cell in cells])


def encode_category(feature, cells):
    found = places_of(feature, cells)
    return [found == place for place in range(len(feature["categories"]))]


def encode_embedded(feature, cells):
    return [places_of(feature, cells)]


def key_of(text):
    """What the writings of one category share: 1 and 1.0, TRUE and True."""
    if text.lower() in ("true", "false"):
        return text.lower()
    try:
        number = float(text) if len(text) <= 15 and "_" not in text else np.nan
    except ValueError:
        return text
    return text if np.isnan(number) else repr(number + 0.0)


def encode_date(feature, cells):
    dates, first = [date_of(cell, feature["form"]) for cell in cells], feature["first"]
    first, parts = datetime.fromisoformat(first), []
    for name, scaling in feature["parts"].items():
        values = [part_of(date, name, first) if date else np.nan for date in dates]
        parts.append(standardised(scaling, np.array(values)))
    return [*parts, np.array([not cell for cell in cells])] if feature["has_indicator"] else parts


def date_of(cell, form):
    date = as_date(cell, form) if cell else None
    if cell and date is None:
        sys.exit(f"{{cell!r}} is not a date as this column has them")
    return date


{_AS_DATE}

def part_of(date, name, first):
    if name == "weekday":
        return date.weekday()
    return (date - first).total_seconds() / 86400 if name == "days" else getattr(date, name)


def encode_text(feature, cells):
    found = [set(re.findall(WORD, cell.casefold())) for cell in cells]
    return [np.array([word in words for words in found]) for word in feature["words"]]


ENCODERS = {{
    "number": encode_number,
    "category": encode_category,
    "embedded": encode_embedded,
    "date": encode_date,
    "text": encode_text,
}}
'''
