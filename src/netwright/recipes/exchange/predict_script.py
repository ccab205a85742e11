"""`predict.py` beside an export: a small program without netwright that does what the run does.

It is put together of the part that reads this kind of inputs and the part that runs this format;
`requirements.txt` names its packages, at least as new as those here.
"""

from importlib.metadata import version

from netwright.core.errors import ConfigError
from netwright.core.files.storage import Staging
from netwright.core.version import VERSION
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.features.number_feature import NumberFeature
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.tokenizer_json import to_tokenizer_json
from netwright.recipes.exchange.export_format import ExportSource
from netwright.recipes.exchange.script_parts import (
    ANSWERS,
    CONTINUE,
    IMPORTS,
    PACKAGES,
    READERS,
    RUNNERS,
    START,
    USAGES,
)

SCRIPT, REQUIREMENTS = "predict.py", "requirements.txt"


def check_script(source: ExportSource, to: str) -> None:
    """Refuse a predict.py where there is none for this format, or for these inputs."""
    reason = _why_not(source, to)
    if reason:
        raise ConfigError(f"there is no script for this export: {reason}; leave out --script")


def write_script(source: ExportSource, to: str, staging: Staging) -> None:
    """Write predict.py and requirements.txt."""
    kind, name = source.preprocessor.kind, source.section["name"] or type(source.model).__name__
    filled = {
        "title": f"Predictions of {name}, exported to {to}.",
        "usage": "TEXT    (how a text begins)" if to == "hf" else USAGES[kind],
        "version": VERSION,
        "imports": IMPORTS.get(kind, ""),
    }
    parts = [CONTINUE] if to == "hf" else [START, READERS[kind], RUNNERS[to], ANSWERS]
    named = {START, CONTINUE, ANSWERS}  # the others hold braces of their own
    text = "".join(part.format(**filled) if part in named else part for part in parts)
    staging.write(SCRIPT, text.encode())
    packages = PACKAGES[to] if to == "hf" else (*PACKAGES[to], *PACKAGES.get(kind, ()))
    needed = (f"{package}>={version(package).partition('+')[0]}\n" for package in packages)
    staging.write(REQUIREMENTS, "".join(needed).encode())
    if isinstance(source.preprocessor, TextEncoder) and to != "hf":
        content = to_tokenizer_json(source.preprocessor.tokenizer)
        staging.write("tokenizer.json", content.encode())


def _why_not(source: ExportSource, to: str) -> str:
    spec, preprocessor = source.spec, source.preprocessor
    if to == "hf":
        is_language_model = (spec.inputs, spec.target) == ("tokens", "tokens")
        return "" if is_language_model else "use a pipeline of transformers"
    if to not in RUNNERS:
        return f"{to} holds weights, which do not run by themselves"
    if spec.target not in {"class", "labels", "real"}:
        return f"a target of kind {spec.target!r} has no line an input"
    if preprocessor.kind not in READERS or (preprocessor.kind == "text" and spec.vocab_size == 0):
        return f"inputs of kind {spec.inputs!r} encoded by {preprocessor.kind!r} are not read by it"
    return _unread_numbers(preprocessor) if isinstance(preprocessor, TableEncoder) else ""


def _unread_numbers(encoder: TableEncoder) -> str:
    """Which numbers of a table the script would not read as training has."""
    if encoder.dialect.thousands:
        return f"numbers with {encoder.dialect.thousands!r} between thousands are not read"
    for feature in encoder.features:
        if isinstance(feature, NumberFeature) and feature.form is not None:
            return f"numbers such as {feature.form.example} of {feature.name!r:.60} are not read"
    return ""
