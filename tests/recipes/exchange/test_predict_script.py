"""A predict.py says what the run says of the same files, without netwright."""

import csv
import io
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import netwright as nw
from netwright.core.errors import ConfigError
from tests.repetition import slow_but

TABLE = "size,colour,since,when,said,price\n"
SHORT: dict[str, Any] = {"epochs": 2, "hidden": (8,), "save": False, "quiet": True}


def run_script(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: Path
) -> list[dict[str, str]]:
    """What `python predict.py ...` prints, in this process, in which netwright cannot be found."""
    script = folder / "predict.py"
    assert "import netwright" not in script.read_text()
    monkeypatch.setattr(sys, "argv", [str(script), *map(str, words)])
    capsys.readouterr()
    runpy.run_path(str(script), run_name="__main__")
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def shares(run: nw.Run, answers: list[dict[str, str]]) -> np.ndarray[Any, Any]:
    return np.array(
        [[float(row[f"p({name})"]) for name in run.spec.class_names] for row in answers]
    )


def table_file(folder: Path) -> Path:
    """Numbers, categories, dates and words, each with cells that are missing."""
    rows = [
        f"{row / 6 if row % 7 else 'NA'},{('red', 'blue', '', '1.0')[row % 4]},"
        f"2024-{row % 12 + 1:02d}-0{row % 9 + 1},{row % 28 + 1}.03.2023,"
        f"{('Good; old', '', 'good NEW', 'as new')[row % 4]},{row * 2.5 + 1}\n"
        for row in range(60)
    ]
    (folder / "things.csv").write_text(TABLE + "".join(rows), encoding="utf-8")
    return folder / "things.csv"


@pytest.mark.parametrize(
    ("scaling", "categories"),
    [("standard", "columns"), ("log", "columns"), ("quantile", "columns"), ("log", "embedded")],
)
def test_a_table_with_missing_cells_categories_dates_and_words(
    scaling: str,
    categories: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings: dict[str, Any] = {
        "types": {"said": "text"},
        "scaling": scaling,
        "categories": categories,
    }
    run = nw.fit("mlp", table_file(tmp_path), target="price", **settings, **SHORT)
    assert {"said=good", "said=new", "said=old"} <= set(run.spec.feature_names)
    run.export("torch-export", tmp_path / "out", script=True)
    new = tmp_path / "new.csv"
    new.write_text(
        TABLE.replace(",price", "")
        + "3.5,blue,2024-05-03,01.03.2023,Old is GOOD\n"
        + ",TRUE,2023-01-31 06:00,31.12.2022 9:05 PM,\n1e9,1,,2023-03-01,anew\n"
        + '2,red,2024-05-03,01.03.2023,"good\nold\u2028new"\n',
        encoding="utf-8",
    )
    answers = run_script(tmp_path / "out", monkeypatch, capsys, new)
    got = [float(row["price"]) for row in answers]
    np.testing.assert_allclose(got, run.predict(new), rtol=1e-5)


def test_decimal_commas_beside_semicolons_as_a_sheet_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        f"{row % 7},5; {row % 3},25;a,b;{row % 12 + 1}.3.2021;{row / 2:.1f}\r\n"
        for row in range(60)
    ]
    path = tmp_path / "sheet.csv"
    text = 'sep=;\r\nsize; "share, of all";name ;since;price\r\n' + "".join(rows)
    path.write_text(text, encoding="utf-8-sig", newline="")
    kinds = {"share, of all": "category", "name": "category"}
    run = nw.fit("mlp", path, target="price", types=kinds, **SHORT)
    assert "share, of all=1.25" in run.spec.feature_names
    run.export("torch-export", tmp_path / "out", script=True)
    answers = run_script(tmp_path / "out", monkeypatch, capsys, path)
    got = [float(row["price"]) for row in answers]
    np.testing.assert_allclose(got, run.predict(path), rtol=1e-5)


WORDS = {"cp1252": ("Köln", "Zürich"), "utf-16-le": ("Koln", "Zurich"), "utf-8": ("Łódź", "Köln")}


