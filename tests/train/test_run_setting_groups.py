"""The groups of a run's settings refuse what makes no run."""

import pytest

from netwright.core.errors import ConfigError
from netwright.train.run_setting_groups import Hardware, Keeping, Stopping


def test_bad_values_are_refused_with_their_name() -> None:
    with pytest.raises(ConfigError, match="patience"):
        Stopping(patience=-1)
    with pytest.raises(ConfigError, match="on_non_finite"):
        Stopping(on_non_finite="ignore")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="keep"):
        Keeping(keep=0)
    with pytest.raises(ConfigError, match="rank_timeout"):
        Hardware(rank_timeout=0)
