"""The data sets by name."""

from typing import Any

from netwright.core.catalog import Catalog
from netwright.core.config import parse
from netwright.data.dataset import Data
from netwright.data.preprocessing import Preprocessor
from netwright.data.source import Source

SOURCES = Catalog[Source](
    "data set",
    {
        "table": "netwright.data.tables.table_file:SOURCE",
        "npy": "netwright.data.npy:SOURCE",
        "xor": "netwright.data.synthetic.classes:XOR",
        "moons": "netwright.data.synthetic.classes:MOONS",
        "circles": "netwright.data.synthetic.classes:CIRCLES",
        "spirals": "netwright.data.synthetic.classes:SPIRALS",
        "blobs": "netwright.data.synthetic.classes:BLOBS",
        "line": "netwright.data.synthetic.curves:LINE",
        "polynomial": "netwright.data.synthetic.curves:POLYNOMIAL",
        "teacher": "netwright.data.synthetic.curves:TEACHER",
        "iris": "netwright.data.bundled:IRIS",
        "wine": "netwright.data.bundled:WINE",
        "breast-cancer": "netwright.data.bundled:BREAST_CANCER",
        "digits": "netwright.data.bundled:DIGITS",
        "diabetes": "netwright.data.bundled:DIABETES",
        "linnerud": "netwright.data.bundled:LINNERUD",
        "mnist": "netwright.data.mnist:MNIST",
        "fashion-mnist": "netwright.data.mnist:FASHION_MNIST",
        "images": "netwright.data.images.folder:SOURCE",
        "image-shards": "netwright.data.shards.source:SOURCE",
        "cifar10": "netwright.data.images.cifar:CIFAR10",
        "cifar100": "netwright.data.images.cifar:CIFAR100",
        "segmentation": "netwright.data.images.pairs:SOURCE",
        "shapes": "netwright.data.images.drawn_shapes:SOURCE",
        "captions": "netwright.data.captions.drawn_captions:SOURCE",
        "isbi2012": "netwright.data.images.isbi:SOURCE",
        "text": "netwright.data.text.corpus:SOURCE",
        "token-shards": "netwright.data.text.shards.source:SOURCE",
        "words": "netwright.data.words.word_corpus:SOURCE",
        "masked-text": "netwright.data.text.pretraining.masked_text:SOURCE",
        "corrupted-text": "netwright.data.text.pretraining.corrupted_text:SOURCE",
        "tinyshakespeare": "netwright.data.text.published:TINY_SHAKESPEARE",
        "wikitext-2": "netwright.data.text.published:WIKITEXT_2",
        "masked-wikitext-2": "netwright.data.text.published:MASKED_WIKITEXT_2",
        "corrupted-tinyshakespeare": "netwright.data.text.published:CORRUPTED_SHAKESPEARE",
        "corrupted-wikitext-2": "netwright.data.text.published:CORRUPTED_WIKITEXT_2",
        "text-table": "netwright.data.text.text_table:SOURCE",
        "sst2": "netwright.data.text.published:SST2",
        "imdb": "netwright.data.text.published:IMDB",
        "questions": "netwright.data.text.spans.questions:SOURCE",
        "squad": "netwright.data.text.spans.squad:SOURCE",
        "tagged": "netwright.data.text.tagged:SOURCE",
        "ud-ewt": "netwright.data.text.published:UD_EWT",
        "text-pairs": "netwright.data.text.pairs:SOURCE",
        "multi30k": "netwright.data.text.multi30k:SOURCE",
        "reverse": "netwright.data.text.toy_pairs:REVERSE",
        "copy": "netwright.data.text.toy_pairs:COPY",
        "prefixed": "netwright.data.text.toy_pairs:PREFIXED",
        "series": "netwright.data.series.table:SOURCE",
        "nyse": "netwright.data.series.nyse:SOURCE",
        "adding": "netwright.data.series.toy_tasks:ADDING",
        "recall": "netwright.data.series.toy_tasks:RECALL",
        "parity": "netwright.data.series.toy_tasks:PARITY",
        "brackets": "netwright.data.series.toy_tasks:BRACKETS",
    },
)

PREPROCESSORS: Catalog[type[Preprocessor]] = Catalog(
    "preprocessor",
    {
        "arrays": "netwright.data.array_encoder:ArrayEncoder",
        "table": "netwright.data.tables.encoding:TableEncoder",
        "images": "netwright.data.images.encoder:ImageEncoder",
        "text": "netwright.data.text.encoder:TextEncoder",
        "text-pairs": "netwright.data.text.pair_encoder:PairEncoder",
        "captions": "netwright.data.captions.caption_encoder:CaptionEncoder",
        "corrupted-text": "netwright.data.text.pretraining.corrupted_encoder:CorruptedEncoder",
        "series": "netwright.data.series.encoder:SeriesEncoder",
        "symbols": "netwright.data.series.symbols:SymbolEncoder",
        "tree": "netwright.data.tree_encoder:TreeEncoder",
    },
)


def load(name: str, **settings: Any) -> Data:
    """A data set by name: `nw.data.load("moons", noise=0.3, seed=1)`."""
    source = SOURCES.load(name)
    return source.load(parse(source.config, settings, "data"))
