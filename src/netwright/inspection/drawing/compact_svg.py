"""A picture that matplotlib has written as SVG in a third of its bytes, to be put on a page.

What is drawn stays: what goes are comments, metadata, names that nothing refers to and decimals
that nobody sees; a look that several parts share is written once, as a class.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from functools import lru_cache
from string import ascii_letters
from xml.sax.saxutils import escape

from netwright.inspection.drawing.path_data import decimals, path_data, read_path

SVG, LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
PLACES = 2  # of a point, in figures of some hundred points
FINE = 2.5  # letters lie on a grid of 250 to the font's size, where matplotlib counts 100
_REFERENCE = re.compile(r"(?<=#)[\w.-]+")
_NUMBER = re.compile(r"-?\d*\.\d+(?:e-?\d+)?")
_SHIFTED = re.compile(r"translate\((\S+) (\S+)\)")
_WORD = re.compile(r"(.*)scale\((\S+) (\S+)\)")
_SCALED = re.compile(r"scale\((\S+)\)")
_LENGTHS = {"x", "y", "width", "height", "transform"}


def compact_svg(picture: bytes) -> bytes:
    """The same picture, shorter."""
    return _Writer(ET.fromstring(picture)).whole()


class _Writer:
    """Writes a tree; names of parts and of looks are given in the order in which they come."""

    def __init__(self, root: ET.Element) -> None:
        self.root = root
        self.names: dict[str, str] = {}  # of parts that are referred to -> short ones
        self.looks: dict[str, str] = {}  # style -> its class
        paths = root.iter(f"{{{SVG}}}path")
        self.blanks = {f"#{path.get('id')}" for path in paths if not path.get("d")}  # spaces
        for part in root.iter():
            for reference in (part.get("clip-path", ""), part.get(LINK, "")):
                for name in _REFERENCE.findall(reference):
                    self.names.setdefault(name, _short(len(self.names)))

    def whole(self) -> bytes:
        """The file."""
        rules = "".join(_tight(part.text or "") for part in self.root.iter(f"{{{SVG}}}style"))
        parts = "".join(self.part(part) for part in self.root)
        looks = "".join(f".{name}{{{look}}}" for look, name in self.looks.items())
        sizes = {key: _rounded(self.root.attrib[key]) for key in ("width", "height", "viewBox")}
        head = f"<svg{_written({'xmlns': SVG, **sizes})}>"
        return f"{head}<style>{rules}{looks}</style>{parts}</svg>".encode()

    def part(self, part: ET.Element, inherited: str = "") -> str:
        """One element with what is in it; it need not repeat the look that it inherits."""
        tag = part.tag.rpartition("}")[2]
        if tag in {"metadata", "style"} or self.is_blank(tag, part):
            return ""
        attributes = self.attributes(tag, part)
        shared = _shared_look(part) if tag == "g" and "style" not in part.attrib else ""
        look = shared or _tight(part.get("style", ""))
        if look and look != inherited:
            attributes["class"] = self.looks.setdefault(look, _short(len(self.looks)))
        inside = "".join(self.part(child, shared) for child in part)
        if tag in {"g", "defs"} and not inside:
            return ""
        if tag == "g" and not attributes:
            return inside
        return f"<{tag}{_written(attributes)}" + (f">{inside}</{tag}>" if inside else "/>")

    def is_blank(self, tag: str, part: ET.Element) -> bool:
        """Whether it is the outline of a space, or a place of one."""
        return (
            part.get(LINK) in self.blanks if tag == "use" else tag == "path" and not part.get("d")
        )

    def attributes(self, tag: str, part: ET.Element) -> dict[str, str]:
        """Those that draw something, with short names and few decimals; without the look."""
        given = {key: value for key, value in part.attrib.items() if key not in {"id", "style"}}
        ours: dict[str, str] = {}
        if part.get("id", "") in self.names:
            ours["id"] = self.names[part.attrib["id"]]
        link = given.pop(LINK, "")
        if link:
            ours["href"] = f"#{self.names[link[1:]]}" if link.startswith("#") else link
        if tag == "path":
            shrunk = _SCALED.fullmatch(given.get("transform", ""))
            if shrunk:  # a letter
                del given["transform"]
            ours["d"] = _outline(given.pop("d"), FINE * float(shrunk[1]) if shrunk else 0.0)
        shifted = _SHIFTED.fullmatch(given.get("transform", ""))
        if tag == "use" and shifted:  # a letter in its word
            del given["transform"]
            x, y = (decimals(FINE * float(one), 0) for one in shifted.groups())
            ours |= {key: value for key, value in (("x", x), ("y", y)) if value != "0"}
        word = _WORD.fullmatch(given.get("transform", ""))
        if tag == "g" and word:
            wide, tall = (decimals(float(one) / FINE, 4) for one in word.groups()[1:])
            given["transform"] = f"{word[1]}scale({wide} {tall})"
        for key, value in given.items():
            if key == "clip-path":
                ours[key] = _REFERENCE.sub(lambda found: self.names[found[0]], value)
            else:
                ours[key] = _rounded(value) if key in _LENGTHS else value
        return ours


def _shared_look(group: ET.Element) -> str:
    """The look of all parts of a group, where it is one that parts inherit."""
    looks = {part.get("style", "") for part in group if not part.tag.endswith("}defs")}
    drawn = [part for part in group if part.tag.endswith("}use")]
    is_one = len(looks) == 1 and len(drawn) > 1
    look = _tight(looks.pop()) if is_one else ""
    # Opacity is not inherited: of a group it would mean something else.
    return "" if re.search(r"(?<!-)opacity", look) else look


@lru_cache(maxsize=1 << 10)  # a page draws the same letters again and again
def _outline(data: str, scale: float) -> str:
    """A path; the scale of a glyph, which is not 0, is worked into it."""
    segments = read_path(data)
    if not scale:
        return path_data(segments, places=PLACES)
    scaled = ((letter, [scale * one for one in numbers]) for letter, numbers in segments)
    return path_data(scaled, places=0)


def _short(index: int) -> str:
    """a, b, ... Z, aa, ba, ...: the shortest names."""
    rest, letter = divmod(index, len(ascii_letters))
    return ascii_letters[letter] + (_short(rest - 1) if rest else "")


def _written(attributes: Mapping[str, str]) -> str:
    """In single quotes, which need no escape in the attribute that holds the picture."""
    apostrophe = {"'": "&#39;"}
    return "".join(f" {key}='{escape(value, apostrophe)}'" for key, value in attributes.items())


def _tight(style: str) -> str:
    """A style without the spaces that say nothing."""
    return _rounded(re.sub(r"\s*([:;{}])\s*", r"\1", style.strip()))


def _rounded(text: str) -> str:
    """Its numbers with few decimals; those below 1 may be scales and keep more."""

    def shorter(found: re.Match[str]) -> str:
        number = float(found[0])
        return decimals(number, PLACES if abs(number) >= 1 else 4)

    return _NUMBER.sub(shorter, text)
