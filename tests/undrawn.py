"""Pages without their pictures, for tests of what else stands on them: drawing takes seconds."""

import pytest

from netwright.inspection.drawing.view import View

SIZE = 'width="1pt" height="1pt" viewBox="0 0 1 1"'


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every view be an empty picture."""
    empty = f'<svg xmlns="http://www.w3.org/2000/svg" {SIZE}></svg>'.encode()
    monkeypatch.setattr(View, "image", lambda self, kind: empty)
