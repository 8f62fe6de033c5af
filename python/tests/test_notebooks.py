"""The notebooks run, and print what they show, on each device. ``ZEROSTRIDE_BLESS=1`` writes what they print."""

import contextlib
import io
import json
import os
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def printed(source, name, namespace):
    """What a cell of plain Python prints, line by line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, name, "exec"), namespace)
    return out.getvalue().splitlines(keepends=True)


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["from-numpy", "same-bits"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path):
    notebook = json.loads(path.read_text())
    namespace, count = {}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        text = printed("".join(cell["source"]), f"{path.name}, cell {count}", namespace)
        if os.environ.get("ZEROSTRIDE_BLESS"):
            cell["execution_count"] = count
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text}]
        else:
            assert text == cell["outputs"][0]["text"], f"{path.name}, cell {count}"
    if os.environ.get("ZEROSTRIDE_BLESS"):
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
