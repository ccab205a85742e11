"""In which forms a run can be asked: the keys of a JSON body, and other kinds of body."""

from dataclasses import dataclass
from functools import cache

from netwright.data.images.encoder import ImageEncoder
from netwright.data.preprocessing import Preprocessor
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.series.symbols import SymbolEncoder
from netwright.data.tables.encoding import TableEncoder
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.spans.span_encoder import SpanEncoder
from netwright.data.text.tag_encoder import TagEncoder
from netwright.recipes.run.run import Run

JSON, CSV, LINES, IMAGE = "application/json", "text/csv", "text/plain", "image/*"


@dataclass(frozen=True)
class Accepted:
    """What a run takes.

    Args:
        keys: of a JSON object, one of which holds the inputs; none: it predicts nothing.
        media: media types of other bodies.
    """

    keys: tuple[str, ...]
    media: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What to send, for a refusal."""
        *others, last = [f'{JSON} with "{key}"' for key in self.keys] + list(self.media)
        return f"{', '.join(others)} or {last}" if others else last


def accepted_forms(run: Run) -> Accepted:
    """The forms that suit the run's inputs."""
    return _forms_of(type(run.preprocessor))


@cache  # every request asks, and to compare a class with ten others takes longer than to read JSON
def _forms_of(encoder: type[Preprocessor]) -> Accepted:
    if issubclass(encoder, TableEncoder | SeriesEncoder | SpanEncoder):
        return Accepted(("rows",), (CSV,))
    if issubclass(encoder, RowEncoder | PairEncoder):
        return Accepted(("rows", "texts"), (CSV, LINES))
    if issubclass(encoder, TagEncoder | SymbolEncoder):
        return Accepted(("texts",), (LINES,))
    if issubclass(encoder, ImageEncoder):
        return Accepted(("images",), (IMAGE,))
    if encoder.kind == "arrays":
        return Accepted(("rows", "inputs"), (CSV,))
    return Accepted(("inputs",)) if encoder.kind == "tree" else Accepted(())


def can_generate(run: Run) -> bool:
    """Whether the run is a language model, which continues texts."""
    return isinstance(run.preprocessor, CorpusEncoder)
