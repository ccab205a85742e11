"""Texts, sentences with tags, pairs of texts, and the tokenizers that runs bring along."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, DEEP, ESCAPE, GARBAGE, change_json, fifo, link, seal, write

SMALL = "--epochs 1 --set model.hidden=4 --set model.embedding=4 --no-report --quiet"
CORPUS = f"train lstm x.txt --set data.window=8 {SMALL}"
ROWS = f"train lstm x.tsv --text text --target label {SMALL}"
TAGGED = f"train lstm x.conllu {SMALL}"
PAIRS = (
    "train encoder-decoder x.tsv --set data.name=text-pairs --epochs 1 --set model.hidden=4 "
    "--no-report --quiet"
)
SENTENCES = ["the cat sat on a mat", "a dog saw the cat", "on the mat sat a dog"]
TEXT = ". ".join(SENTENCES * 20)
WORD = "{0}\t{1}\t_\t{2}\t_\t_\t0\t_\t_\t_\n"


def _reviews(word: str = "", label: str = "good") -> bytes:
    rows = [
        f"{text} {word}\t{label if one % 2 else 'bad'}" for one, text in enumerate(SENTENCES * 8)
    ]
    return ("text\tlabel\n" + "\n".join(rows) + "\n").encode("utf-8", "surrogatepass")


def tags(word: str = "cat", tag: str = "NOUN") -> bytes:
    sentence = WORD.format(1, word, tag) + WORD.format(2, "sat", "VERB") + "\n"
    return (sentence * 20).encode("utf-8", "surrogatepass")


def pairs(word: str = "cat") -> bytes:
    rows = [f"{text} {word}\t{word} {text}" for text in SENTENCES * 8]
    return ("\n".join(rows) + "\n").encode("utf-8", "surrogatepass")


CORPORA: dict[str, tuple[bytes | Callable[[], bytes], End]] = {
    "nothing in it": (b"", "refused"),
    "blanks alone": (b" \n" * 1_000, "refused"),
    "NUL bytes alone": (bytes(10_000), "either"),
    "all 256 bytes": (GARBAGE, "either"),
    "invalid UTF-8": (TEXT.encode() + b"\xff\xfe" * 50, "either"),
    "control codes": ((TEXT + ESCAPE).encode() * 3, "either"),
    "text turned around": (f"\u202e{TEXT}\u2066\u2069".encode(), "either"),
    "one endless line": (lambda: b"x" * 5_000_000, "either"),
    "one endless word of marks": (("a" + "\u0301" * 1_000_000).encode, "either"),
    "20,000 different characters": ("".join(map(chr, range(0x4E00, 0x9A00))).encode(), "either"),
    "its own special tokens": (f"<pad> <unk> <bos> <eos> {TEXT}".encode(), "either"),
    "one character": (b"a", "refused"),
}
TABLES: dict[str, tuple[bytes, End]] = {
    "escape codes in its texts": (_reviews(ESCAPE), "either"),
    "escape codes in its labels": (_reviews("", f"good{CONTROL}"), "either"),
    "NUL bytes in its texts": (_reviews("\x00"), "either"),
    "half a surrogate": (_reviews("\ud800"), "either"),
    "invalid UTF-8": (_reviews().replace(b"cat", b"\xff\xfe"), "either"),
    "a text of 10 MB": (_reviews("x" * 400_000), "either"),
    "a lone quote": (_reviews('"'), "either"),
    "no rows": (b"text\tlabel\n", "refused"),
    "no such column": (b"a\tb\n1\t2\n", "refused"),
}
SENTENCE_FILES: dict[str, tuple[bytes, End]] = {
    "nothing in it": (b"", "refused"),
    "garbage": (GARBAGE, "refused"),
    "too few fields": (b"1\tcat\n\n" * 10, "refused"),
    "escape codes as tags": (tags(tag=f"NOUN{CONTROL}"), "either"),
    "escape codes as words": (tags(word=ESCAPE.replace("\n", "")), "either"),
    "a number of 10,000 digits": (tags().replace(b"1\t", b"9" * 10_000 + b"\t", 1), "either"),
    "a range that is none": (b"2-1-0\tx\t_\t_\n" + tags(), "either"),
    "one sentence of 20,000 words": (tags().replace(b"\n\n", b"\n") * 500, "either"),
}
PAIR_FILES: dict[str, tuple[bytes, End]] = {
    "nothing in it": (b"", "refused"),
    "one column": (b"a\nb\n", "refused"),
    "three columns": (b"a\tb\tc\n" * 20, "either"),
    "escape codes": (pairs(ESCAPE), "either"),
    "empty sides": (b"\t\n" * 20, "refused"),
}


def _file(name: str, content: bytes | Callable[[], bytes]) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        write(place.work / name, content() if callable(content) else content)

    return make


def files() -> Iterator[Case]:
    """Files of text to train on."""
    for what, file, command, contents in (
        ("a text", "x.txt", CORPUS, CORPORA),
        ("a table of texts", "x.tsv", ROWS, TABLES),
        ("sentences", "x.conllu", TAGGED, SENTENCE_FILES),
        ("pairs", "x.tsv", PAIRS, PAIR_FILES),
    ):
        for name, (content, end) in contents.items():
            yield Case(
                kind="texts",
                name=f"{what} with {name}",
                make=_file(file, content),
                commands=(f"{command} --max-steps 1",),
                end=end,
            )
    for name, how in (
        ("a pipe", lambda place: fifo(place.work / "x.txt")),
        ("a link to a device", lambda place: link(place.work / "x.txt", "/dev/zero")),
        ("a link to itself", lambda place: link(place.work / "x.txt", "x.txt")),
    ):
        yield Case(kind="texts", name=f"a text that is {name}", make=how, commands=(CORPUS,))

    def in_folder(place: Place) -> None:
        (place.work / "texts").mkdir()
        write(place.work / "texts" / "a.txt", TEXT)
        link(place.work / "texts" / "b.txt", place.outside / "secret.txt")
        fifo(place.work / "texts" / "c.txt")

    yield Case(
        kind="texts",
        name="a folder of texts with a link and a pipe",
        make=in_folder,
        commands=(f"train lstm texts --set data.window=8 {SMALL}",),
    )


def prompts() -> Iterator[Case]:
    """Texts to go on with, and texts to judge."""

    def both(place: Place) -> None:
        place.copy("text")
        place.copy("reviews", to="reviews")
        write(place.work / "x.txt", (ESCAPE + "\n") * 5)
        write(place.work / "y.txt", b"\xff\xfe\x00\n" * 5)

    for name, command in (
        ("a prompt of escape codes", f"generate run '{ESCAPE}' --max-tokens 3"),
        ("a prompt of a million words", "generate run " + "cat" * 40_000 + " --max-tokens 3"),
        ("many tokens asked for", "generate run cat --max-tokens 100 --count 2"),
        ("texts of escape codes to judge", "predict reviews x.txt"),
        ("texts that are no UTF-8 to judge", "predict reviews y.txt"),
        ("a text of escape codes as a row", f"predict reviews --row 'text={CONTROL}'"),
    ):
        yield Case(kind="texts", name=name, make=both, commands=(command,), end="either")


def a_million_tokens() -> list[str]:
    """Made where they are written: every process that lists the cases would hold them."""
    return [f"t{one}" for one in range(1_000_000)]


Path_ = tuple[str | int, ...]
TOKENIZERS: dict[str, tuple[str, Path_, Any]] = {
    "tokens that are numbers": ("text", ("tokenizer", "tokens"), list(range(500))),
    "tokens that are a text": ("text", ("tokenizer", "tokens"), "abc"),
    "no tokens": ("text", ("tokenizer", "tokens"), []),
    "one token twice": ("text", ("tokenizer", "tokens", 5), "!"),
    "other special tokens": ("text", ("tokenizer", "tokens", 0), CONTROL),
    "a million tokens": ("text", ("tokenizer", "tokens"), a_million_tokens),
    "merges of unknown tokens": ("text", ("tokenizer", "merges"), ["zz yy", "q w"]),
    "merges of three parts": ("text", ("tokenizer", "merges"), ["a b c"]),
    "merges of one part": ("text", ("tokenizer", "merges"), ["abc"]),
    "merges that are empty": ("text", ("tokenizer", "merges"), ["", " "]),
    "merges that are numbers": ("text", ("tokenizer", "merges"), [1, 2]),
    "merges that are lists": ("text", ("tokenizer", "merges"), [["a", "b"]]),
    "merges that are a mapping": ("text", ("tokenizer", "merges"), {"a": "b"}),
    "a kind of escape codes": ("text", ("tokenizer", "kind"), CONTROL),
    "a kind by a path": ("text", ("tokenizer", "kind"), "os:system"),
    "a kind that is a list": ("text", ("tokenizer", "kind"), ["bpe"]),
    "an unknown setting": ("text", ("tokenizer", "owned"), 1),
    "lower as text": ("text", ("tokenizer", "lower"), "no"),
    "a length of 10^12": ("text", ("length",), 10**12),
    "a length of -1": ("text", ("length",), -1),
    "a length of text": ("text", ("length",), "long"),
    "an encoding that is none": ("text", ("encoding",), "rot13"),
    "a form by a path": ("text", ("form",), "os:system"),
    "tokens of escape codes": (
        "text",
        ("tokenizer", "tokens"),
        ["<pad>", "<unk>", "<bos>", "<eos>", *(f"{ESCAPE}{one}" for one in range(266))],
    ),
    "words of escape codes": (
        "reviews",
        ("tokenizer", "tokens"),
        ["<pad>", "<unk>", "<bos>", "<eos>", *(f"{ESCAPE}{one}" for one in range(9))],
    ),
    "words that are lists": ("reviews", ("tokenizer", "tokens", 5), ["a"]),
    "too many words": ("reviews", ("tokenizer", "tokens", 12), "x" * 10_000_000),
    "an unknown way to split": ("reviews", ("tokenizer", "split_at"), "(a+)+$"),
    "classes of escape codes": ("reviews", ("class_names",), [ESCAPE, "1"]),
    "a column that is a list": ("reviews", ("column",), ["text"]),
}


def tokenizers() -> Iterator[Case]:
    """Tokenizers in a run, behind a right manifest."""
    for name, (source, keys, value) in TOKENIZERS.items():

        def make(
            place: Place, source: str = source, where: Path_ = keys, value: Any = value
        ) -> None:
            path = place.copy(source) / "model" / "preprocessor.json"
            change_json(path, *where, to=value() if callable(value) else value)
            write(place.work / "x.txt", "the cat sat\n" * 3)

        yield Case(
            kind="tokenizers",
            name=f"a tokenizer with {name}",
            make=make,
            commands=("generate run cat --max-tokens 5",)
            if source == "text"
            else ("predict run x.txt",),
            end="either",
        )

    def deep(place: Place) -> None:
        model = place.copy("text") / "model"
        write(model / "preprocessor.json", f'{{"kind": "text", "tokenizer": {DEEP}}}')
        seal(model)

    yield Case(
        kind="tokenizers",
        name="a tokenizer deeply nested",
        make=deep,
        commands=("generate run cat --max-tokens 5", "evaluate run"),
    )


VECTOR_FILES: dict[str, bytes] = {
    "a claim of a billion words": b"1000000000 300\na 1 2 3\n",
    "lines of other widths": b"a 1 2 3\nb 1 2\n",
    "a number that is none": b"a 1 2\nb 1 nan\n",
    "a byte that is not UTF-8": b"caf\xe9 1 2\nb 1 2\n",
    "a word twice": b"a 1 2\na 3 4\n",
    "nothing in it": b"",
}


def vectors() -> Iterator[Case]:
    """Files of word vectors."""
    for name, content in VECTOR_FILES.items():
        yield Case(
            kind="texts",
            name=f"word vectors with {name}",
            make=_file("v.txt", content),
            commands=("words v.txt similar a", "words v.txt evaluate v.txt"),
        )


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from files()
    yield from prompts()
    yield from tokenizers()
    yield from vectors()
