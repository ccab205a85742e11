"""Settings as frozen dataclasses whose fields check themselves and explain themselves.

    @dataclass(frozen=True, kw_only=True)
    class MLPConfig(Config):
        hidden: Annotated[tuple[Size, ...], Doc("widths of the hidden layers")] = (128,)

One annotation gives the check, the refusal, and the line of help. This file alone knows pydantic.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import cache, lru_cache
from typing import Annotated, Any, TypeVar, get_args, get_origin

from annotated_types import Ge, Gt, Interval, Lt
from pydantic import ConfigDict, TypeAdapter, ValidationError

from netwright.core.catalog import Catalog
from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.terminal.notebook_table import notebook_folded, notebook_table

Size = Annotated[int, Gt(0), Lt(2**63)]  # torch counts in 64 bits
Count = Annotated[int, Ge(0)]
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]
Fraction = Annotated[float, Interval(ge=0, lt=1)]

_WORDS = {
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
}
_PLAIN = (str, int, float, bool, type(None))
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "tuple": "a list",
    "dict": "a mapping",
}


@dataclass(frozen=True)
class Doc:
    """The sentence on a field that help, schema and refusals share."""

    text: str


@dataclass(frozen=True)
class OneOf:
    """The field is a name in this table."""

    catalog: Catalog[Any]


@dataclass(frozen=True)
class Field:
    """A setting, as help shows it."""

    name: str
    kind: str
    default: Any
    doc: str


class Config:
    """Base of all configs: checks every field when it is made, from code or from a file."""

    def __post_init__(self) -> None:
        """Check the fields and bring them to their declared types ([1, 2] -> (1, 2))."""
        kind: Any = type(self)  # mypy holds that a class has no hash
        settled = _settled(kind)
        for name, hint in _hints(kind).items():
            given = getattr(self, name)
            if name in settled and given is settled[name]:
                continue
            if type(given) not in _PLAIN or not _stays(kind, name, given):
                object.__setattr__(self, name, _checked(name, given, hint))

    def _repr_html_(self) -> str:
        known = describe(type(self))
        values = {field.name: _plain(getattr(self, field.name)) for field in known}
        changed = [field for field in known if values[field.name] != field.default]
        rest = [field for field in known if field not in changed]
        title = f"{type(self).__name__}{'' if changed else ': the defaults'}"
        rows = [
            [
                {"setting": field.name, "value": _shown(values[field.name]), "meaning": field.doc}
                for field in fields
            ]
            for fields in (changed, rest)
        ]
        return notebook_table(title, rows[0]) + notebook_folded("defaults", rows[1])


@dataclass(frozen=True, kw_only=True)
class NoSettings(Config):
    """Of what has nothing to set."""


ConfigT = TypeVar("ConfigT", bound=Config)


def parse(cls: type[ConfigT], settings: Mapping[str, Any], where: str = "") -> ConfigT:
    """Make a config from a mapping; an unknown key is refused with the nearest one.

    Args:
        cls: the config to make.
        settings: key -> value, as read from YAML or given on the command line.
        where: the path of the mapping ("model"), for the refusal.
    """
    known = _hints(cls)
    for key in settings:
        if key not in known:
            path = f"{where}.{key}" if where else str(key)
            hint = nearest(str(key), known) or f"; there are {', '.join(known) or 'none'}"
            raise ConfigError(f"unknown setting {path!r}{hint}")
    missing = [
        field.name
        for field in fields(cls)  # type: ignore[arg-type]
        if field.name not in settings
        and field.default is MISSING
        and field.default_factory is MISSING
    ]
    if missing:
        raise ConfigError(f"setting {missing[0]!r} is missing{f' in {where}' if where else ''}")
    settings = {
        key: parse(_bare(known[key]), value, f"{where}.{key}" if where else key)
        if isinstance(value, Mapping) and _is_config(_bare(known[key]))
        else value
        for key, value in settings.items()
    }
    try:
        return cls(**settings)
    except UnknownNameError:
        raise  # it says itself what it is about
    except ConfigError as error:
        raise ConfigError(f"{where}.{error}" if where else str(error)) from None


def to_mapping(config: Config) -> dict[str, Any]:
    """The config as plain dicts, lists and numbers, ready for YAML or JSON."""
    return {name: _plain(getattr(config, name)) for name in _hints(type(config))}


def field_names(cls: type[Config]) -> list[str]:
    """The settings of a config, by name."""
    return [field.name for field in fields(cls)]  # type: ignore[arg-type]


def marked_fields(cls: type[Config], mark: Any) -> tuple[str, ...]:
    """The settings whose annotation carries this mark."""
    return tuple(name for name, hint in _hints(cls).items() if mark in _marks(hint))


def changed_fields(config: Config) -> dict[str, Any]:
    """The fields that are not as they come, with their values."""
    defaults = {field.name: _default_of(field) for field in fields(config)}  # type: ignore[arg-type]
    return {
        name: getattr(config, name)
        for name, value in to_mapping(config).items()
        if value != defaults[name]
    }


def as_held(cls: type[Config], name: str, value: Any) -> Any:
    """The plain value that the field of a config holds when it is given this one."""
    return _plain(_checked(name, value, _hints(cls)[name]))


def describe(cls: type[Config]) -> list[Field]:
    """The settings of a config, for help and cards."""
    hints = _hints(cls)
    return [
        Field(
            name=field.name,
            kind=_type_name(hints[field.name]),
            default=_default_of(field),
            doc=" ".join(mark.text for mark in _marks(hints[field.name]) if isinstance(mark, Doc)),
        )
        for field in fields(cls)  # type: ignore[arg-type]
    ]


def _shown(value: Any) -> str:
    """A plain value as a table shows it."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _default_of(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not MISSING:
        return _plain(field.default_factory())
    return "(needed)" if field.default is MISSING else _plain(field.default)


