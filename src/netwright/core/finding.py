"""What the doctor found: an illness in plain words, one thing to do about it, and where to read."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One illness of data, of a model or of a run.

    Args:
        illness: its name, "dead-units": one of a fixed list, so that scripts can look for it.
        sentence: what was seen and where, with its number, in plain words.
        fix: the one thing to try first.
        see: what explains it: a name that `netwright explain` knows, a claim or a part.
    """

    illness: str
    sentence: str
    fix: str
    see: str

    def __str__(self) -> str:
        return f"{self.sentence}. {self.fix}. (netwright explain {self.see})"

    def to_json(self) -> dict[str, str]:
        """Plain text by name."""
        return asdict(self)
