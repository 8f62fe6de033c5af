"""Pictures that fit no worker's memory, normalized by a cluster: mean and variance per channel, then the map.

    python dask_normalize.py --workers 4 --gib 2 --limit 500MiB
    python dask_normalize.py --devices vulkan:0,vulkan:1          # a worker for each adapter
    python dask_normalize.py --scheduler tcp://head:8786          # a cluster that is there already
    python dask_normalize.py --zarr                               # parts of a Zarr array in place of files of NumPy

The pictures are first written to files in parts, as a real dataset has them. The chunks alone decide the order in which
statistics are added, and the map has no order. So workers, threads and devices change no bit of the result.
"""

import argparse
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, Nanny, Scheduler, SpecCluster, progress

import zerostride.dask

SIDE = 256
PART = 64  # pictures of a file: 12 MiB of bytes
WHOLE = "pictures.zarr"


def make(folder, gib, as_zarr=False):
    """Parts of pictures as bytes, unless they are there: files of NumPy, or the parts of one Zarr array."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = max(1, round(gib * 2**30 / (PART * SIDE * SIDE * 3)))
    for i in range(parts):
        path = folder / f"{i:05}.npy"
        if not path.exists():
            noise = np.random.default_rng(i).integers(0, 256, (PART, SIDE, SIDE, 3), dtype=np.uint8)
            # Channels that differ, so that the statistics do.
            np.save(path, noise // np.uint8([1, 2, 3]) + np.uint8([0, 10, 20]))
    whole = folder / WHOLE
    if not as_zarr:
        shutil.rmtree(whole, ignore_errors=True)
    elif not whole.exists():
        import zarr

        shape = (parts * PART, SIDE, SIDE, 3)
        array = zarr.create_array(whole, shape=shape, chunks=(PART // 4, *shape[1:]), dtype=np.uint8)
        for i in range(parts):
            array[i * PART : (i + 1) * PART] = np.load(folder / f"{i:05}.npy")
    return parts


def load(path, start, stop):
    """Some pictures of a part."""
    return np.load(path, mmap_mode="r")[start:stop]


def dataset(folder, parts, chunk):
    """All pictures, ``chunk`` of them at a time, on the workers' devices as float32."""
    if (folder / WHOLE).exists():
        return zerostride.dask.from_dask(da.from_zarr(folder / WHOLE).rechunk((chunk, SIDE, SIDE, 3)), dtype=np.float32)
    read = dask.delayed(load)
    chunks = [
        da.from_delayed(read(folder / f"{i:05}.npy", at, at + chunk), (min(chunk, PART - at), SIDE, SIDE, 3), np.uint8)
        for i in range(parts)
        for at in range(0, PART, chunk)
    ]
    return zerostride.dask.from_dask(da.concatenate(chunks), dtype=np.float32)


def cluster(devices, limit):
    """A process for each device, with a memory limit each. Processes are spawned, as devices do not survive a fork."""
    dask.config.set({"distributed.worker.multiprocessing-method": "spawn"})
    options = [
        {"nthreads": 1, "memory_limit": limit, "env": {"ZEROSTRIDE_DEVICE": device, "OMP_NUM_THREADS": "1"}}
        for device in devices
    ]
    return SpecCluster(
        scheduler={"cls": Scheduler, "options": {"dashboard_address": ":0"}},
        workers={i: {"cls": Nanny, "options": each} for i, each in enumerate(options)},
    )


def normalize(client, folder, output, parts, chunk=PART // 4, show=True):
    """Writes the normalized pictures as parts, and gives the statistics and a digest of all that was written."""
    pixels = dataset(folder, parts, PART // 4)
    axes = (0, 1, 2)
    # Both in one pass over the pictures.
    mean, std = client.persist([pixels.mean(axis=axes), pixels.std(axis=axes)])
    if show:
        progress(mean, std)
    mean, std = (np.asarray(each) for each in client.gather(client.compute([mean, std])))

    pixels = dataset(folder, parts, chunk)
    normalized = zerostride.dask.to_numpy((pixels - mean) / std)
    output.mkdir(parents=True, exist_ok=True)

    def write(block, block_info=None):
        first = block_info[0]["array-location"][0][0]
        np.save(output / f"{first:08}.npy", block)
        return np.zeros((1, 1, 1, 1), np.int8)

    ones = tuple((1,) * len(axis) for axis in normalized.chunks)
    written = client.persist(normalized.map_blocks(write, dtype=np.int8, chunks=ones, meta=np.empty((0,) * 4, np.int8)))
    if show:
        progress(written)
    written.sum().compute()
    digest = hashlib.sha256()
    for path in sorted(output.glob("*.npy")):
        digest.update(np.load(path).tobytes())
    return mean, std, digest.hexdigest()


def check(folder, output, mean, std):
    """The first part, against NumPy."""
    pixels = np.load(folder / "00000.npy").astype(np.float32)
    first = np.load(min(output.glob("*.npy")))
    np.testing.assert_array_equal(first, ((pixels - mean) / std)[: len(first)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--devices", help="one worker for each, separated by commas")
    parser.add_argument("--scheduler", help="the address of a cluster that is there already")
    parser.add_argument("--limit", default="500MiB", help="memory of a worker")
    parser.add_argument("--gib", type=float, default=1.0, help="size of the dataset as bytes; as floats it is four times that")
    parser.add_argument("--chunk", type=int, default=PART // 4, help="pictures of a chunk of the map")
    parser.add_argument("--zarr", action="store_true", help="read the pictures from a Zarr array")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "zerostride-pictures")
    arguments = parser.parse_args()
    default = os.environ.get("ZEROSTRIDE_DEVICE", "cpu")
    devices = arguments.devices.split(",") if arguments.devices else [default] * arguments.workers
    folder, output = arguments.folder / "parts", arguments.folder / "normalized"
    parts = make(folder, arguments.gib, arguments.zarr)
    there = arguments.scheduler or cluster(devices, arguments.limit)
    with Client(there) as client:
        print("dashboard:", client.dashboard_link)
        start = time.perf_counter()
        mean, std, digest = normalize(client, folder, output, parts, arguments.chunk)
        took = time.perf_counter() - start
    check(folder, output, mean, std)
    size = parts * PART * SIDE * SIDE * 3 / 2**20
    print(f"\nmean {mean}, standard deviation {std}")
    print(f"{size:.0f} MiB of bytes in {took:.1f} s with {len(devices)} workers; sha256 {digest[:16]}")
    if not arguments.scheduler:
        there.close()


if __name__ == "__main__":
    main()
