"""The size of a GPT is that of the published one; other models are refused."""

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.plan.gpt_size import size_of


def test_the_size_of_gpt2_is_the_published_one() -> None:
    size = size_of("gpt2", 1024)
    assert size.weights == 124_439_808
    assert size.multiplied == 12 * 12 * 768**2 + 50_257 * 768
    assert size_of("gpt2-xl", 1024).weights == 1_557_611_200
    with pytest.raises(ConfigError, match="plan knows models of the gpt family, got mlp"):
        size_of("mlp", 1024)
