"""Where the benchmarks run: in `.venv-bench`, which holds the peers, if there is one.

How to make it stands at the head of `requirements.txt`.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUIET = {
    "KERAS_BACKEND": "torch",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}


def enter_bench_environment() -> None:
    """Start this script again in `.venv-bench` with netwright's sources in reach; else go on."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    folder = ROOT / ".venv-bench"
    python = folder / "bin" / "python"
    if not python.exists() or Path(sys.prefix).resolve() == folder.resolve():
        return
    sources = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sources))
    os.execv(str(python), [str(python), *sys.argv])
