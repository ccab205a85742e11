"""The `netwright` command: its verbs, and how refusals become one sentence and an exit code."""

import atexit
import errno
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from typing import Annotated, NoReturn

import typer

from netwright.apps.cli.commands.compare_command import compare
from netwright.apps.cli.commands.cross_validate_command import cross_validate
from netwright.apps.cli.commands.doctor_command import doctor
from netwright.apps.cli.commands.env_command import env
from netwright.apps.cli.commands.evaluate_command import evaluate
from netwright.apps.cli.commands.explain_command import explain
from netwright.apps.cli.commands.export_command import export
from netwright.apps.cli.commands.generate_command import generate
from netwright.apps.cli.commands.import_command import import_weights
from netwright.apps.cli.commands.inspect_command import inspect
from netwright.apps.cli.commands.list_command import list_names
from netwright.apps.cli.commands.note_command import note
from netwright.apps.cli.commands.predict_command import predict
from netwright.apps.cli.commands.race_command import race
from netwright.apps.cli.commands.report_command import report
from netwright.apps.cli.commands.runs_command import runs
from netwright.apps.cli.commands.sample_data_command import sample_data
from netwright.apps.cli.commands.scale.launch_command import launch
from netwright.apps.cli.commands.scale.plan_command import plan
from netwright.apps.cli.commands.scale.prepare_command import prepare
from netwright.apps.cli.commands.search_command import search
from netwright.apps.cli.commands.serving.serve_command import serve
from netwright.apps.cli.commands.serving.studio_command import studio
from netwright.apps.cli.commands.theory_command import theory
from netwright.apps.cli.commands.train_command import train
from netwright.apps.cli.commands.verify_command import verify
from netwright.apps.cli.commands.verify_resume_command import verify_resume
from netwright.apps.cli.commands.words_command import words
from netwright.core.errors import NetwrightError
from netwright.core.memory_shortage import is_shortage, shortage_sentence

# ClickException, wherever typer keeps its click.
CLICK_ERROR: type[Exception] = typer.BadParameter.__mro__[2]
# What typer says of a number that is none, by its version, and what we say.
WRONG_NUMBERS = {
    r"valid int(?:eger)?\b": "a whole number",
    r"valid (?:number|float)\b": "a number",
}
# Why a stream or a file that is open takes no more.
UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
# Why nothing can be at a path.
UNREACHABLE = {errno.ENAMETOOLONG, errno.ELOOP}
# How like an option (0 to 1) is what can only be that option, mistyped; no setting is so like one.
MISTYPED = 0.8
COMMANDS: dict[str, Callable[..., None]] = {
    "doctor": doctor,
    "train": train,
    "launch": launch,
    "plan": plan,
    "prepare": prepare,
    "evaluate": evaluate,
    "predict": predict,
    "generate": generate,
    "serve": serve,
    "studio": studio,
    "runs": runs,
    "note": note,
    "words": words,
    "export": export,
    "import": import_weights,
    "report": report,
    "inspect": inspect,
    "compare": compare,
    "cross-validate": cross_validate,
    "search": search,
    "theory": theory,
    "race": race,
    "explain": explain,
    "list": list_names,
    "sample-data": sample_data,
    "verify": verify,
    "verify-resume": verify_resume,
    "env": env,
}


def _as_typed(name: str) -> str:
    """--batch_size is --batch-size."""
    return name.replace("_", "-")


app = typer.Typer(
    help="Train, inspect and verify everything a deep-learning course teaches.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": _as_typed,
    },
)
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from netwright.core.terminal.console import print_result
        from netwright.core.version import VERSION

        print_result(VERSION)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run one command and end the process: 0 ok, 1 failed, 2 usage or config, 130 Ctrl-C."""
    from netwright.core.terminal.guarded_streams import guard_streams

    guard_streams()
    try:
        code = run(sys.argv[1:] if arguments is None else arguments)
    except Exception as error:
        code = 130 if _comes_of_interrupt(error) else 1
        with suppress(AttributeError, OSError):  # it is closed, or takes nothing
            sys.stderr.write(traceback.format_exc() if code == 1 else "")
    _end(code)


def _comes_of_interrupt(error: BaseException | None) -> bool:
    """Whether foreign code has made another exception of a Ctrl-C."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _end(code: int) -> NoReturn:
    """As `sys.exit`, but modules are left as they are: to free all of torch takes half a second."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over, and 130 would say that it is not
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader is gone, its disk full, it is closed
            if stream is not None:
                stream.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run one command; give its exit code."""
    from netwright.core.terminal.console import print_error

    try:
        code = app(arguments, prog_name="netwright", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except NetwrightError as error:
        print_error(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except (OSError, MemoryError, RuntimeError) as error:
        sentence = _said_of(error)
        if not sentence:
            raise
        print_error(sentence)
        return 2 if isinstance(error, OSError) and error.errno in UNREACHABLE else 1
    except CLICK_ERROR as error:
        print_error(_sentence(error, arguments))
        return 2
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _said_of(error: OSError | MemoryError | RuntimeError) -> str:
    """What the system refuses: memory, streams, paths before anything is opened; of more ""."""
    if is_shortage(error):
        return shortage_sentence(error)
    if not isinstance(error, OSError):
        return ""
    if error.errno in UNREACHABLE:
        return f"{str(error.filename)[:100]} cannot be reached: {error.strerror}"
    if error.filename is None and error.errno in UNWRITTEN:
        return f"the output cannot be written: {error.strerror}"
    return ""


def _sentence(error: BaseException, arguments: list[str]) -> str:
    """Click's message as one sentence, with the nearest option where it knows one."""
    text = str(error.format_message() if hasattr(error, "format_message") else error)
    text = " ".join(text.split()).rstrip(".")
    if isinstance(error, typer.BadParameter) and error.param is not None:
        name = error.param.opts[0]
        for message, wanted in WRONG_NUMBERS.items():
            if re.search(message, text):
                return f"{name} must be {wanted}, got {_typed(name, arguments)!r}"
    told = re.fullmatch(r"(.*?)\.? \(?(?:Did you mean|Possible options:) ([^?)]+)\??\)?", text)
    hint = _as_setting(error)
    if told:  # the likest is the first, but the sentence has options by the alphabet
        likest = (getattr(error, "possibilities", None) or told[2].split(", "))[0]
        text, hint = told[1], hint or f"; did you mean {likest}?"
    return text[:1].lower() + text[1:] + hint


def _as_setting(error: BaseException) -> str:
    """How a setting of training is given that has no option of its own; "" where it is none."""
    context, option = getattr(error, "ctx", None), getattr(error, "option_name", "").lstrip("-")
    if context is None:
        return ""
    if not any("--epochs" in parameter.opts for parameter in context.command.params):
        return ""  # it takes no settings of training
    likest = [name.lstrip("-") for name in getattr(error, "possibilities", None) or ()]
    if get_close_matches(option, likest, 1, MISTYPED):
        return ""  # found without the settings, whose import takes seconds
    from netwright.core.config import describe
    from netwright.train.settings import TrainConfig

    name = option.replace("-", "_")
    is_setting = name in {field.name for field in describe(TrainConfig)}
    return f"; as a setting it is --set train.{name}=..." if is_setting else ""


def _typed(option: str, arguments: list[str]) -> str:
    """What was typed after an option; the last one wins."""
    value = ""
    for word, after in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, joined = word.partition("=")
        if _as_typed(name) == option:
            value = joined if equals else after
    return value