def _hints(cls: type[Config]) -> dict[str, Any]:
    return _hints_of(cls)  # type: ignore[arg-type] # mypy holds that a class has no hash


@cache
def _hints_of(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls, include_extras=True)


@cache
def _settled(cls: Any) -> dict[str, Any]:
    """Defaults that a check leaves as they are: most fields of most configs hold theirs."""
    hints, settled = _hints(cls), {}
    for field in fields(cls):
        value = field.default
        if isinstance(value, str | int | float | bool | None):
            with suppress(ConfigError):  # whoever leaves it as it is will be told
                if _checked(field.name, value, hints[field.name]) is value:
                    settled[field.name] = value
    return settled


@lru_cache(maxsize=1024, typed=True)
def _stays(cls: Any, name: str, value: Any) -> bool:
    """Whether the check leaves a plain value as it is; a run asks half a dozen times."""
    checked = _checked(name, value, _hints(cls)[name])
    return type(checked) is type(value) and checked == value


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    strict = ConfigDict(allow_inf_nan=False, arbitrary_types_allowed=True)
    return TypeAdapter(hint, config=strict)


def _marks(hint: Any) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


@cache
def _options(hint: Any) -> tuple[Any, ...]:
    """The types that a union allows; of another hint its one type."""
    bare = _bare(hint)
    union = get_origin(bare) in {typing.Union, types.UnionType}
    return tuple(map(_bare, get_args(bare))) if union else (bare,)


def _checked(name: str, value: Any, hint: Any) -> Any:
    bare = _bare(hint)
    if _is_config(bare):
        if isinstance(value, Mapping):
            return parse(bare, value, name)
        if not isinstance(value, bare):
            raise ConfigError(f"{name} must be a mapping of settings, got {value!r}")
        return value
    if any(get_origin(option) is tuple for option in _options(hint)):
        value = _as_tuple(value)
    _check_no_bool(name, value, hint)
    try:
        value = _adapter(hint).validate_python(value)
    except ValidationError as error:
        raise ConfigError(_sentence(name, hint, error)) from None
    for part in value if isinstance(value, tuple) else (value,):
        _check_part(name, part, hint)
    return value


def _check_part(name: str, value: Any, hint: Any) -> None:
    """Refuse a value, or one of several, that is no text of ours or no name of its table."""
    if isinstance(value, str) and "\0" in value:  # no path, column or name has one
        raise ConfigError(f"{name} must not contain a NUL character, got {value!r:.100}")
    for mark in _marks(hint):
        if isinstance(mark, OneOf) and value is not None:
            mark.catalog.check(value)


def _is_config(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Config)


def _check_no_bool(name: str, value: Any, hint: Any) -> None:
    """Refuse `true` where a number is wanted: pydantic would take it for 1."""
    if isinstance(value, bool) and not {bool, Any, object} & set(_options(hint)):
        raise ConfigError(f"{name} must be {_type_name(hint)}, got {value}")
    lists = [option for option in _options(hint) if get_origin(option) is tuple]
    if isinstance(value, tuple) and lists:
        for place, item in enumerate(value):
            _check_no_bool(f"{name}[{place}]", item, get_args(lists[0])[0])


def _as_tuple(value: Any) -> Any:
    """A list, "256,128" or one number where several are allowed."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (value,)
    return value


def _sentence(name: str, hint: Any, error: ValidationError) -> str:
    first = error.errors()[0]
    place = "".join(f"[{part}]" for part in first["loc"] if isinstance(part, int))
    kind, context = first["type"], first.get("ctx", {})
    if kind in _WORDS:
        wanted = _WORDS[kind].format(**context)
    else:
        wanted = f"must be {_TYPES.get(kind.split('_')[0], _type_name(hint))}"
    return f"{name}{place} {wanted}, got {first['input']!r}"


def _type_name(hint: Any) -> str:
    bare = _bare(hint)
    origin = get_origin(bare)
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(_type_name(option) for option in get_args(bare))
    if origin is typing.Literal:
        return " | ".join(str(option) for option in get_args(bare))
    if origin is tuple:
        return f"list of {_type_name(get_args(bare)[0])}"
    if origin is dict:
        return "mapping"
    names = {int: "int", float: "float", str: "text", bool: "true/false", type(None): "nothing"}
    return names.get(bare, getattr(bare, "__name__", str(bare)))


def _plain(value: Any) -> Any:
    if isinstance(value, Config):
        return to_mapping(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
