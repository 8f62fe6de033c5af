"""Threads of Python, signals, and other processes."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import zerostride as zs


def test_threads_compute_side_by_side():
    results, mistakes = {}, []

    def work(i):
        try:
            x = zs.asarray(np.full(100_000, i, np.float32))
            for _ in range(20):
                x = zs.sqrt(x * x + 1) - 0.5
                x.evaluate()
            results[i] = np.asarray(x)
        except Exception as error:  # told by the thread that waits
            mistakes.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not mistakes
    for i, result in results.items():
        alone = np.full(100_000, i, np.float32)
        for _ in range(20):
            alone = np.sqrt(alone * alone + np.float32(1)) - np.float32(0.5)
        np.testing.assert_array_equal(result, alone)
    assert len(results) == 8


def test_one_array_read_and_written_by_many():
    x = zs.zeros((1000,), dtype=zs.int32).evaluate()
    stop = threading.Event()
    mistakes = []

    def read():
        try:
            while not stop.is_set():
                values = np.asarray(x + 0)
                assert values.min() == values.max()
        except Exception as error:  # told by the thread that waits
            mistakes.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(200):
        x[...] = i
    stop.set()
    for reader in readers:
        reader.join(60)
    assert not mistakes
    assert int(x[0]) == 199


def _is_free_during(array):
    """Asserts that other threads run while an array is evaluated and read."""
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    array.evaluate()
    end = time.perf_counter()
    np.asarray(array)
    # A device with a queue computes until the array is read.
    end = end if zs.Device().name == "cpu" else time.perf_counter()
    done.set()
    thread.join(10)
    # One may come before the call takes the interpreter for itself.
    assert sum(start < tick < end for tick in ticks) > 1, f"no other thread ran in {end - start} s"


def test_the_interpreter_is_free_while_a_kernel_runs():
    x = zs.asarray(np.linspace(0, 1, 1 << 22, dtype=np.float32))
    y = x
    for _ in range(12):
        y = zs.erf(zs.exp(-y) + zs.sin(y))
    _is_free_during(y)


def test_the_interpreter_is_free_while_a_tensor_is_reduced_to_few_elements():
    _is_free_during(zs.std(zs.asarray(np.ones((4, 1 << 22), np.float32)).evaluate(), axis=-1))


def run(code, *arguments, **options):
    """The output of a separate process, unbuffered, as `os._exit` leaves out what is buffered."""
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-u", "-c", textwrap.dedent(code), *arguments], capture_output=True, text=True, timeout=120,
        env=environment, **options,
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="sends a signal as POSIX has them")
def test_an_interrupt_ends_the_wait_and_leaves_everything_intact():
    code = """
        import os, signal, threading, time
        import numpy as np, zerostride as zs
        # A shell makes its background processes ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        x = zs.asarray(np.linspace(0, 1, 1 << 24, dtype=np.float32)).evaluate()
        y = x
        for _ in range(40):
            y = zs.lgamma(zs.erf(zs.exp(-y) + zs.sin(y)) + 1.5)
        def interrupt():
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            np.asarray(y)
            print("was too fast")
        except KeyboardInterrupt:
            print("interrupted")
        x[0] = 2.0
        print(float(x[0]), float(zs.sum(x[:2] * 0 + 1)))
        import os; os._exit(0)
    """
    done = run(code)
    lines = done.stdout.split("\n")
    assert lines[0] == "interrupted", done
    assert lines[1] == "2.0 2.0", done


@pytest.mark.skipif(os.name == "nt", reason="sends a signal as POSIX has them")
# llvmpipe's GL computes while work is submitted.
@pytest.mark.skipif(zs.Device().name.endswith(("cpu", "(gl)")), reason="asks a queue with work, which only others have")
def test_an_interrupt_ends_the_wait_of_a_few_elements_for_a_queue():
    code = """
        import os, signal, threading, time
        import numpy as np, zerostride as zs
        signal.signal(signal.SIGINT, signal.default_int_handler)
        few = zs.asarray(np.arange(8, dtype=np.float32)).evaluate()
        side, seconds = 512, 0.0
        while seconds < 0.8 and side < 16384:
            side = side * 5 // 4
            x = zs.asarray(np.ones((side, side), np.float32)).evaluate()
            # Its kernels are compiled before: an interrupt while they are leaves the queue without work.
            float(zs.sum(x @ x))
            start = time.perf_counter()
            float(zs.sum(x @ x))
            seconds = time.perf_counter() - start
        for read in (lambda: float(zs.sum(x @ x)), lambda: float(few[3]), lambda: np.asarray(few + 2), zs.Device().synchronize):
            # One long kernel is in the queue before each. A call may wait for earlier kernels, and not for this one.
            queued = zs.sum(x @ x).evaluate()
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            start = time.perf_counter()
            try:
                read()
                print("was too fast")
            except KeyboardInterrupt:
                print("interrupted after", int(time.perf_counter() - start))
        os._exit(0)
    """
    done = run(code)
    assert done.stdout.splitlines() == ["interrupted after 0"] * 4, done


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no fork")
def test_after_a_fork_it_says_spawn():
    code = """
        import os, zerostride as zs
        x = zs.ones((2,), dtype=zs.float32)
        {before}
        child = os.fork()
        if not child:
            try:
                print((x + 1).tolist(), flush=True)
            except RuntimeError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    """
    opened = run(code.replace("{before}", "x.evaluate()"))
    assert "start processes by spawn" in opened.stdout, opened
    if zs.Device().name == "cpu":
        assert "[2.0, 2.0]" in run(code.replace("{before}", "")).stdout


def _square(array):
    return array * array


def test_arrays_travel_to_processes():
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        (result,) = pool.map(_square, [zs.asarray([1.0, 3.0], dtype=zs.float32)])
    assert result.tolist() == [1.0, 9.0]


def test_importing_opens_no_device():
    code = """
        import os, zerostride as zs
        meta = zs.zeros((0, 0), dtype=zs.float32)
        (meta + meta).shape, meta[:0].dtype, zs.sum(meta, axis=0).shape, repr(zs.Device())
        print("imported")
        try:
            meta.evaluate()
        except RuntimeError as error:
            print(error)
    """
    done = run(code, env={"ZEROSTRIDE_DEVICE": "voodoo"})
    assert done.stdout.startswith("imported\nno device matches 'voodoo'"), done


def test_total_mode_has_no_subnormals():
    code = """
        import numpy as np, zerostride as zs
        try:
            x = zs.asarray(np.array([2.0**-126, np.nan], np.float32)) * -0.5
            print(np.asarray(x).tobytes().hex())
        except ValueError as error:
            print(error)
    """
    assert run(code, env={"ZEROSTRIDE_MATH": "total"}).stdout == "000000800000c07f\n"
    assert run(code, env={"ZEROSTRIDE_MATH": "real"}).stdout.startswith("ZEROSTRIDE_MATH is real: it takes")


def test_a_program_may_exit_while_kernels_are_compiled(tmp_path):
    code = """
        import sys, threading, time
        import numpy as np, zerostride as zs
        x = zs.asarray(np.ones(1000, np.float32))
        compiled = threading.Event()
        def work():
            y = x
            while True:
                # Each kernel is a new one.
                y = zs.lgamma(zs.erf(zs.exp(-y) + zs.sin(y)) + 1.5)
                np.asarray(y * 1)
                compiled.set()
        threading.Thread(target=work, daemon=True).start()
        compiled.wait()
        time.sleep(float(sys.argv[1]))
    """
    for i in range(6):
        done = run(code, str(0.1 * i), env={"MESA_SHADER_CACHE_DIR": str(tmp_path / str(i))})
        assert done.returncode == 0, done


def test_no_work_begins_when_the_interpreter_exits():
    code = """
        import atexit
        def late():
            for work in (lambda: x + 1, lambda: zs.asarray([1.0]), lambda: zs.sum(large), lambda: x.__setitem__(0, 5.0)):
                try:
                    np.asarray(work())
                    print("worked")
                except RuntimeError as error:
                    print(error)
        # Functions are called in reverse order, so this is after the package's.
        atexit.register(late)
        import numpy as np, zerostride as zs
        x, large = zs.asarray([1.0, 2.0]), zs.ones((1 << 22,), dtype=zs.float32)
        np.asarray(x), atexit.register(lambda: print(float(zs.sum(x))))
    """
    lines = run(code).stdout.splitlines()
    assert lines[0] == "3.0" and len(lines) == 5, lines
    assert all(line.startswith("the interpreter is exiting") for line in lines[1:]), lines


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no fork")
def test_a_forked_child_does_not_wait_for_threads_of_its_parent():
    code = """
        import os, sys, threading, time
        import numpy as np, zerostride as zs
        x = zs.asarray(np.linspace(0, 1, 1 << 22, dtype=np.float32)).evaluate()
        def work():
            while True:
                y = x
                for _ in range(20):
                    y = zs.lgamma(zs.erf(zs.exp(-y) + zs.sin(y)) + 1.5)
                np.asarray(y)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        start = time.perf_counter()
        if not os.fork():
            sys.exit()
        os.wait()
        print(time.perf_counter() - start)
        os._exit(0)
    """
    assert float(run(code).stdout) < 8
