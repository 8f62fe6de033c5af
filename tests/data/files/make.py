"""Writes the files of this folder, by NumPy, the package safetensors and Pillow."""

import sys
from pathlib import Path

import numpy as np
import safetensors
from PIL import Image
from safetensors.numpy import save_file

here = Path(__file__).parent
counting = np.arange(24).reshape(2, 3, 4)

types = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
# One element type each, under names that the tests know; some in Fortran's order, some highest byte first.
np.savez(
    here / "types.npz",
    **{np.dtype(t).name: (counting - 3).astype(t) if t[0] in "if" else counting.astype(t) for t in types},
    fortran=np.asfortranarray(counting.astype("<f4")),
    big_endian=(counting - 3).astype(">i2"),
    big_fortran=np.asfortranarray(counting.astype(">f8")),
    scalar=np.float32(2.5),
    empty=np.zeros((0, 3), "u1"),
    one_axis=np.arange(5, dtype="<i4"),
)
np.savez_compressed(here / "packed.npz", zeros=np.zeros((100, 100), "<f4"), counting=counting.astype("<i4"))
np.save(here / "fortran.npy", np.asfortranarray(counting.astype("<f4")))
np.lib.format.write_array(open(here / "version2.npy", "wb"), counting.astype("<u2"), version=(2, 0))
np.save(here / "records.npy", np.zeros(3, dtype=[("a", "<f4"), ("b", "<i4")]))
np.save(here / "complex.npy", np.zeros(3, dtype="<c8"))

save_file(
    {np.dtype(t).name: (counting - 3).astype(t) if t[0] in "if" else counting.astype(t) for t in types}
    | {"scalar": np.array(2.5, "<f4"), "empty": np.zeros((0, 3), "u1")},
    here / "types.safetensors",
    metadata={"made by": "safetensors"},
)
bits = np.array([0x3F80, 0xBFC0, 0x7F80, 0x0001], "<u2")  # 1, -1.5, infinity, the least subnormal
for name, dtype, shape, data, file in [
    ("halves", "bfloat16", [2, 2], bits, "bf16"),
    ("eighths", "float8_e4m3fn", [4], np.zeros(4, "u1"), "float8"),
]:
    spec = safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=data.ctypes.data, data_len=data.nbytes)
    safetensors.serialize_file({name: spec}, here / f"{file}.safetensors")

rgb = np.stack([np.tile(np.arange(5, dtype="u1") * 50, (3, 1)), np.full((3, 5), 7, "u1"), np.arange(15, dtype="u1").reshape(3, 5)], 2)
Image.fromarray(rgb).save(here / "rgb.png")
Image.fromarray(rgb[:, :, 2]).save(here / "gray.png")
Image.fromarray(np.dstack([rgb, np.full((3, 5), 128, "u1")])).save(here / "rgba.png")
Image.fromarray(np.dstack([rgb[:, :, 2], rgb[:, :, 0]])).save(here / "gray_alpha.png")
Image.fromarray(np.full((16, 16, 3), 100, "u1")).save(here / "flat.jpg", quality=95)
Image.fromarray((np.arange(15, dtype="<u2") * 4369).reshape(3, 5)).save(here / "deep.png")
print("python", sys.version.split()[0], "numpy", np.__version__, "safetensors", safetensors.__version__)
