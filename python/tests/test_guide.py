"""The snippets of the guide and of the package's page run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/guide/python.md", "docs/guide/cluster.md"])
def test_snippets(page, capsys):
    if "cluster" in page:
        pytest.importorskip("dask.array")
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert snippets
    namespace = {}
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), namespace)
