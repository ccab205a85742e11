"""Bodies as inputs: what a run takes, what it refuses, and that no text is taken for a path."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import netwright as nw
from netwright.apps.server.given_inputs import Pictures, read_inputs, read_object
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import BRACKETS, ServerConfig
from netwright.core.errors import NetwrightError
from netwright.recipes.run.run import Run

CONFIG = ServerConfig(max_rows=20)
JSON = "application/json"


@pytest.fixture(scope="module")
def runs(folders: dict[str, Path]) -> dict[str, Run]:
    return {name: nw.open_run(folder) for name, folder in folders.items()}


def read(run: Run, value: Any) -> Any:
    return read_inputs(run, JSON, json.dumps(value).encode(), CONFIG)


def test_rows_are_the_same_as_objects_as_csv_and_as_tabs(runs: dict[str, Run]) -> None:
    run = runs["things"]
    rows = [{"size": 1.5, "colour": "red"}, {"size": None, "colour": "blue"}]
    csv = b"size,colour\n1.5,red\n,blue\n"
    wanted = run.encode(rows)
    for given in (
        read(run, {"rows": rows}),
        read_inputs(run, "text/csv", csv, CONFIG),
        read_inputs(run, "text/tab-separated-values", csv.replace(b",", b"\t"), CONFIG),
    ):
        assert torch.equal(run.encode(given), wanted)
    assert torch.equal(run.encode(read(run, {"rows": rows[0]})), wanted[:1])


def test_texts_are_the_same_in_a_list_and_as_lines(runs: dict[str, Run]) -> None:
    run, texts = runs["texts"], ["a fine film", "a dull one"]
    wanted = run.encode(texts)
    assert torch.equal(run.encode(read(run, {"texts": texts})), wanted)
    lines = "\n".join(texts).encode()
    assert torch.equal(run.encode(read_inputs(run, "text/plain", lines, CONFIG)), wanted)
    rows = [{"text": text} for text in texts]
    assert torch.equal(run.encode(read(run, {"rows": rows})), wanted)


def test_images_are_decoded_as_files_are(runs: dict[str, Run], folders: dict[str, Path]) -> None:
    run, file = runs["pets"], folders["pets"].parent / "pets" / "cat" / "1.png"
    wanted = run.preprocessor.read([file])
    content = file.read_bytes()
    text = base64.b64encode(content).decode()
    for given in (
        read_inputs(run, "image/png", content, CONFIG),
        read(run, {"images": [text]}),
        read(run, {"images": [f"data:image/png;base64,{text}"]}),
    ):
        assert isinstance(given, Pictures)
        assert torch.equal(given.pixels, wanted)
        assert given.sizes == [(4, 4)]


def test_arrays_are_numbers_or_rows(runs: dict[str, Run]) -> None:
    run = runs["iris"]
    names = run.spec.feature_names
    wanted = run.encode(np.array([[5.0, 3.0, 1.0, 0.2]]))
    assert torch.equal(run.encode(read(run, {"inputs": [[5.0, 3.0, 1.0, 0.2]]})), wanted)
    row = dict(zip(names, [5.0, 3.0, 1.0, 0.2], strict=True))
    assert torch.equal(run.encode(read(run, {"rows": [row]})), wanted)


REFUSED: list[tuple[str, Any, int, str]] = [
    ("things", [], 400, "must be a JSON object, got a list"),
    ("things", {}, 400, 'must have "rows", got 0 keys'),
    ("things", {"row": []}, 400, "unknown key 'row'; did you mean 'rows'"),
    ("things", {"texts": ["x"]}, 400, "unknown key 'texts'; this run takes \"rows\""),
    ("things", {"rows": []}, 400, "rows must be a list, got an empty one"),
    ("things", {"rows": "things.csv"}, 400, "rows must be a list, got a text"),
    ("things", {"rows": ["things.csv"]}, 400, r"rows\[0\] must be an object, got a text"),
    ("things", {"rows": [{"size": [1]}]}, 400, r"rows\[0\]\['size'\] must be a text, .* a list"),
    ("things", {"rows": [{"size": 1, "colour": "red"}] * 21}, 413, "at most 20 rows at a time"),
    ("texts", {"texts": ["a", 1]}, 400, r"texts\[1\] must be a text, got a number"),
    ("texts", {"texts": {"a": "b"}}, 400, "texts must be a list, got an object"),
    ("pets", {"images": ["/etc/passwd"]}, 400, r"images\[0\] is not base64"),
    ("pets", {"images": [None]}, 400, r"images\[0\] must be a text, got null"),
    ("letters", {"texts": ["a"]}, 400, "a language model has no label to predict"),
]


@pytest.mark.parametrize(("name", "value", "status", "sentence"), REFUSED)
def test_what_does_not_fit_is_refused(
    runs: dict[str, Run], name: str, value: Any, status: int, sentence: str
) -> None:
    with pytest.raises(NetwrightError, match=sentence) as refusal:
        read(runs[name], value)
    assert getattr(refusal.value, "status", 400) == status


@pytest.mark.parametrize(
    ("name", "media", "body", "sentence"),
    [
        ("things", "text/plain", b"x", 'this run takes application/json with "rows" or text/csv'),
        ("things", "", b"x", "got 'no Content-Type'"),
        ("pets", "text/csv", b"a\n1\n", "or image/*, got 'text/csv'"),
        ("iris", "image/png", b"x", "got 'image/png'"),
    ],
)
def test_a_body_of_another_kind_is_refused(
    runs: dict[str, Run], name: str, media: str, body: bytes, sentence: str
) -> None:
    with pytest.raises(RefusalError) as refusal:
        read_inputs(runs[name], media, body, CONFIG)
    assert sentence in str(refusal.value)
    assert refusal.value.status == 415


def test_more_lines_than_allowed_are_refused_before_they_are_read(runs: dict[str, Run]) -> None:
    with pytest.raises(RefusalError, match="at most 20 rows at a time, got 29"):
        read_inputs(runs["texts"], "text/plain", b"\n".join([b"x"] * 30), CONFIG)
    with pytest.raises(RefusalError, match="at most 20 rows at a time, got 30"):
        csv = b"size,colour\n" + b"1,red\n" * 30
        read_inputs(runs["things"], "text/csv", csv, CONFIG)


def test_json_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(RefusalError, match="more than 200,000 lists and objects") as refusal:
        read_object(b'{"rows": [' + b"[]," * BRACKETS + b"1]}")
    assert refusal.value.status == 413
    for body in (b"", b"{", b"\xff", b"nonsense", b"[" * 1000, b'{"a": "\\ud800"}', b"9" * 5000):
        with pytest.raises(RefusalError, match="the body"):
            read_object(body)


def test_an_image_that_takes_too_much_memory_is_refused(runs: dict[str, Run]) -> None:
    content = io.BytesIO()
    Image.new("RGB", (6000, 4000)).save(content, "PNG")
    with pytest.raises(NetwrightError, match=r"image 0 cannot be read .* MB to decode, more than"):
        read_inputs(runs["pets"], "image/png", content.getvalue(), CONFIG)


def test_the_pixels_of_a_request_are_counted_before_one_is_decoded(
    runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def decoding(*given: Any, **settings: Any) -> Any:
        raise AssertionError("an image was decoded")

    content = io.BytesIO()
    Image.new("1", (4300, 4300)).save(content, "PNG")
    assert len(content.getvalue()) < 3000
    text = base64.b64encode(content.getvalue()).decode()
    with monkeypatch.context() as patched:
        patched.setattr("netwright.apps.server.given_inputs.ImageContent.decode", decoding)
        with pytest.raises(RefusalError, match=r"67\.1 million .*, got 74") as refusal:
            read(runs["pets"], {"images": [text] * 4})
    assert refusal.value.status == 413
    assert read(runs["pets"], {"images": [text]}).sizes == [(4300, 4300)]
    with pytest.raises(NetwrightError, match="image 0 cannot be read as an image: it is empty"):
        read_inputs(runs["pets"], "image/png", b"", CONFIG)


def test_each_image_of_a_small_request_is_opened_once(
    runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO()
    Image.new("RGB", (9, 8)).save(content, "PNG")
    text = base64.b64encode(content.getvalue()).decode()
    opened, times = Image.open, 0

    def counted(*given: Any, **settings: Any) -> Any:
        nonlocal times
        times += 1
        return opened(*given, **settings)

    monkeypatch.setattr(Image, "open", counted)
    read(runs["pets"], {"images": [text] * 3})
    assert times == 3
    # Many that stay open together may unpack their notes to more than the memory holds.
    monkeypatch.setattr("netwright.apps.server.given_inputs.KEPT_OPEN", 3 * len(content.getvalue()))
    read(runs["pets"], {"images": [text] * 4})
    assert times == 3 + 2 * 4
