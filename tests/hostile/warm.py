"""Import whatever a command may need, so that processes forked from this one begin at once."""

import gc
import pkgutil
from importlib import import_module

import netwright

OTHERS = (
    "PIL.BmpImagePlugin",
    "PIL.GifImagePlugin",
    "PIL.JpegImagePlugin",
    "PIL.PngImagePlugin",
    "PIL.PpmImagePlugin",
    "PIL.TiffImagePlugin",
    "PIL.WebPImagePlugin",
    "alembic.command",
    "alembic.migration",
    "contourpy",
    "importlib.resources.readers",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "optuna.storages._rdb.storage",
    "optuna.storages.journal",
    "pandas",
    "sqlalchemy.dialects.sqlite",
    "tokenizers",
    "torch._dynamo",
)
# Of the extras fast and serve, and what torch brings where there is a GPU.
OPTIONAL = {"httptools", "numba", "starlette", "triton", "uvicorn"}


def import_everything() -> None:
    """All of netwright, and what it imports when it needs it."""
    gc.disable()
    for module in pkgutil.walk_packages(netwright.__path__, "netwright."):
        if not module.name.endswith("__main__"):
            _import_where_possible(module.name)
    for name in OTHERS:
        import_module(name)
    gc.freeze()  # what is here stays: children need not copy it to look at it
    gc.enable()


def _import_where_possible(name: str) -> None:
    """A module of netwright; kernels need compilers that are not everywhere, a server its own."""
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in OPTIONAL:
            raise
