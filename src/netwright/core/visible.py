r"""Text from data as it may be shown: what would steer a terminal, or turn text around, is seen.

A column, a class, a token or a file may be called anything: codes that set the clipboard, move the
cursor, rename the window or hide what stands before them. Shown as `\x1b`, they do nothing.
"""

import re

# C0 without tab and line feed, DEL, C1; marks of direction; line ends of Unicode; annotations of
# text; halves of surrogate pairs, which bytes of a file's name are that are no UTF-8.
_STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
    "\ufff9-\ufffb\ud800-\udfff"
)
_IN_TEXT = re.compile(f"[{_STEERING}]")
_IN_A_LINE = re.compile(f"[{_STEERING}\n\t]")


def visible(text: str) -> str:
    r"""Text of any number of lines, with its control characters written as `\x1b` or `\u202e`."""
    return _IN_TEXT.sub(_escaped, text)


def visible_line(text: str) -> str:
    r"""As `visible`, in one line: what comes from data cannot feign a second one, nor columns."""
    return _IN_A_LINE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
