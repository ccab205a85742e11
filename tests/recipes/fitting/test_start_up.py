"""What a small run on the CPU imports: nothing that it does not use.

In a process of its own, since this one has imported everything; by names of modules, not by time.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import json, sys
import numpy as np
import netwright as nw

run = nw.fit("mlp", "rows.csv", target="y", hidden=(4,), epochs=1, out="run")
run.evaluate()
nw.open_run("run").predict("rows.csv")
nw.inspect(run, "summary")
before = sorted(sys.modules)
nw.NetClassifier("mlp", hidden=(4,), epochs=1).fit(np.eye(8), np.arange(8) % 2).predict(np.eye(8))
print(json.dumps([before, sorted(sys.modules)]))
"""
PREPARED = """
import json, sys
from netwright.recipes.fitting.fit import prepare

for model in ("cnn", "resnet20", "vit"):
    prepare(model, "digits")
for model in ("lstm", "gpt"):
    prepare(model, "notes.txt", window=4)
print(json.dumps(sorted(sys.modules)))
"""
COMPILER = ["torch._dynamo", "torch._inductor", "torch.onnx", "sympy", "matplotlib"]
OTHERS = ["netwright.models.transformers.gpt", "netwright.recipes.exchange.onnx_graph"]
SCIKIT_LEARNS = ["sklearn", "pandas", "scipy.stats"]  # which an estimator cannot do without


def test_a_small_run_imports_no_compiler_and_draws_nothing(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i * 7 % 5},{'ab'[i % 2]}" for i in range(40))
    (tmp_path / "rows.csv").write_text(f"one,two,y\n{rows}\n")
    of_run, of_estimator = _printed(SCRIPT, tmp_path)
    assert "torch.optim.adam" in of_run
    assert [name for name in (*COMPILER, *OTHERS, *SCIKIT_LEARNS) if name in of_run] == []
    assert [name for name in COMPILER if name in of_estimator] == []


@pytest.mark.slow  # one more process that imports torch
def test_networks_of_images_and_texts_are_made_without_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the tide was low\n" * 20)
    imported = _printed(PREPARED, tmp_path)
    assert "netwright.layers.convolution.fused_stem" in imported
    assert [name for name in COMPILER if name in imported] == []


def _printed(script: str, folder: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
