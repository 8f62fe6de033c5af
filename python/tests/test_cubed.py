"""Cubed computes its chunks by our arrays, in threads and in processes: `CUBED_BACKEND_ARRAY_API_MODULE` names the package."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("cubed")

CODE = """
    import sys, tempfile, warnings
    import cubed
    import cubed.array_api as xp
    import numpy as np
    import zerostride as zs

    warnings.simplefilter("ignore")
    if __name__ == "__main__":
        spec = cubed.Spec(tempfile.mkdtemp(), allowed_mem="500MB")
        v = np.random.default_rng(0).random((20, 30)).astype(np.float32)
        x = cubed.from_array(v, chunks=(7, 8), spec=spec)
        tall = cubed.rechunk(x.T, (30, 20))
        executor = cubed.runtime.create.create_executor(sys.argv[1])
        # Processes take seconds to begin for each.
        for ours, theirs in (
            (xp.sum(x + 1), (v + 1).sum()), (xp.var(x, axis=0), v.var(axis=0)), (x @ x.T, v @ v.T), (xp.std(x), v.std()),
            (cubed.nanmean(x, axis=1), v.mean(axis=1)), (cubed.nansum(x), v.sum()), (xp.argmax(x, axis=1), v.argmax(axis=1)),
            (xp.abs(xp.linalg.qr(tall)[1]), abs(np.linalg.qr(v.T)[1])), (xp.max(x, axis=0), v.max(axis=0)),
        )[: 3 if sys.argv[1] == "processes" else None]:
            found = ours.compute(executor=executor)
            assert isinstance(found, zs.Array), type(found)
            np.testing.assert_allclose(np.asarray(found), theirs, rtol=1e-3)
        print("all")
"""


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_operations(tmp_path, executor):
    (script := tmp_path / "operations.py").write_text(textwrap.dedent(CODE))
    environment = {**os.environ, "CUBED_BACKEND_ARRAY_API_MODULE": "zerostride"}
    command = [sys.executable, str(script), executor]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.stdout.strip() == "all", done.stderr
