"""The parts that a predict.py is made of: how it reads inputs, how it runs the model, what it says.

They are text, for they run where netwright is not: each with what the standard library has, numpy,
and the packages named in `PACKAGES`. `read` and `predict` are what `ANSWERS` calls.
"""

from collections.abc import Mapping

from netwright.data.files.file_encoding import HEAD, MANY_ZEROS, MARKS, UNWESTERN
from netwright.data.text.tokenizer import PAD, UNK
from netwright.recipes.exchange.script_table import TABLE

START = '''"""{title}

    python predict.py {usage}

Written by netwright {version}. What it needs is in requirements.txt.
"""

import csv
import io
import json
import sys
{imports}from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
EXPORT = json.loads((HERE / "export.json").read_text(encoding="utf-8"))
PREPROCESSING = json.loads((HERE / "preprocessing.json").read_text(encoding="utf-8"))
'''

ONNX = '''

def predict(rows):
    """What the model says of rows."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(HERE / "model.onnx"))
    return session.run(None, {"inputs": rows})[0]
'''

TORCH_PROGRAM = '''

def predict(rows):
    """What the model says of rows."""
    import torch

    with torch.no_grad():
        return torch.export.load(HERE / "model.pt2").module()(torch.from_numpy(rows)).numpy()
'''

ARRAYS = '''

def read(paths):
    """Rows of numbers: an .npy file, or a CSV file whose first line names the columns."""
    (path,), names = paths, EXPORT["inputs"]["names"]
    tensor = EXPORT["inputs"]["tensors"][0]
    if path.endswith(".npy"):
        rows = np.load(path)
    else:
        with open(path, newline="", encoding="utf-8-sig") as file:
            header, *lines = csv.reader(file)
        if not set(names) <= set(header):
            names = header
        columns = [header.index(name) for name in names]
        rows = np.array([[float(line[column]) for column in columns] for line in lines])
    return rows.astype(tensor["dtype"]).reshape(len(rows), *tensor["shape"][1:])
'''

IMAGES = '''

def read(paths):
    """Image files as bytes (N, C, I, J), in the mode and the size of the training images."""
    return np.stack([pixels_of(path) for path in paths])


def pixels_of(path):
    from PIL import Image, ImageOps

    mode, (_, height, width) = PREPROCESSING["mode"], PREPROCESSING["input_shape"]
    image, size, method = Image.open(path), (width, height), Image.Resampling.BILINEAR
    if image.mode.startswith(("I", "F")):
        sys.exit(f"{path} has more than 8 bits a channel, which this script does not read")
    image.draft(None, (2 * max(size), 2 * max(size)))  # a large JPEG is decoded smaller
    image = ImageOps.exif_transpose(image)
    if image.has_transparency_data and mode != "RGBA":  # what is transparent shows white
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    image = image.convert(mode)
    if image.size != size:
        fit = {"crop": ImageOps.fit, "pad": ImageOps.pad}.get(PREPROCESSING["resize"])
        image = fit(image, size, method) if fit else image.resize(size, method)
    pixels = np.array(image)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
'''

ENCODED = f'''
MARKS = {MARKS!r}
UNWESTERN = {UNWESTERN.pattern!r}


def text_of(path, encoding):
    """The text of a file: its mark (BOM) says how it is encoded, then the training, then itself."""
    content = Path(path).read_bytes()
    marked = [its for mark, its in MARKS.items() if content.startswith(mark)]
    encoding = marked[0] if marked else encoding or detected_encoding(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        sys.exit(f"{{path}} is not {{encoding}}: save it as UTF-8")


def detected_encoding(content):
    """UTF-16, which has zeros in ASCII, and what is not UTF-8 but reads as Western text."""
    head = content[:{HEAD}]
    zeros = [half.count(0) / max(1, len(half)) for half in (head[::2], head[1::2])]
    if max(zeros) > {MANY_ZEROS} and min(zeros) == 0:
        return "utf-16-le" if zeros[1] else "utf-16-be"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "utf-8" if re.search(UNWESTERN, content) else "cp1252"
    return "utf-8"
'''

TEXTS = f'''

def read(paths):
    """Texts, one a line, as tokens of one length (N, T)."""
    from tokenizers import Tokenizer

    length = PREPROCESSING["length"]
    tokenizer = Tokenizer.from_file(str(HERE / "tokenizer.json"))
    texts = text_of(*paths, PREPROCESSING["encoding"]).splitlines()
    rows = np.full((len(texts), length), {PAD}, dtype=np.int64)
    for row, text in zip(rows, texts):
        tokens = (tokenizer.encode(text).ids or [{UNK}])[:length]
        row[: len(tokens)] = tokens
    return rows
'''

ANSWERS = '''

def main():
    """Print one line an input: the class, and the probability of each, or the values."""
    if len(sys.argv) < 2:
        sys.exit("usage: python predict.py {usage}")
    names, kind = EXPORT["outputs"]["names"], EXPORT["outputs"]["kind"]
    at = EXPORT["outputs"].get("threshold")
    header = names if kind == "real" else [f"p({{name}})" for name in names]
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\\n")
    writer.writerow(["prediction", *header] if kind == "class" else header)
    for row in predict(read(sys.argv[1:])):
        place = row.argmax() if at is None else int(row[1] > at)
        said = [names[place]] if kind == "class" else []
        writer.writerow([*said, *(f"{{value:.7g}}" for value in row.tolist())])
    print(table.getvalue(), end="")


if __name__ == "__main__":
    main()
'''

CONTINUE = '''"""{title}

    python predict.py {usage}

Written by netwright {version}. What it needs is in requirements.txt.
"""

import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

HERE, TOKENS = Path(__file__).parent, 100


def main():
    """Print the text with which the model goes on, always by the likeliest token."""
    if len(sys.argv) != 2:
        sys.exit("usage: python predict.py {usage}")
    tokenizer = AutoTokenizer.from_pretrained(HERE)
    model = AutoModelForCausalLM.from_pretrained(HERE)
    given = tokenizer(sys.argv[1], return_tensors="pt", add_special_tokens=False)
    room = max(1, min(TOKENS, model.config.n_positions - given["input_ids"].shape[1]))
    said = model.generate(**given, max_new_tokens=room, do_sample=False)
    print(tokenizer.decode(said[0], skip_special_tokens=True))


if __name__ == "__main__":
    main()
'''

IMPORTS: Mapping[str, str] = {
    "table": "import math\nimport re\nfrom datetime import datetime, time\n",
    "text": "import re\n",
}
RUNNERS: Mapping[str, str] = {"onnx": ONNX, "torch-export": TORCH_PROGRAM}
READERS: Mapping[str, str] = {
    "arrays": ARRAYS,
    "images": IMAGES,
    "table": ENCODED + TABLE,
    "text": ENCODED + TEXTS,
}
USAGES: Mapping[str, str] = {
    "arrays": "ROWS.npy    (or a CSV file of numbers)",
    "images": "IMAGE.png ...",
    "table": "ROWS.csv",
    "text": "TEXTS.txt    (one text a line)",
}
# What is installed for each part, by the names of the packages.
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "onnx": ("numpy", "onnxruntime"),
    "torch-export": ("numpy", "torch"),
    "hf": ("torch", "transformers"),
    "images": ("pillow",),
    "text": ("tokenizers",),
}
