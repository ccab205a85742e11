"""A question: prepared once; its reply is what `netwright predict` gives."""

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
from netwright.apps.cli.main import run as run_command
from netwright.apps.server.question import AnswerOptions, Question
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig
from netwright.core.errors import ConfigError
from netwright.recipes.run.run import Run
from tests.data.images.pictures import bytes_of, save


def ask(run: Run, media: str, body: bytes, *, as_csv: bool = False, **options: Any) -> Question:
    given = AnswerOptions(**options)
    return Question(run, media, body, options=given, config=ServerConfig(), as_csv=as_csv)


def reply_to(question: Question) -> Any:
    content = question.reply(question.run.predictions_of(question.prepare())).content
    return content.decode() if question.as_csv else json.loads(content)


@pytest.mark.parametrize(
    ("name", "columns"), [("things", ["id", "size", "colour"]), ("sizes", ["colour", "kind"])]
)
def test_a_table_is_answered_as_the_command_answers_it(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str], name: str, columns: list[str]
) -> None:
    table = folders[name].parent / "things.csv"
    proba = ["--proba"] if name == "things" else []
    assert run_command(["predict", str(folders[name]), str(table), *proba]) == 0
    printed = capsys.readouterr().out
    question = ask(nw.open_run(folders[name]), "text/csv", table.read_bytes(), as_csv=True)
    assert reply_to(question) == printed
    assert run_command(["predict", str(folders[name]), str(table), "--json", *proba]) == 0
    printed = capsys.readouterr().out
    question = ask(nw.open_run(folders[name]), "text/csv", table.read_bytes())
    assert reply_to(question) == {"answers": json.loads(printed)}


def test_probabilities_a_threshold_and_remarks_are_as_asked_for(folders: dict[str, Path]) -> None:
    run, body = nw.open_run(folders["things"]), b"size,colour\n5,green\n"
    (plain,) = reply_to(ask(run, "text/csv", body, probabilities=False))["answers"]
    assert list(plain) == ["kind"]
    low = reply_to(ask(run, "text/csv", body, threshold=0.0))["answers"]
    high = reply_to(ask(run, "text/csv", body, threshold=1.0))["answers"]
    assert (low[0]["kind"], high[0]["kind"]) == ("small", "big")
    remarks = reply_to(ask(run, "text/csv", body, remarks=True))["remarks"]
    assert remarks == list(
        run.preprocessor.remarks(run.preprocessor.read([{"size": 5, "colour": "green"}]))
    )
    assert remarks


def test_a_body_is_read_but_once(folders: dict[str, Path]) -> None:
    question = ask(nw.open_run(folders["things"]), "text/csv", b"size,colour\n1,red\n")
    assert question.prepare() is question.prepare()
    assert question.size == 1


def test_a_question_without_an_answer_is_refused_at_once(folders: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match="threshold is for classes and labels"):
        ask(nw.open_run(folders["sizes"]), "text/csv", b"", threshold=0.5)


def test_an_answer_that_is_no_number_is_refused(folders: dict[str, Path]) -> None:
    question = ask(nw.open_run(folders["sizes"]), "text/csv", b"colour,kind\nred,big\n")
    question.prepare()
    with pytest.raises(RefusalError, match="an answer of the model is not a finite number"):
        question.reply(torch.full((1, 1), torch.inf))


def test_a_mask_has_the_size_of_its_image(tmp_path: Path) -> None:
    for place in range(6):
        save(tmp_path / "cells" / "images" / f"{place}.png", bytes_of(place, 8, 6))
        save(tmp_path / "cells" / "masks" / f"{place}.png", 255 * (bytes_of(place, 8, 6) // 128))
    settings: dict[str, Any] = {"depth": 1, "width": 2, "epochs": 1, "save": False, "quiet": True}
    run = nw.fit("unet", tmp_path / "cells", size=(4,), val_size=0, **settings)
    file = tmp_path / "cells" / "images" / "3.png"
    (answer,) = reply_to(ask(run, "image/png", file.read_bytes()))["answers"]
    mask = np.array(Image.open(io.BytesIO(base64.b64decode(answer["mask"]))))
    assert mask.shape == (8, 6)
    assert set(np.unique(mask)) <= {0, 255}
    seen = 255 * run.predict([file])[0]
    rows, columns = ((np.arange(n) + 0.5) * 4 / n for n in (8, 6))
    assert np.array_equal(mask, seen[np.ix_(rows.astype(int), columns.astype(int))])
