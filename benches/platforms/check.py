"""Runs the output of other compilers for the kernels in a folder. Called by scripts/check-dx12.

usage: check.py FOLDER

The folder has the kernels of ZEROSTRIDE_DUMP, their translations by `platforms translate`, and the output of FXC (dxbc/,
as SPIR-V by vkd3d) and DXC (ll/). All of it is translated to C and run. gcc also compiles naga's output with permission
to take floats for real numbers, as drivers behind DXC may. scripts/check-fast-math does so with LLVM, which folds more.

Functions of f32 must keep the bounds of the op table. Exact functions must have the bits of the kernel as it is written.
Identities must have the results of NumPy, which computes one operation at a time. Functions of f64 must be within twice
their bound of the kernel as it is written. Exits with 1 if a check fails.
"""
import pathlib
import platform
import subprocess
import sys

import numpy as np

import accuracy
import ctext
import dxil
import spirv

AS_WRITTEN = ["-O1", "-ffp-contract=off"]
AS_REAL = ["-O2", "-funsafe-math-optimizations", "-ffp-contract=off"]
CONTRACTED = ["-O2", "-funsafe-math-optimizations", "-ffp-contract=fast"] + (["-mfma"] if platform.machine() == "x86_64" else [])
# The source of the code, its reader, and gcc's flags.
COMPILERS = {
    "as written": ("spv/{}.spv", spirv.body, AS_WRITTEN),
    "FXC": ("dxbc/{}.spv", lambda path: spirv.body(path, vkd3d=True), AS_WRITTEN),
    "FXC twice": ("dxbc/{}.spv", lambda path: spirv.body(path, vkd3d=True), [*AS_WRITTEN, "-DTWICE"]),
    "DXC": ("ll/{}.ll", dxil.body, AS_WRITTEN),
    "DXC+": ("ll/{}.ll", dxil.body, CONTRACTED),
    "real": ("spv/{}.spv", spirv.body, AS_REAL),
    "real+": ("spv/{}.spv", spirv.body, CONTRACTED),
}


