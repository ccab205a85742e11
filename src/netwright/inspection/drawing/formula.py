r"""A formula in LaTeX as a picture for pages and as a line of text for terminals.

The picture is set by matplotlib's mathtext, so no TeX is needed. The text writes
`w \leftarrow w - \eta \frac{\hat m}{\sqrt{\hat v} + \epsilon}` as w ← w - η m̂/(√v̂ + ε).
"""

# ruff: noqa: RUF001 - the Greek letters are meant

import re
import unicodedata
from collections.abc import Sequence

from netwright.core.errors import ConfigError
from netwright.inspection.drawing.figure_style import styled
from netwright.inspection.drawing.glyph_outlines import GlyphOutlines
from netwright.inspection.drawing.page import Html, image

POINTS = 15.0  # as large as the text around it
ASCENT, DESCENT = 80.0, 28.0  # hundredths, at least: so that x and f stand on one line

# What mathtext knows under another name only, sets smaller than TeX does, or too near to the left.
_MATHTEXT_NAMES = {
    **{name: rf"\,{name}" for name in (r"\sum", r"\prod", r"\log", r"\exp", r"\min", r"\max")},
    **{r"\frac": r"\,\dfrac", r"\tfrac": r"\frac", r"\le": r"\leq", r"\ge": r"\geq"},
    **{r"\lVert": r"\|", r"\rVert": r"\|"},
}

_TABLE = """
alpha α  beta β  gamma γ  delta δ  epsilon ε  varepsilon ε  zeta ζ  eta η  theta θ  iota ι  kappa κ
lambda λ  mu μ  nu ν  xi ξ  pi π  rho ρ  sigma σ  tau τ  upsilon υ  phi φ  varphi φ  chi χ  psi ψ
omega ω  Gamma Γ  Delta Δ  Theta Θ  Lambda Λ  Xi Ξ  Pi Π  Sigma Σ  Phi Φ  Psi Ψ  Omega Ω  ell ℓ
sum Σ  prod Π  int ∫  partial ∂  nabla ∇  infty ∞  leftarrow ←  rightarrow →  to →  mapsto ↦
sim ~  approx ≈  le ≤  leq ≤  ge ≥  geq ≥  ne ≠  neq ≠  in ∈  mid |  cdot ·  times ×  odot ⊙
circ ∘  pm ±  top ᵀ  ldots …  dots …  cdots ⋯  lfloor ⌊  rfloor ⌋  Rightarrow ⇒  forall ∀  exists ∃
oplus ⊕  otimes ⊗  vee ∨  wedge ∧  star ⋆  succ ≻  emptyset ∅  cup ∪  lVert ‖  rVert ‖
""".split()
_SYMBOLS = dict(zip(_TABLE[::2], _TABLE[1::2], strict=True)) | {"left": "", "right": ""}
_ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "dot": "\u0307"}
_FONTS = {"text", "mathrm", "mathbf", "mathcal", "mathit", "boldsymbol", "operatorname"}
_DOUBLE_STRUCK = str.maketrans("CEHNPQRZ1", "ℂ𝔼ℍℕℙℚℝℤ𝟙")
_RAISED = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
        strict=True,
    )
)
_RAISED["ᵀ"] = "ᵀ"  # of \top, which is raised already
_LOWERED = dict(
    zip(
        "0123456789+-=()aehijklmnoprstuvx",
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ",
        strict=True,
    )
)

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_WIDE, _THIN = "\u2003", "\u2009"  # \quad; and a space that is wanted between letters only
_MARKS = "\u0300-\u036f'" + "".join((*_RAISED.values(), *_LOWERED.values()))
# One letter with its marks, a number, or a call such as f(x): it needs no brackets in a fraction.
_ATOM = re.compile(
    rf"√?(?:\d+(?:\.\d+)?|[^\W\d][{_MARKS}]*(?:_\w|_{{[^{{}}]*}})?[{_MARKS}]*(?:\^\([^()]*\))?"
    r"|[^\W\d]+(?:\([^()]*\)|\[[^\[\]]*\]))"
)


def formula_svg(latex: str) -> bytes:
    """The formula as an SVG picture, letters as outlines; the same formula gives the same bytes."""
    return _pictures([latex])[0]


def formula_block(latex: str) -> Html:
    r"""The picture for a page, one for each part between \quad; who cannot see it reads the LaTeX.

    The parts stand below each other where there is no room beside.
    """
    parts = _parts(latex)
    shown = (image(part, svg) for part, svg in zip(parts, _pictures(parts), strict=True))
    return Html(f'<div class="formula">{"".join(shown)}</div>')


def _pictures(parts: Sequence[str]) -> list[bytes]:
    """All equally high, so that they stand on one line."""
    set_parts = [_outlines(part) for part in parts]
    boxes = [one.box for one in set_parts]
    low = min(-DESCENT, *(box.low for box in boxes))
    high = max(ASCENT, *(box.high for box in boxes))
    return [one.svg(POINTS, low=low, high=high) for one in set_parts]


