"""Runs expressions of floats under LLVM's fast math, which takes floats for real numbers without NaN, infinities and signs
of zeros. Metal's compiler and drivers of DX12 are built on LLVM. Called by scripts/check-fast-math.

usage: fast_math.py FOLDER COMPILER...    (a clang of LLVM 19 or later, as the words of a command)

The folder has the kernels of the test `expressions_for_fast_math`, as SPIR-V by `platforms translate`. Each kernel is
translated to C and compiled twice: as it is written, and with -ffast-math. Both must have the same bits for ordinary and
special numbers, functions such as exp included. Of the elements of an invocation, which the same operations compute, the first is
compiled and compared. Exits with 1 if a result differs.
"""
import concurrent.futures
import itertools
import os
import pathlib
import platform
import subprocess
import sys

import numpy as np

import ctext
import spirv

# x86's reciprocal instructions return NaN for 0, so they are switched off.
FAST = ["-O3", "-ffast-math", "-mrecip=none"] + (["-mfma"] if platform.machine() == "x86_64" else [])
COMPILED = {"written": ["-O0", "-ffp-contract=off", "-DOPEN"], "fast": FAST}
# Zig's clang traps undefined behaviour of C by default.
BOTH = ["-w", "-fno-sanitize=undefined"]
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "bool": np.uint8, "i32": np.int32, "u32": np.uint32}
SPECIAL = [0.0, 1.0, np.inf, np.nan, 3.4e38, 6e4, 65519.0, 2.5, 0.75, 1e20, 3e9, 1e-30, 1.1754944e-38]
COUNT = 4096
# Results by what adapters decide: how many are asked for, and how many where these differ from fast math.
RESULTS = [4, 256]
# Kernels of one program.
CHUNK = 64


def operands(of):
    """Four operands, in which special values meet one another and other values of the type."""
    random = np.random.default_rng(1)
    special = np.array(SPECIAL + [-x for x in SPECIAL])
    pairs = np.array(list(itertools.product(special, special))).T
    all = []
    for i in range(4):
        values = np.ldexp(random.uniform(1, 2, COUNT) * random.choice([-1, 1], COUNT), random.integers(-12, 12, COUNT))
        values = np.where(random.random(COUNT) < 0.1, random.choice(special, COUNT), values)
        values[: pairs.shape[1]] = pairs[i] if i < 2 else random.permutation(pairs[0])
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32 if of == "bf16" else TYPES[of])
        all.append((narrow.view(np.uint32) >> 16).astype(np.uint16) if of == "bf16" else narrow)
    return all


def decoded(values, dtype):
    return (values.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else values


def same_bits(a, b):
    """Where two results are the same. All NaN are equal."""
    if a.dtype.kind != "f":
        return a == b
    return (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)


def main():
    folder, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    rows = [line.split() for line in (folder / "expressions.txt").read_text().splitlines()]
    blocks = {name: words for name, _, _, _, *words in rows}
    inputs = {of: operands(of) for of in {row[1] for row in rows}}
    for of, all in inputs.items():
        for i, values in enumerate(all):
            for each in {int(row[3]) for row in rows if row[1] == of}:
                values.repeat(each).tofile(folder / f"operand{i}.{of}.{each}")

    def run(number):
        """The report's lines for differences in a chunk."""
        chunk, wrong = rows[number : number + CHUNK], []
        bodies = {row[0]: spirv.body(str(folder / f"spv/{row[0]}.spv"), first=True) for row in chunk}
        source = folder / f"chunk{number}.c"
        source.write_text(ctext.program(bodies, blocks))
        for how, flags in COMPILED.items():
            # Linked without -ffast-math, whose startup code would flush subnormals.
            subprocess.run([*compiler, *flags, *BOTH, "-c", source, "-o", f"{source}.o"], check=True)
            subprocess.run([*compiler, f"{source}.o", "-o", f"{source}.{how}", "-lm"], check=True)
        for name, of, to, each, *_ in chunk:
            def results(how, count=1):
                size = COUNT * int(each) * np.dtype(TYPES[to]).itemsize
                command = [f"{source}.{how}", name, str(COUNT), folder / name, str(size)]
                paths = [folder / f"operand{i}.{of}.{each}" for i in range(4)]
                subprocess.run([*command, *paths], env={"OPEN": str(count)}, check=True)
                return decoded(np.fromfile(folder / name, TYPES[to]), to).reshape(count, COUNT, int(each))[:, :, 0]

            (fast,) = results("fast")
            for count in RESULTS:
                written, *others = results("written", count)
                same = same_bits(written, fast)
                for other in others:
                    same |= ~same_bits(written, other)
                if same.all():
                    break
            if not same.all():
                at = int(same.argmin())
                values = [float(decoded(values, of)[at]) for values in inputs[of]]
                wrong.append(f"{name}: {int((~same).sum())} of {COUNT} differ: {fast[at]} and not {written[at]} of {values}")
        return wrong

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = 0
        for lines in pool.map(run, range(0, len(rows), CHUNK)):
            wrong += len(lines)
            print(*lines, sep="\n", end="\n" if lines else "", flush=True)
    print(f"{wrong} of {len(rows)} expressions differ by fast math")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
