"""The example of Dask on clusters of several processes: the same bits whatever the number of workers, the chunks of the
map, and whether one of them is killed."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("distributed")

EXAMPLE = Path(__file__).parents[1] / "examples"

# A process of its own, whose children are the workers.
CODE = """
    import os, signal, sys, threading, time
    from pathlib import Path
    sys.path.insert(0, {example!r})
    import dask_normalize as example
    from distributed import Client

    if __name__ == "__main__":
        device = os.environ.get("ZEROSTRIDE_DEVICE", "cpu")
        folder = Path({folder!r})
        parts = example.make(folder / "parts", 0.06)
        with example.cluster([device] * {workers}, "600MiB") as cluster, Client(cluster) as client:
            if {kill}:
                pids = list(client.run(os.getpid).values())
                def kill():
                    # When it has begun to write.
                    while not list((folder / "out").glob("*.npy")):
                        time.sleep(0.01)
                    os.kill(pids[0], signal.SIGKILL)
                    print("killed", flush=True)
                thread = threading.Thread(target=kill)
                thread.start()
            mean, std, digest = example.normalize(client, folder / "parts", folder / "out", parts, {chunk}, show=False)
            if {kill}:
                thread.join(60)
        example.check(folder / "parts", folder / "out", mean, std)
        print(mean.tobytes().hex(), std.tobytes().hex(), digest)
"""


def run(folder, workers, chunk=16, kill=False):
    script = folder / "script.py"
    out = folder / "out"
    for path in out.glob("*.npy"):
        path.unlink()
    text = textwrap.dedent(CODE).format(example=str(EXAMPLE), folder=str(folder), workers=workers, chunk=chunk, kill=kill)
    script.write_text(text)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    assert not kill or "killed" in done.stdout
    return done.stdout.split("\n")[-2]


@pytest.mark.skipif(os.name == "nt" or not hasattr(signal, "SIGKILL"), reason="kills a process as POSIX does")
def test_workers_chunks_and_a_killed_worker_change_no_bit(tmp_path):
    one = run(tmp_path, 1)
    assert len(one.split()) == 3
    assert run(tmp_path, 2, chunk=10) == one
    if os.environ.get("ZEROSTRIDE_DEVICE") == "cpu":
        # The rest asks Dask alone, and opening adapters in so many processes takes its time.
        assert run(tmp_path, 4) == one
        assert run(tmp_path, 2, kill=True) == one