def _parts(latex: str) -> list[str]:
    r"""What stands between \quad or \qquad outside of braces and brackets that grow."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(latex):
        depth += token in {"{", r"\left"}
        depth -= token in {"}", r"\right"}
        if depth == 0 and token in {r"\quad", r"\qquad"}:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts if part.strip()] or [latex]


def _outlines(latex: str) -> GlyphOutlines:
    """The formula as mathtext sets it."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - these cost a second
    from matplotlib.path import Path  # noqa: PLC0415
    from matplotlib.textpath import text_to_path  # noqa: PLC0415

    known = re.sub(r"\\[A-Za-z]+", lambda found: _MATHTEXT_NAMES.get(found[0], found[0]), latex)
    words = f"${known}$"
    font = FontProperties(size=text_to_path.FONT_SCALE, math_fontfamily="cm")
    with styled():
        try:
            width = text_to_path.mathtext_parser.parse(words, text_to_path.DPI, font)[0]
            placed, glyphs, bars = text_to_path.get_glyphs_mathtext(font, words)
        except ValueError as error:
            reason = str(error).strip().splitlines()[-1].partition(": ")[2]
            raise ConfigError(f"the formula {latex!r} cannot be drawn: {reason}") from None
    inked = {name: Path(*outline) for name, outline in glyphs.items() if len(outline[0])}
    return GlyphOutlines(
        placed=[one for one in placed if one[0] in inked],  # a space has no outline
        glyphs=inked,
        bars=[Path(*bar) for bar in bars],
        width=width,
    )


def formula_text(latex: str) -> str:
    """The formula as one line of Unicode; a command that is not known is written as its name."""
    line = _Reader(latex).row()
    line = re.sub(r"\s", lambda found: found[0] if found[0] in {_WIDE, _THIN} else " ", line)
    line = re.sub(rf"(?<=[\w)\]\u0300-\u036f]){_THIN}+(?=[\w(√∫∂∇‖])", " ", line)
    line = line.replace(_THIN, "")
    line = re.sub(r" +", " ", line)
    return re.sub(rf" ?(?:{_WIDE} ?)+", "   ", line).strip()


class _Reader:
    """Reads LaTeX from left to right; every method gives the text of what it read."""

    def __init__(self, latex: str) -> None:
        self.tokens = _TOKEN.findall(latex)[::-1]  # the next one is the last: pop is cheap

    def row(self) -> str:
        """Up to the end, or to the brace that closes this group."""
        parts: list[str] = []
        while self.tokens and self.tokens[-1] != "}":
            parts.append(self.piece())
        if self.tokens:
            self.tokens.pop()
        return "".join(parts)

    def piece(self) -> str:
        """One token with what belongs to it."""
        token = self.tokens.pop()
        if token == "{":
            return self.row()
        if token == "^":
            return _script(self.argument(), _RAISED, "^", "()")
        if token == "_":
            return _script(self.argument(), _LOWERED, "_", "{}")
        return self.command(token[1:]) if token[0] == "\\" else token

    def argument(self) -> str:
        """The group or the single piece that follows; spaces before it mean nothing."""
        while self.tokens and self.tokens[-1].isspace():
            self.tokens.pop()
        return self.piece() if self.tokens else ""

    def command(self, name: str) -> str:  # noqa: PLR0911 - one line a kind of command
        if name in _SYMBOLS:
            return _SYMBOLS[name]
        if name in _ACCENTS:
            accented = "".join(letter + _ACCENTS[name] for letter in self.argument())
            return unicodedata.normalize("NFC", accented)
        if name in {"frac", "tfrac"}:
            over, under = _bracketed(self.argument()), _bracketed(self.argument())
            return f"{_THIN}{over}/{under}{_THIN}"
        if name == "binom":
            return f"C({self.argument()}, {self.argument()})"
        if name == "sqrt":
            return "√" + _bracketed(self.argument())
        if name in {"quad", "qquad"}:
            return _WIDE
        if name == "mathbb":
            return self.argument().translate(_DOUBLE_STRUCK)
        if not name[0].isalpha():  # \, and \; are spaces, \! is none, \{ is a brace
            return {"|": "‖", "!": "", ",": " ", ";": " ", ":": " "}.get(name, name)
        return self.word(self.argument() if name in _FONTS else name)

    def word(self, name: str) -> str:
        """A name such as log or rank: apart from letters beside it, brackets round a fraction."""
        if len(name) == 1:
            return name
        if self.tokens and self.tokens[-1] in {r"\frac", r"\tfrac"}:
            return f"{_THIN}{name}({self.piece().strip(_THIN)})"
        return _THIN + name + (_THIN if self.tokens and self.tokens[-1][0] == "\\" else "")


def _script(inner: str, letters: dict[str, str], sign: str, brackets: str) -> str:
    """Small letters where Unicode has them all, else ^(...) or _{...}."""
    inner = re.sub(r"\s", "", inner)
    if all(letter in letters for letter in inner):
        return "".join(letters[letter] for letter in inner)
    return sign + (inner if len(inner) == 1 else brackets[0] + inner + brackets[1])


def _bracketed(inner: str) -> str:
    """In brackets, unless it is one thing that nothing can tear apart."""
    inner = inner.strip().strip(_THIN)
    return inner if _ATOM.fullmatch(inner) else f"({inner})"