@pytest.mark.parametrize(
    ("encoding", "form"),
    [("cp1252", "{0} {1} 2021"), ("utf-16-le", "{1} {0}, 2021"), ("utf-8", "{0}-{1}-2021")],
)
def test_a_table_with_named_months_in_an_encoding_that_is_detected(
    encoding: str,
    form: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        f'{WORDS[encoding][row % 2]},"{form.format(row % 28 + 1, ("Mar", "sept", "May")[row % 3])}'
        f'{" 10:30" * (row % 5 == 0)}",{row * 2.5 + 1}\n'
        for row in range(60)
    ]
    path = tmp_path / "towns.csv"
    path.write_bytes(("town,since,price\n" + "".join(rows)).encode(encoding))
    run = nw.fit("mlp", path, target="price", types={"town": "category"}, **SHORT)
    assert {"town=" + word for word in WORDS[encoding]} <= set(run.spec.feature_names)
    run.export("torch-export", tmp_path / "out", script=True)
    answers = run_script(tmp_path / "out", monkeypatch, capsys, path)
    got = [float(row["price"]) for row in answers]
    np.testing.assert_allclose(got, run.predict(path), rtol=1e-5)
    path.write_bytes("town,since\nKoln,32 Nov 21\n".encode(encoding))
    with pytest.raises(SystemExit, match="'32 Nov 21' is not a date"):
        run_script(tmp_path / "out", monkeypatch, capsys, path)
    text = f'sep=;\r\n\r\nsince;"a,b,c,d";town\r\n{form.format(1, "May")};;Koln\r\n'
    path.write_bytes(text.encode(encoding))
    (row,) = run_script(tmp_path / "out", monkeypatch, capsys, path)
    np.testing.assert_allclose(float(row["price"]), run.predict(path), rtol=1e-5)
    path.write_bytes(b"town,since\nM\x81ller,\n")
    with pytest.raises(SystemExit, match="is not utf-8: save it as UTF-8"):
        run_script(tmp_path / "out", monkeypatch, capsys, path)


