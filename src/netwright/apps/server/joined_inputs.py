"""What several requests hold as if one had sent it, where each is answered as it would be alone.

To read and to encode a row of a table takes ten times as long by itself as among thirty others.
"""

from collections.abc import Hashable, Sequence
from functools import cache

from netwright.apps.server.given_inputs import Given
from netwright.data.images.encoder import ImageEncoder
from netwright.data.preprocessing import Preprocessor
from netwright.data.tables.encoding import TableEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.tag_encoder import TagEncoder
from netwright.recipes.run.run import Run


def form_of(run: Run, given: Given) -> Hashable | None:
    """What requests have in common that can be joined; None: this one is read by itself.

    A series is one input of many rows. Cells of another kind change how their column is read: a
    number beside texts is a text. So does one text where marks may stand between thousands: 25.125
    is read so by itself, and not beside 1.5.
    """
    encoder = run.preprocessor
    if given.key not in _joined_keys(type(encoder)):
        return None
    if given.key == "images":
        return None if run.spec.target == "mask" else "images"
    if given.key == "texts":
        return "texts"
    if isinstance(encoder, TableEncoder) and encoder.dialect.thousands:
        return None
    forms = {(*row, *map(type, row.values())) for row in given.value}
    return forms.pop() if len(forms) == 1 else None


@cache  # every request asks
def _joined_keys(encoder: type[Preprocessor]) -> frozenset[str]:
    """The keys under which the inputs of several requests may be joined."""
    keys = {
        "texts": (RowEncoder, PairEncoder, TagEncoder),
        "images": (ImageEncoder,),
        "rows": (TableEncoder, RowEncoder, PairEncoder),
    }
    return frozenset(key for key, encoders in keys.items() if issubclass(encoder, encoders))


def join_given(given: Sequence[Given]) -> Given:
    """The rows, texts or images of several, one after the other."""
    value = [one for part in given for one in part.value]
    return Given(given[0].key, value, len(value))
