"""A format that lacks its packages says what to install."""

from typing import ClassVar

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.exchange.export_format import check_packages
from netwright.recipes.exchange.state_dict import StateDict


class Needy(StateDict):
    packages: ClassVar[tuple[str, ...]] = ("torch", "no_such_package", "nor_this_one")


def test_the_missing_packages_are_named_with_what_installs_them() -> None:
    check_packages("state-dict", StateDict())
    sentence = (
        r"^export to needy needs no_such_package and nor_this_one: "
        r"pip install 'netwright\[export\]'$"
    )
    with pytest.raises(ConfigError, match=sentence):
        check_packages("needy", Needy())
