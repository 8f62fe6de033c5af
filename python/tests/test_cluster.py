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
        parts = example.make(folder / "parts", 0.03)
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


# Not at the top, because a worker imports its script.
KILLS = """
    import logging, os, signal, time

    if __name__ == "__main__":
        import dask.array as da
        import numpy as np
        from distributed import Client, LocalCluster, wait
        from distributed.core import Status
        import zerostride as zs
        import zerostride.dask

        def make_known():
            import zerostride.dask

        logging.disable(logging.CRITICAL)
        elements = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            # Dask starts no worker again which dies before its nanny knows that it has begun.
            def is_whole():
                nannies = [nanny.process for nanny in cluster.workers.values()]
                return len(client.scheduler_info()["workers"]) == 2 and all(own and own.status == Status.running for own in nannies)

            client.run(make_known)
            for _ in range(2):
                x = da.from_array(zs.asarray(elements), chunks=(10, 30)).persist()
                wait(x)
                y = ((x @ x.T).mean(axis=0) - x.mean()).compute()
                assert isinstance(y, zs.Array), type(y)
                print(np.asarray(y).tobytes().hex(), flush=True)
                address, pid = next(iter(client.run(os.getpid).items()))
                os.kill(pid, signal.SIGKILL)
                while address in client.scheduler_info()["workers"] or not is_whole():
                    time.sleep(0.05)
                y = ((x @ x.T).mean(axis=0) - x.mean()).compute()
                print(np.asarray(y).tobytes().hex(), flush=True)
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
    # Opening adapters in many processes takes long.
    is_cpu = os.environ.get("ZEROSTRIDE_DEVICE") == "cpu"
    assert run(tmp_path, 4 if is_cpu else 2, chunk=10) == one
    if is_cpu:
        assert run(tmp_path, 2, kill=True) == one


@pytest.mark.skipif(os.name == "nt" or not hasattr(signal, "SIGKILL"), reason="kills a process as POSIX does")
@pytest.mark.skipif(os.environ.get("ZEROSTRIDE_DEVICE") != "cpu", reason="asks Dask alone, which the CPU's run does")
def test_a_worker_that_takes_the_place_of_another_knows_arrays(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(KILLS))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    results = done.stdout.split()
    assert len(results) == 4 and len(set(results)) == 1
