"""SQuAD 1.1: questions on articles of Wikipedia, and where in a paragraph their answers stand.

The file is its dev set, divided by article: what is measured is no score of SQuAD.

Source: Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text" (2016).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from netwright.core.errors import DataError, DownloadError
from netwright.data.dataset import Data
from netwright.data.files.locations import cache_folder, find_file
from netwright.data.source import DataConfig, Source
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.splitting import divide_by_settings
from netwright.data.text.spans.questions import SpansConfig, spans_data
from netwright.data.text.text_files import read_text

NAME = "dev-v1.1.json"
COLUMNS = ("question", "context", "answer")
ARTICLE = "article"


@dataclass(frozen=True, kw_only=True)
class SquadConfig(DataConfig, SpansConfig):
    """How questions become tokens, and how many of them are held out, by whole articles."""


def load_squad(config: SquadConfig) -> Data:
    """The questions, divided by article: no text is in two parts."""
    found = find_file("squad", f"{NAME}.gz") or find_file("squad", NAME)
    if found is None:
        raise DownloadError(
            f"squad is not on this machine: put {NAME}.gz into {cache_folder('squad')} or into "
            "squad/ in a folder of NETWRIGHT_DATA; it is at "
            "https://rajpurkar.github.io/SQuAD-explorer"
        )
    try:
        rows = list(_rows(json.loads(read_text(found, ""))))
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{found} is not SQuAD 1.1: {error!r:.80}") from None
    names = (ARTICLE, *COLUMNS[:2])
    columns = {name: [str(row[place]) for row in rows] for place, name in enumerate(names)}
    table = RawTable(name="squad", columns=columns, positions=range(len(rows)))
    divided = divide_by_settings(table, config, None, group_column=ARTICLE)
    return spans_data(table, [row[3] for row in rows], COLUMNS, config, divided)


SOURCE = Source(
    config=SquadConfig,
    load=load_squad,
    sentence="10,570 questions on 48 articles, answered by a span of a paragraph; the dev set of "
    "SQuAD 1.1, split by article",
    origin="Rajpurkar et al., SQuAD (2016)",
    licence="CC BY-SA 4.0",
    published=True,
    inputs=("tokens",),
)


def _rows(told: Any) -> Iterator[tuple[str, str, str, list[tuple[int, int]]]]:
    """Article, question, context, and the different answers by first character and length."""
    for article in told["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                spans = [(one["answer_start"], len(one["text"])) for one in asked["answers"]]
                yield (
                    article["title"],
                    asked["question"],
                    paragraph["context"],
                    list(dict.fromkeys(spans)),
                )
