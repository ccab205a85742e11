"""Plain words of a dump of Wikipedia, as Matt Mahoney's `wikifil.pl` makes text8 of enwik9.

    python benchmarks/wiki_text.py enwik8.gz corpus.txt

Links leave their text, markup goes, digits are spelled out, and only the letters a to z and single
blanks stay. A page or a redirect is not told from another: it is one text.
"""

import argparse
import gzip
import re
from pathlib import Path

NUMBERS = "zero one two three four five six seven eight nine".split()
STEPS = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"<.*>", ""),  # tags
        (r"&amp;", "&"),
        (r"&lt;", "<"),
        (r"&gt;", ">"),
        (r"<ref[^<]*</ref>", ""),
        (r"<[^>]*>", ""),
        (r"\[http:[^\] ]*", "["),  # the address of a link, not its text
        (r"\|(?:thumb|left|right|\d+px)", ""),
        (r"\[\[image:[^\[\]]*\|", ""),
        (r"\[\[category:([^|\]]*)[^\]]*\]\]", r"[[\1]]"),
        (r"\[\[[a-z\-]*:[^\]]*\]\]", ""),  # other languages
        (r"\[\[[^|\]]*\|", "[["),
        (r"\{\{[^}]*\}\}", ""),
        (r"\{[^}]*\}", ""),
        (r"\[|\]", ""),
        (r"&[^;]*;", " "),
    )
)


def plain_words(path: Path) -> list[str]:
    """The words of the articles' lines of a dump."""
    words: list[str] = []
    is_text = False
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            is_text |= "<text " in line
            if "#redirect" in line.lower():
                is_text = False
            if is_text:
                ends = "</text>" in line
                found = line.lower()
                for pattern, new in STEPS:
                    found = pattern.sub(new, found)
                found = re.sub(r"\d", lambda digit: f" {NUMBERS[int(digit[0])]} ", found)
                words += re.sub(r"[^a-z]+", " ", found).split()
                is_text &= not ends
    return words


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("dump", type=Path)
    options.add_argument("corpus", type=Path)
    given = options.parse_args()
    words = plain_words(given.dump)
    given.corpus.write_text(" ".join(words), encoding="utf-8")
    print(f"{len(words):,} words")


if __name__ == "__main__":
    main()
