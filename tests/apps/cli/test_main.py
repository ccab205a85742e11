"""The command: help without torch; refusals in one sentence, exit code 2, nothing left."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import pytest
import torch
from typer.main import get_command

import netwright
from netwright.apps.cli import main
from netwright.core.config import describe
from netwright.train.settings import TrainConfig
from tests.apps.cli.conftest import Type

HEAVY = ("torch", "sklearn", "pydantic", "matplotlib", "numpy", "pandas")


@pytest.mark.parametrize(
    ("words", "allowed"),
    [(["--help"], []), (["train", "--help"], ["pydantic"])],  # typer itself asks pydantic there
)
def test_help_imports_nothing_heavy(words: list[str], allowed: list[str]) -> None:
    script = (
        "import sys\n"
        "from netwright.apps.cli.main import run\n"
        f"code = run({words})\n"
        f"print([name for name in {HEAVY} if name in sys.modules], code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] in {"[] 0", f"{allowed} 0"}
    assert "Train a model on data" in done.stdout


def test_version(type_in: Type) -> None:
    assert type_in("--version").out == f"{netwright.__version__}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["trian"], "no such command 'trian'; did you mean 'train'?"),
        (["prepar"], "no such command 'prepar'; did you mean 'prepare'?"),
        (["serch"], "no such command 'serch'; did you mean 'search'?"),
        (["train", "mpl"], "unknown model 'mpl'; did you mean 'mlp'?"),
        (["train", "mlp", "digts"], "unknown data set 'digts'; did you mean 'digits'?"),
        (["train", "--epoch", "3"], "no such option: --epoch; did you mean --epochs?"),
        (
            ["train", "--label-smoothing", "0.1"],
            "no such option: --label-smoothing; as a setting it is --set train.label_smoothing=...",
        ),
        (
            ["train", "mlp", "digits", "--loss", "mse"],
            "no such option: --loss; as a setting it is --set train.loss=...",
        ),
        (["predict", "--patience", "3"], "no such option: --patience"),
        (["predict", "--threshol", "0.1"], "no such option: --threshol; did you mean --threshold?"),
        (["train", "a", "b", "c"], "got unexpected extra argument(s) (c)"),
        (["train", "--epochs", "0"], "train.epochs must be greater than 0, got 0"),
        (["train", "--lr", "nan"], "train.lr must be a finite number, got nan"),
        (["train", "--lr", "-1"], "train.lr must be greater than 0.0, got -1.0"),
        (["train", "--set", "model.hidden=0"], "model.hidden[0] must be greater than 0, got '0'"),
        (
            ["train", "--set", "model.hiden=3"],
            "unknown setting 'model.hiden'; did you mean 'hidden'?",
        ),
        (["train", "--optimizer", "adm"], "unknown optimizer 'adm'; did you mean 'adam'?"),
        (
            ["train", "--set", "train.optimizer_options=3"],
            "train.optimizer_options must be a mapping, got '3'",
        ),
        (["train", "--device", "cuda:99"], "device 'cuda:99' is not available: 0 CUDA devices"),
        (
            ["train", "mlp", "iris", "--batch-size", "200"],
            "batch_size 200 is more than the 105 training rows of iris; use 105 or fewer",
        ),
        (
            ["train", "ridge", "iris"],
            "ridge predicts real, got a target of kind 'class'; for a table of features and "
            "targets of kind 'class' there are mlp, mlp-plr, table-resnet, ...",
        ),
        (["train", "--epochs", "2.5"], "--epochs must be a whole number, got '2.5'"),
        (["train", "--batch_size=x"], "--batch-size must be a whole number, got 'x'"),
        (["train", "--lr", "1", "--lr", "1,5"], "--lr must be a number, got '1,5'"),
        (["predict", ".", "--threshold", "half"], "--threshold must be a number, got 'half'"),
        (["race", "adam", "--steps", "0"], "--steps must be from 1 to 10000, got 0"),
        (["race", "adam", "--steps", "20000"], "--steps must be from 1 to 10000, got 20000"),
        (["train", "mlp", "no.csv", "--target", "x"], "no.csv: there is no such file"),
        (["train", "-c", "no.yaml"], "no.yaml cannot be read: No such file or directory"),
        (["evaluate", "nowhere"], "nowhere is not a run folder: there is no such folder"),
        (["evaluate", "."], ". is not a run folder: it has no config.yaml"),
        (["list", "modls"], "unknown kind 'modls'; did you mean 'models'?"),
        (["predict", "."], "predict needs rows: give a file, - for standard input, or --row"),
        (["predict", ".", "a.csv", "--row", "x=1"], "predict takes a file or --row, not both"),
        (
            ["train", "--resume", "x" * 300],
            f"{'x' * 300}/config.yaml cannot be read: File name too long",
        ),
        *(
            (words, f"{'x' * 100} cannot be reached: File name too long")
            for words in (
                ["evaluate", "x" * 300],
                ["train", "mlp", "xor", "--out", "x" * 300, "--epochs", "1"],
                ["search", "mlp", "xor", "--out", "x" * 300],
                ["compare", "mlp", "x" * 300],
            )
        ),
    ],
)
def test_refuses_in_one_sentence_and_leaves_nothing(
    type_in: Type,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    answer = type_in(*words)
    assert answer.err == f"error: {sentence}\n"
    assert (answer.code, answer.out) == (2, "")
    assert not list(tmp_path.iterdir())


TABLES = {
    "ragged": (b"a,b\n1,2\n3\n", r"x.csv:3"),
    "unbalanced quotes": (b'a,b\n1,"2\n3,4\n', r"x.csv:\d"),
    "Cyrillic": (
        b"a,b\n1,\xec\xee\xf1\xea\xe2\xe0\n",
        r"give its encoding, as in --set data.encoding=latin-1",
    ),
    "NUL": (b"a,b\n1,\x002\n", r"x.csv:2"),
    "empty": (b"", r"empty"),
    "header only": (b"a,b\n", r"x.csv"),
    "duplicate header": (b"a,a,b\n1,2,3\n", r"'a'"),
    "text among numbers": (
        b"a,b\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(60)) + b"x,1\n",
        r"x.csv:62: column 'a': 'x'",
    ),
    "one class": (b"a,b\n" + b"".join(b"%d,1\n" % i for i in range(60)), r"one class"),
    "no such target": (b"a,c\n" + b"1,2\n" * 20, r"no column 'b'"),
    "infinite": (b"a,b\n" + b"1,0\n2,1\n" * 30 + b"1e400,1\n", r"x.csv:62"),
}


@pytest.mark.parametrize("case", TABLES)
def test_bad_tables_are_refused_by_name(type_in: Type, tmp_path: Path, case: str) -> None:
    content, pattern = TABLES[case]
    (tmp_path / "x.csv").write_bytes(content)
    answer = type_in("train", "mlp", "x.csv", "--target", "b")
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert re.search(pattern, answer.err), answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_a_byte_order_mark_is_repaired_and_told(type_in: Type, tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 2}\n" for i in range(60))
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbf" + f"a,b\n{rows}".encode())
    words = ("--target", "b", "--epochs", 1, "--no-report")
    answer = type_in("train", "logistic", "x.csv", *words)
    assert answer.code == 0
    assert "(BOM) was skipped" in answer.err


def test_underscores_are_dashes(type_in: Type) -> None:
    assert type_in("train", "mlp", "xor", "--batch_size", 8, "--dry_run").code == 0


@pytest.mark.parametrize("verb", ["train", "compare", "cross-validate", "search"])
def test_a_setting_without_an_option_is_refused_with_how_it_is_set(
    type_in: Type, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Whatever option is a little like it: --loss was told of --allow, --augment of --quiet."""
    built: Any = get_command(main.app)
    monkeypatch.setattr(main, "app", built)  # or each call builds it anew
    options = {name for part in built.commands[verb].params for name in part.opts}
    settings = {field.name: field.name.replace("_", "-") for field in describe(TrainConfig)}
    without = {name: typed for name, typed in settings.items() if f"--{typed}" not in options}
    assert {"loss", "augment", "average", "schedule"} <= without.keys()
    for name, typed in without.items():
        told = f"no such option: --{typed}; as a setting it is --set train.{name}=..."
        assert type_in(verb, f"--{typed}=1").err == f"error: {told}\n"


