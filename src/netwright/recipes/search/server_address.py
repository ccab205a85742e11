"""The address of a server that keeps trials, as a user gives it: checked, and without a password.

postgresql://USER@HOST:PORT/DATABASE
"""

from urllib.parse import parse_qsl, urlsplit

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError

SCHEME = "postgresql"
OPTIONS = ("host", "port", "sslmode", "sslrootcert", "user")
FORM = f"{SCHEME}://USER@HOST/DATABASE"


def is_address(storage: str) -> bool:
    """Whether trials are kept by a server; a wrong address is one."""
    return "://" in storage


def check_address(storage: str) -> None:
    """Refuse what is no address of a server, without repeating what may be a password."""
    try:
        parts = urlsplit(storage)
        _ = parts.port
    except ValueError:
        raise ConfigError(f"storage must be an address like {FORM}, got another form") from None
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.scheme != SCHEME:
        raise ConfigError(f"storage must be an address like {FORM}, got one of {parts.scheme!r}")
    if parts.password is not None or "password" in options:
        raise ConfigError(
            "storage must be an address without a password, which others would see: set "
            "PGPASSWORD, or write it into ~/.pgpass"
        )
    if not parts.path.strip("/") or parts.fragment:
        raise ConfigError(f"storage must name a database, as in {FORM}")
    for name in options:
        if name not in OPTIONS:
            hint = nearest(name, OPTIONS) or f"; there are {', '.join(OPTIONS)}"
            raise ConfigError(f"storage has the unknown option {name!r:.40}{hint}")
