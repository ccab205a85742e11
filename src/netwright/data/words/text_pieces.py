"""The text of a file piece by piece, so that it may be larger than memory; words stay whole."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from netwright.core.errors import DataError
from netwright.data.files.file_content import Allowance, read_pieces
from netwright.data.files.file_encoding import check_encoding, marked_encoding
from netwright.data.text.text_files import telling_of

LONGEST_WORD = 2**16  # letters: what has no blank for longer is cut


def text_pieces(path: Path, encoding: str, allowance: Allowance) -> Iterator[str]:
    """Pieces of a text that end at a blank; what is not text is refused.

    Args:
        path: the file, packed where it ends in .gz.
        encoding: as Python names it; empty: UTF-8, or that of the byte order mark.
        allowance: of the files that are read together.
    """
    check_encoding(encoding or "UTF-8")
    decoder: codecs.IncrementalDecoder | None = None
    read, rest, used = 0, "", encoding or "UTF-8"
    with telling_of(path):
        for piece in read_pieces(path, allowance):
            if decoder is None:
                used = marked_encoding(piece) or used
                decoder = codecs.getincrementaldecoder(used)()
            text = rest + _decoded(decoder, piece, read, path, used)
            read += len(piece)
            end = 1 + max(text.rfind(" "), text.rfind("\n"))
            if not end and len(text) > LONGEST_WORD:
                end = len(text)
            if end:
                yield text[:end]
            rest = text[end:]
        if decoder is not None:
            yield rest + _decoded(decoder, b"", read, path, used, is_last=True)


def _decoded(
    decoder: codecs.IncrementalDecoder,
    piece: bytes,
    before: int,
    path: Path,
    encoding: str,
    *,
    is_last: bool = False,
) -> str:
    try:
        text = decoder.decode(piece, is_last)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        # What the decoder had kept of the piece before is in front of this one.
        place = before + len(piece) - len(error.object) + error.start
        raise DataError(
            f"{path.name}: byte 0x{byte:02x} at position {place} is not {encoding}; save the file "
            "as UTF-8, or give its encoding, as in --set data.encoding=latin-1"
        ) from None
    if "\0" in text:
        raise DataError(f"{path.name}: a NUL byte; the file is not text (save it as UTF-8)")
    return text
