"""Folders of Hugging Face's with a GPT-2 that a stranger sent, to be imported."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, DEEP, WRONG_TYPES, fifo, link, write

IMPORT = "import gpt2 --out out"
CONFIG: dict[str, Any] = {
    "model_type": "gpt2",
    "n_layer": 1,
    "n_head": 1,
    "n_embd": 4,
    "n_positions": 3,
    "tie_word_embeddings": True,
}
TOKENIZER: dict[str, Any] = {
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
    "model": {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3},
        "merges": ["a b"],
    },
}
SHAPES: dict[str, tuple[int, ...]] = {
    "wte.weight": (4, 4),
    "wpe.weight": (3, 4),
    **{f"h.0.ln_{place}.{kind}": (4,) for place in (1, 2) for kind in ("weight", "bias")},
    "h.0.attn.c_attn.weight": (4, 12),
    "h.0.attn.c_attn.bias": (12,),
    "h.0.attn.c_proj.weight": (4, 4),
    "h.0.attn.c_proj.bias": (4,),
    "h.0.mlp.c_fc.weight": (4, 16),
    "h.0.mlp.c_fc.bias": (16,),
    "h.0.mlp.c_proj.weight": (16, 4),
    "h.0.mlp.c_proj.bias": (4,),
    "ln_f.weight": (4,),
    "ln_f.bias": (4,),
}


def gpt2(place: Place) -> Path:
    """A whole folder, as transformers writes it."""
    folder = place.work / "gpt2"
    folder.mkdir(parents=True)
    write(folder / "config.json", json.dumps(CONFIG))
    write(folder / "tokenizer.json", json.dumps(TOKENIZER))
    write(folder / "model.safetensors", save({n: torch.ones(s) for n, s in SHAPES.items()}))
    return folder


def _with(file: str, change: Callable[[Path, Place], None]) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        change(gpt2(place) / file, place)

    return make


def _config(**changes: object) -> Callable[[Place], None]:
    text = json.dumps({**CONFIG, **changes})
    return _with("config.json", lambda path, _: write(path, text))


def _tokenizer(**changes: object) -> Callable[[Place], None]:
    text = json.dumps({**TOKENIZER, "model": {**TOKENIZER["model"], **changes}})
    return _with("tokenizer.json", lambda path, _: write(path, text))


def files() -> Iterator[tuple[str, Callable[[Place], None], End]]:
    """What lies in the place of a file."""
    yield "whole", _with("config.json", lambda path, at: None), "harmless"
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        yield (
            f"{name} leads outside",
            _with(name, lambda p, at: link(p, at.outside / "x")),
            "refused",
        )
        yield f"{name} is a pipe", _with(name, lambda path, _: fifo(path)), "refused"
        yield f"{name} is deeply nested", _with(name, lambda path, _: write(path, DEEP)), "refused"
        yield f"{name} is empty", _with(name, lambda path, _: write(path, "")), "refused"
        yield f"{name} is absent", _with(name, lambda path, _: path.unlink()), "refused"


def values() -> Iterator[tuple[str, Callable[[Place], None], End]]:
    """What the files say."""
    for key in ("n_layer", "n_head", "n_embd", "n_positions"):
        for value in (0, -1, 10**9, 10**15, True, "1"):
            yield f"{key} is {value!r}", _config(**{key: value}), "refused"
    for what, wrong in WRONG_TYPES.items():
        for key in CONFIG:
            yield f"{key} is {what}", _config(**{key: wrong}), "either"
        for key in ("vocab", "merges", "type"):
            yield f"{key} of the tokenizer is {what}", _tokenizer(**{key: wrong}), "either"
    control = {CONTROL: 0, "b": 1, "ab": 2, "<|endoftext|>": 3}
    yield "a token has escape codes", _tokenizer(vocab=control, merges=[]), "harmless"
    yield "a merge has escape codes", _tokenizer(merges=[f"{CONTROL} b"]), "refused"
    yield "model_type has escape codes", _config(model_type=CONTROL), "refused"
    yield "more tokens than weights", _tokenizer(vocab={**control, "c": 4}, merges=[]), "refused"


def cases() -> Iterator[Case]:
    """All of them."""
    for name, make, end in (*files(), *values()):
        yield Case(
            kind="imports: a GPT-2", name=f"import: {name}", make=make, commands=(IMPORT,), end=end
        )
