"""Where the files lie that a recipe names: whole paths, which mean the same from any folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from netwright.data.catalog import SOURCES
from netwright.data.files.addresses import is_address
from netwright.data.text.text_files import PUBLISHED_TEXTS

# Section -> its settings that name a file or a folder.
PATHS = {"data": ("path", "target_path", "vocabulary"), "model": ("embeddings",)}


def names_corpus(path: str) -> bool:
    """Whether this is no file, but the name of a published text, which models of words read."""
    return path in PUBLISHED_TEXTS and not Path(path).exists()


def whole_path(path: str) -> str:
    """The same place, as it is called from any folder."""
    return str(Path(path).expanduser().resolve())


def named_paths(name: str, section: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The settings of a section that name files of this machine, with what they name."""
    for setting in PATHS.get(name, ()):
        path = section.get(setting)
        if path and not (names_corpus(path) or is_address(path)):
            yield setting, path


def with_whole_paths(name: str, section: Mapping[str, Any]) -> dict[str, Any]:
    """A section whose files are found from any folder."""
    whole = {setting: whole_path(path) for setting, path in named_paths(name, section)}
    return {**section, **whole}


def files_of(config: Mapping[str, Any]) -> dict[str, Path]:
    """The files of a recipe with whole paths, by the option of `train` that names each."""
    files = {
        f"{section}.{setting}": Path(path)
        for section in PATHS
        for setting, path in named_paths(section, config[section])
    }
    return {**files, "--from": Path(config["from"])} if config.get("from") else files


def published_name(config: Mapping[str, Any]) -> str:
    """The published data set of a recipe; empty where it has none."""
    data = config["data"]
    if names_corpus(str(data.get("path", ""))):
        return str(data["path"])
    return str(data["name"]) if SOURCES.load(data["name"]).published else ""