class Programs:
    """The kernels of a folder as a program for each compiler."""

    def __init__(self, folder, names):
        self.folder, self.built = folder, {}
        for compiler, (place, read, flags) in COMPILERS.items():
            paths = {name: folder / place.format(name) for name in names}
            bodies = {name: read(str(path)) for name, path in paths.items() if path.exists()}
            if not bodies:
                continue
            source, self.built[compiler] = folder / "kernels.c", (folder / f"run {compiler}", set(bodies))
            source.write_text(ctext.program(bodies))
            subprocess.run(["gcc", *flags, "-w", source, "-o", self.built[compiler][0], "-lm"], check=True)

    def run(self, compiler, name, operands, dtype):
        """The result of a kernel, or None if the compiler has no such kernel."""
        program, names = self.built.get(compiler, (None, set()))
        if name not in names:
            return None
        paths = [self.folder / f"operand{i}" for i in range(len(operands))]
        for path, values in zip(paths, operands):
            values.tofile(path)
        count = len(operands[0])
        result = self.folder / "result"
        subprocess.run([program, name, str(count // 4), result, str(count * np.dtype(dtype).itemsize), *paths], check=True)
        return np.fromfile(result, dtype)


def same(a, b):
    """Where two results have the same bits. All NaN are equal, and so are zeros."""
    return (a == b) | (np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else a == b


def wide(seed):
    """Floats whose products and quotients are normal, and special values."""
    random = np.random.default_rng(seed)
    values = np.ldexp(random.uniform(1, 2, 1 << 16) * random.choice([-1, 1], 1 << 16), random.integers(-30, 30, 1 << 16)).astype(np.float32)
    special = random.choice(np.array([0, -0.0, np.inf, -np.inf, np.nan, 1], dtype=np.float32), 1 << 16)
    return np.where(random.random(1 << 16) < 0.05, special, values)


def check_functions(table, programs):
    first = accuracy.inputs()
    left, right = accuracy.paired(first), accuracy.second(first)
    wrong = []
    for name, (arity, bound, above) in table.items():
        kernel = f"{name}.f32"
        operands = [[first], [left, right], [left, right, accuracy.second(right)]][arity - 1]
        dtype = np.uint8 if name in ("eq", "ne", "lt", "le", "gt", "ge", "signbit") or name.startswith("is_") else np.float32
        written = programs.run("as written", kernel, operands, dtype)
        if written is None:
            continue
        told = []
        for compiler in programs.built:
            got = written if compiler == "as written" else programs.run(compiler, kernel, operands, dtype)
            if got is None:
                told.append("     -")
            elif bound:
                worst = accuracy.errors(name, got, operands, above).max()
                told.append(f"{worst:6.2f}")
                # An error of half a unit more may still be `bound` floats away from the nearest.
                if worst >= bound + 0.5:
                    wrong.append(f"{name} of f32 by {compiler}: {worst:.2f} ulp where {bound} are stated")
            elif not compiler.startswith(("real", "DXC+")) and name != "mul_add":
                flushed = np.any([accuracy.subnormal(x) for x in operands], axis=0)
                if dtype == np.float32:
                    flushed |= accuracy.subnormal(written) & (got == 0)
                differ = int((~same(got, written) & ~flushed).sum())
                if differ:
                    wrong.append(f"{name} of f32 by {compiler}: {differ} results differ")
        if bound:
            print(f"{name:12} {bound:2}  {' '.join(told)}", flush=True)
    return wrong


def check_identities(folder, programs):
    wrong = []
    a, b, c = (wide(seed) for seed in (11, 12, 13))
    for line in (folder / "identities.txt").read_text().splitlines():
        kernel, text = line.split(" ", 1)
        with np.errstate(all="ignore"):
            want = eval(text, {"a": a, "b": b, "c": c, "abs": np.abs})
        used = [values for letter, values in zip("abc", (a, b, c)) if letter in text.replace("abs", "")]
        for compiler in programs.built:
            got = programs.run(compiler, kernel, used, np.uint8 if want.dtype == bool else np.float32)
            differ = 0 if got is None else int((~same(got, want)).sum())
            if differ:
                wrong.append(f"{text} by {compiler}: {differ} of {len(a)} differ")
    return wrong


def check_doubles(table, programs):
    """Compares with the kernel as it is written, because there is no better reference."""
    wrong = []
    random = np.random.default_rng(3)
    bits = random.integers(0, 2**64, 1 << 15, dtype=np.uint64).view(np.float64)
    values = np.concatenate([bits, random.uniform(-10, 10, 1 << 15), random.uniform(-1, 1, 1 << 15), random.uniform(-740, 740, 1 << 15)])
    operands = [values, random.permutation(values)]
    for name, (arity, bound, above) in table.items():
        written = programs.run("as written", f"{name}.f64", operands[:arity], np.float64) if bound else None
        if written is None:
            continue
        for compiler in ("real", "real+"):
            got = programs.run(compiler, f"{name}.f64", operands[:arity], np.float64)
            with np.errstate(all="ignore"):
                unit = np.spacing(np.maximum(np.abs(written), max(above, 2.0**-1022)))
                distance = np.nan_to_num(np.abs(got - written) / unit, nan=np.inf)
            flushed = np.any([accuracy.subnormal(x) for x in operands[:arity]], axis=0) | (np.abs(written) < 2.0**-1021)
            worst = np.where(same(got, written) | flushed, 0, distance).max()
            if worst > 2 * bound:
                wrong.append(f"{name} of f64 by {compiler}: {worst:.3g} ulp from what is written, where {bound} are stated")
    return wrong


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = [line.split() for line in (folder / "ops.txt").read_text().splitlines()]
    table = {name: (int(arity), int(bound), float(above)) for name, arity, bound, above in rows}
    names = [f"{name}.{dtype}" for name in table for dtype in ("f32", "f64") if (folder / f"spv/{name}.{dtype}.spv").exists()]
    names += [line.split()[0] for line in (folder / "identities.txt").read_text().splitlines()]
    programs = Programs(folder, names)
    print(f"Errors of f32 in units in the last place: stated, {', '.join(programs.built)}")
    wrong = check_functions(table, programs) + check_identities(folder, programs) + check_doubles(table, programs)
    print("\n".join(wrong) or "all within their bounds, and no identity is folded")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