def test_a_run_that_diverges_fails_with_code_1(type_in: Type) -> None:
    answer = type_in("train", "mlp", "diabetes", "--optimizer", "sgd", "--lr", 1e30, "-q")
    assert answer.code == 1
    assert answer.err.startswith("error: non-finite value at step ")


@pytest.mark.parametrize("verb", ["train", "evaluate"])
def test_memory_that_ran_out_is_told_in_one_sentence(
    type_in: Type, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    def no_room(*given: object, **settings: object) -> None:
        torch.empty(1 << 58, device="cpu", dtype=torch.uint8)

    monkeypatch.setattr("netwright.recipes.fitting.training.train", no_room)
    monkeypatch.setattr("netwright.recipes.run.run.open_run", no_room)
    answer = type_in(verb, *(("mlp", "xor") if verb == "train" else (".",)))
    assert (answer.code, answer.out) == (1, "")
    assert re.fullmatch(r"error: there is not enough memory: .* did not fit; use .*\n", answer.err)


ENDS = """
import atexit
from netwright.apps.cli import main
atexit.register(lambda: print("cleaned up"))
main.run = lambda arguments: print("not flushed", arguments, end=" ") or 7
main.main(["a"])
"""


def test_a_process_ends_with_its_code_its_output_and_its_clean_up() -> None:
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "not flushed ['a'] cleaned up\n")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["train", "mpl"], 2, "error: unknown model 'mpl'; did you mean 'mlp'?\n"),
        pytest.param(
            ["train", "mlp", "xor", "--epochs", "1", "--quiet", "--no-report"],
            0,
            "",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_process_says_nothing_but_what_is_ours(
    tmp_path: Path, words: list[str], code: int, told: str
) -> None:
    """Extension modules report leaks where Python ends without freeing what they hold."""
    command = [sys.executable, "-m", "netwright", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, told)


def test_ctrl_c_saves_and_exits_130(tmp_path: Path) -> None:
    """A real process, a real signal: the first epoch's line says that training is under way."""
    command = [sys.executable, "-m", "netwright", "train", "mlp", "xor", "--epochs", "100000"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("epoch   1"):
            break
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=600) == 130
    assert "interrupted; the run is saved in runs/mlp-xor-001" in rest
    assert (tmp_path / "runs" / "mlp-xor-001" / "results.json").is_file()
    assert (tmp_path / "runs" / "mlp-xor-001" / "last.json").is_file()


def netwright_with(words: str, streams: str) -> tuple[int, str]:
    """The exit code of a process, and what it wrote, with its streams as a shell sets them."""
    command = f"{shlex.quote(sys.executable)} -m netwright {words} {streams}"
    done = subprocess.run(
        ["bash", "-c", command], stdout=PIPE, stderr=STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("words", "streams", "code", "told"),
    [
        (
            "list models",
            "2>&1 >/dev/full",
            1,
            "error: standard output cannot be written to: No space",
        ),
        ("--help", "2>&1 >/dev/full", 1, "error: the output cannot be written: No space left"),
        ("list models", "2>&1 >&-", 1, "error: standard output is closed, so nothing can be"),
        ("list models", "| true; exit ${PIPESTATUS[0]}", 0, ""),
        ("list modls", "2>&-", 2, ""),
        ("list modls", "2>/dev/full", 2, ""),
    ],
)
def test_streams_that_take_nothing_never_show_a_traceback(
    words: str, streams: str, code: int, told: str
) -> None:
    ended, written = netwright_with(words, streams)
    assert (ended, written.count("\n")) == (code, 1 if told else 0)
    assert written.startswith(told)


UNEXPECTED = """
from netwright.apps.cli import main
def fail(arguments):
    raise RuntimeError("\\x1b]52;c;eA==\\x07")
main.run = fail
main.main([])
"""


def test_a_traceback_of_a_fault_of_ours_holds_no_codes() -> None:
    done = subprocess.run([sys.executable, "-c", UNEXPECTED], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(b"RuntimeError: \\x1b]52;c;eA==\\x07\n")
    assert b"\x1b" not in done.stderr