def test_rows_of_numbers_by_name_or_as_an_array(
    moons_run: nw.Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    moons_run.export("torch-export", tmp_path / "out", script=True)
    rows = np.array([[0.5, 0.25], [1.5, -0.5], [-1.0, 0.0]])
    np.save(tmp_path / "rows.npy", rows)
    names = list(moons_run.spec.feature_names) or ["a", "b"]
    turned = [f"{second},x,{first}\n" for first, second in rows]
    (tmp_path / "rows.csv").write_text(f"{names[1]},other,{names[0]}\n" + "".join(turned))
    for file in ("rows.npy", "rows.csv"):
        answers = run_script(tmp_path / "out", monkeypatch, capsys, tmp_path / file)
        np.testing.assert_allclose(
            shares(moons_run, answers), moons_run.predict_proba(rows), atol=1e-6
        )
        said = [row["prediction"] for row in answers]
        assert said == [str(label) for label in moons_run.predict(rows)]


def image_folder(folder: Path) -> Path:
    numbers = np.random.default_rng(0)
    for name, level in (("dark", 60), ("light", 200)):
        (folder / name).mkdir(parents=True)
        for place in range(6):
            pixels = numbers.integers(level - 50, level + 50, (9, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{place}.png")
    return folder


@pytest.mark.parametrize("resize", slow_but(["crop"], ["squash", "crop", "pad"]))
def test_pictures_of_other_sizes_and_modes(
    resize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = image_folder(tmp_path / "images")
    data = nw.data.load("images", path=str(folder), size=(9, 8), resize=resize)
    run = nw.fit("mlp", data, **SHORT)
    run.export("torch-export", tmp_path / "out", script=True)
    grey, clear = tmp_path / "grey.png", tmp_path / "clear.png"
    Image.new("L", (21, 30), 90).save(grey)
    Image.new("RGBA", (30, 21), (10, 200, 30, 128)).save(clear)
    files = [grey, clear, folder / "dark" / "1.png"]
    answers = run_script(tmp_path / "out", monkeypatch, capsys, *files)
    wanted = run.predict_proba([str(file) for file in files])
    np.testing.assert_allclose(shares(run, answers), wanted, atol=1e-5)


def text_run(reviews: Path) -> nw.Run:
    data = nw.data.load("text-table", path=str(reviews), text="text", target="label")
    return nw.fit("gpt", data, layers=1, heads=1, width=4, epochs=1, save=False, quiet=True)


def test_texts_one_a_line(
    reviews_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = text_run(reviews_file)
    done = run.export("torch-export", tmp_path / "out", script=True)
    assert "tokenizer.json" in done.files
    texts = ["a fine film", "", "dull, dull and unknown " * 30]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    answers = run_script(tmp_path / "out", monkeypatch, capsys, tmp_path / "texts.txt")
    np.testing.assert_allclose(shares(run, answers), run.predict_proba(texts), atol=1e-6)
    (tmp_path / "texts.txt").write_bytes("un film très fine\n".encode("cp1252"))
    answers = run_script(tmp_path / "out", monkeypatch, capsys, tmp_path / "texts.txt")
    wanted = run.predict_proba(["un film très fine"])
    np.testing.assert_allclose(shares(run, answers), wanted, atol=1e-6)
    needed = (tmp_path / "out" / "requirements.txt").read_text().splitlines()
    assert [line.partition(">=")[0] for line in needed] == ["numpy", "torch", "tokenizers"]


@pytest.mark.slow  # a process of its own
def test_a_process_in_which_netwright_is_not_to_be_found(moons_run: nw.Run, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    moons_run.export("onnx", tmp_path / "out", script=True)
    rows = np.array([[0.5, 0.25], [1.5, -0.5]])
    np.save(tmp_path / "rows.npy", rows)
    blocked = "import sys; sys.modules['netwright'] = sys.modules['torch'] = None; import runpy; "
    script = str(tmp_path / "out" / "predict.py")
    code = f"{blocked}sys.argv[:] = [{script!r}, {str(tmp_path / 'rows.npy')!r}]; "
    code += f"runpy.run_path({script!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    answers = list(csv.DictReader(io.StringIO(done.stdout)))
    np.testing.assert_allclose(shares(moons_run, answers), moons_run.predict_proba(rows), atol=1e-6)


@pytest.mark.slow  # transformers takes seconds to be imported
def test_a_gpt_of_hugging_face_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "book.txt").write_text("the quick fox\n" * 40, encoding="utf-8")
    data = nw.data.load("text", path=str(tmp_path / "book.txt"), window=8)
    small: dict[str, Any] = {"layers": 1, "heads": 1, "width": 8, "epochs": 1}
    run = nw.fit("gpt", data, save=False, quiet=True, **small)
    run.export("hf", tmp_path / "out", script=True)
    monkeypatch.setattr(sys, "argv", ["predict.py", "the q"])
    runpy.run_path(str(tmp_path / "out" / "predict.py"), run_name="__main__")
    wanted = "the q" + run.generate("the q", beams=1, max_tokens=3)
    assert capsys.readouterr().out.rstrip("\n") == wanted.rstrip("\n")


def test_what_no_script_is_for_is_refused_before_anything_is_written(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    sentence = "state-dict holds weights, which do not run by themselves; leave out --script"
    with pytest.raises(ConfigError, match=sentence):
        moons_run.export("state-dict", tmp_path / "out", script=True)
    (tmp_path / "book.txt").write_text("the quick fox\n" * 40, encoding="utf-8")
    data = nw.data.load("text", path=str(tmp_path / "book.txt"), window=8)
    run = nw.fit("gru", data, hidden=4, embedding=4, epochs=1, save=False, quiet=True)
    with pytest.raises(ConfigError, match="a target of kind 'tokens' has no line an input"):
        run.export("torch-export", tmp_path / "out", script=True)
    assert not (tmp_path / "out").exists()
