"""What the doctor says of data and a model before anything is learned, as text and as a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError
from netwright.core.files.storage import write_text
from netwright.core.finding import Finding
from netwright.data.checkup.examination import Examination
from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import (
    Html,
    Page,
    badge,
    code,
    folded,
    heading,
    note,
    table,
    text,
)

HEALTHY = "nothing found"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The findings on data and a model.

    Args:
        data: its name.
        model: its name; empty where no model was looked at.
        seen: what was looked at, and what seems wrong.
        seconds: that it took.
    """

    data: str
    model: str
    seen: Examination
    seconds: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What seems wrong, each in plain words."""
        return self.seen.findings

    @property
    def title(self) -> str:
        """What was checked: "iris with mlp"."""
        return f"{self.data} with {self.model}" if self.model else self.data

    @property
    def is_loaded(self) -> bool:
        """Whether the data could be loaded, so that all was looked at."""
        return bool(self.model)

    @property
    def verdict(self) -> str:
        """How many things seem wrong, in words."""
        count = len(self.findings)
        return HEALTHY if not count else f"{count} thing{'s' * (count > 1)} found"

    def __repr__(self) -> str:
        return f"Diagnosis({self.title}: {self.verdict})"

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.verdict}, in {self.seconds:.1f} s"]
        for number, finding in enumerate(self.findings, start=1):
            lines += [
                f"{number}. {finding.illness}: {finding.sentence}.",
                f"   {finding.fix}.",
                f"   netwright explain {finding.see}",
            ]
        lines += [f"checked: {what}" for what in self.seen.looked_at]
        lines += [f"not checked: {what}" for what in self.seen.not_looked_at]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain lists and text."""
        return {
            "data": self.data,
            "model": self.model,
            "findings": [finding.to_json() for finding in self.findings],
            "looked_at": list(self.seen.looked_at),
            "not_looked_at": list(self.seen.not_looked_at),
            "seconds": round(self.seconds, 3),
        }

    def page(self) -> str:
        """A page of its own, as HTML."""
        page = Page(f"The doctor on {self.title}", subtitle=self.verdict)
        page.section("What was found", *self._found())
        took = note(f"It took {self.seconds:.1f} s.")
        page.section("What was checked", table(self._looked_at()), took)
        return page.render()

    def _found(self) -> list[Html]:
        blocks = [
            block
            for finding in self.findings
            for block in (
                heading(finding.illness, beside=badge("found", "bad")),
                text(f"{finding.sentence}."),
                text(f"{finding.fix}."),
                code(f"netwright explain {finding.see}"),
            )
        ]
        return blocks or [text("Nothing.")]

    def _looked_at(self) -> list[dict[str, str]]:
        rows = [{"checked": what} for what in self.seen.looked_at]
        return rows + [{"checked": f"not: {what}"} for what in self.seen.not_looked_at]

    def _repr_html_(self) -> str:
        said = text(f"The doctor on {self.title}: {self.verdict}.")
        found = self._found() if self.findings else []
        return in_notebook(said, *found, folded("What was checked", table(self._looked_at())))

    def save(self, path: str | Path) -> Path:
        """Write the page; gives the path."""
        path = Path(path)
        check_is_page(path)
        write_text(path, self.page())
        return path


def check_is_page(path: Path) -> None:
    """Refuse a place where no page can be written; commands ask before they look."""
    if path.suffix.lower() != ".html":
        raise ConfigError(f"a diagnosis is saved as .html, got {path.name!r}")
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {str(path.parent)!r} to write {path.name} into")
