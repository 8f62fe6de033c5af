"""Replays the loads and stores of kernels as a GPU's memory sees them. Called by scripts/check-memory.

usage: memory.py FOLDER

The folder has NAME.spv and NAME.json of each kernel: words of its uniform block, grid and bytes of its bindings. A kernel
becomes C whose loads and stores call touch() (memory.c). Values are not kept: floats read as 0 and integers as their
index, modulo 64, so that lookups go somewhere. No kernel branches on what another invocation wrote, so invocations run
one after the other, and barriers are only counted. Prints the table as Markdown. Exits with 1 where

- two invocations race, not all of a workgroup meet a barrier, or an access is outside of its binding;
- a kernel of a GPU takes more than 1.1 of the least, or than LISTED grants it with a reason, or less than is listed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import ctext
import spirv

HERE = pathlib.Path(__file__).parent
MOST = 1.1
GATED = ["lines", "sectors", "cache by 1", "by 4", "again"]
COLUMNS = [*GATED, "in part"]
# Kernels that may take more than that, with the limit for the greatest of these columns and the reason.
LISTED = {
    "columns of a tile; the workgroup takes whole sectors": {"transposed": 2.67, "transposed.2048": 2.67},
    "what lies between is in the same sectors": {"stepped": 1.67, "every_third": 2.5, "every_eighth": 11.33, "strided_destination": 8},
    "channels of a pixel; the next loads take the rest": {"normalize": 1.39},
    "the next load takes the rest": {"pool": 2, "shifted": 1.43},
    "rows that begin anywhere in a line; the next vector is the neighbour's too": {"box_blur": 1.97, "stencil": 2.96},
    "rows that begin anywhere in a line": {"mask": 1.35},
    "rows that begin anywhere in a line; the other operand is read by elements": {"odd_rows": 2.37},
    "indices decide": {"lookup": 6, "lookup_bytes": 7.67, "walk": 16.93},
    "elements one by one around the border": {"roll": 2.62},
    "an invocation reads a short row alone": {
        "sum_of_odd_rows": 16, "softmax_of_three": 16},
    "sixteen products of a row at a time: whole sectors, half a line": {
        "product": 1.57,
        "product_between_steps": 1.64,
        "product_in_few_registers": 1.44,
        "product_of_one_chunk": 1.6,
        "matrix_times_vector": 1.89,
    },
    "bytes and rows that begin anywhere in a line, by elements": {"product_of_bytes": 4.7},
    "eight digits of a tile; the second read of the counts is of the cache": {"counts_added_up": 3.98},
    "runs that begin anywhere in a line, stored by elements": {"cumsum_of_columns": 4.61, "cumsum_of_odd_rows": 2.62},
}  # fmt: skip
# These kernels store at indices in workgroup memory, whose values are not kept.
BY_VALUES = ["moved", "moved_with_indices", "segments", "sorted_rows", "truths"]
MOST_SITES = int(re.search(r"SITES = (\d+)", (HERE / "memory.h").read_text())[1])
# SPIR-V's memory semantics.
STORAGE, WORKGROUP = 0x40, 0x100
BUILTINS = {
    "GlobalInvocationId": [f"id[{i}]" for i in range(3)], "LocalInvocationId": [f"local[{i}]" for i in range(3)],
    "WorkgroupId": [f"group[{i}]" for i in range(3)], "LocalInvocationIndex": ["index"],
}  # fmt: skip


class Traced(spirv.Translator):
    """A kernel whose loads and stores of bindings and workgroup memory are reported instead of made. Such a pointer holds
    the number of its space."""

    # Functions that return early are not inlined.
    passes = ["--eliminate-dead-branches", "--merge-return", *spirv.Translator.passes]

    def __init__(self, path):
        self.builtins, self.sites, self.shared, self.local = {}, 0, 0, [1, 1, 1]
        super().__init__(path, vkd3d=False)

    def variable(self, result, pointer, storage, initial=None):
        kind = self.types[pointer][1]
        if storage == "Input":
            self.pointers[result] = BUILTINS[self.builtins[result]], kind, "0"
        elif storage == "Workgroup":
            self.pointers[result] = 64 + self.shared, kind, "0"
            self.shared += 1
        elif storage == "StorageBuffer":
            self.pointers[result] = self.bindings[result], kind, "0"
        elif storage == "Uniform":
            self.pointers[result] = "block", kind, "0"
        else:
            super().variable(result, pointer, storage, initial)

    def touch(self, pointer, store):
        space, kind, first = self.pointers[pointer]
        leaves = self.leaves(kind)
        size = 8 if leaves[0].endswith("64") else 4
        self.lines.append(f"touch({self.sites}, {space}, (uint64_t)({first}) * {size}, {len(leaves) * size}, {store});")
        self.sites += 1
        return [f"({first} + {i}) & 63" if leaf[0] in "ui" and space < 64 else "0" for i, leaf in enumerate(leaves)]

    def instruction(self, result, op, args):
        traced = lambda pointer: isinstance(self.pointers[pointer][0], int)
        if op == "Decorate" and args[1] == "BuiltIn":
            self.builtins[args[0]] = args[2]
        elif op == "ExecutionMode" and args[1] == "LocalSize":
            self.local = [int(size) for size in args[2:]]
        elif op == "Load" and traced(args[1]):
            self.put(result, args[0], self.touch(args[1], 0))
        elif op == "Store" and traced(args[0]):
            self.touch(args[0], 1)
        elif op.startswith("Atomic"):
            # Atomics occur in workgroup memory alone, and do not race with one another.
            pointer = args[1] if result else args[0]
            assert self.pointers[pointer][0] >= 64, f"{op} of a binding"
            if result:
                self.put(result, args[0], ["0"])
        elif op == "ControlBarrier":
            semantics = int(self.values[args[2]][0].rstrip("u"))
            self.lines.append(f"barrier({int(bool(semantics & STORAGE))}, {int(bool(semantics & WORKGROUP))});")
        else:
            super().instruction(result, op, args)

    def compute(self, result, op, kind, *args):
        if op == "ExtInst" and "Half2x16" in args[1]:
            self.put(result, kind, ["0"] * len(self.leaves(kind)))
        else:
            super().compute(result, op, kind, *args)


def text(name, path):
    """A kernel and its launch as C."""
    launch, traced = json.loads(path.with_suffix(".json").read_text()), Traced(str(path))
    body = traced.body()
    assert traced.sites <= MOST_SITES, f"{path.stem} has {traced.sites} loads and stores, and memory.h room for {MOST_SITES}"
    # Storages are padded to whole vectors.
    sizes = [-(-size // 16) * 16 for size in launch["stored"] + launch["read"]]
    numbers = lambda values: "{" + ", ".join(map(str, values)) + "}"
    return f"""
static void run_{name}(const uint32_t* block, const uint32_t* id, const uint32_t* local, const uint32_t* group, uint32_t index) {{
{body}
}}
static const uint32_t words_{name}[] = {numbers(launch["words"])};
const Kernel kernel_{name} = {{"{path.stem}", run_{name}, {numbers(traced.local)}, {numbers(launch["groups"])}, words_{name},
    {numbers([0, *sizes])}, {len(launch["stored"])}}};"""


def build(folder, paths):
    """The program that counts, its parts compiled side by side."""
    jobs = os.cpu_count() or 1
    names = [f"k{i}" for i in range(len(paths))]

    def compiled(part):
        source = folder / f"part{part}.c"
        own = list(zip(names, paths))[part::jobs * 2]
        source.write_text("\n".join([ctext.HEAD, '#include "memory.h"', *(text(*one) for one in own)]))
        subprocess.run(["gcc", "-O1", "-w", "-c", f"-I{HERE}", source, "-o", source.with_suffix(".o")], check=True)
        return source.with_suffix(".o")

    with ThreadPoolExecutor(jobs) as pool:
        parts = list(pool.map(compiled, range(min(jobs * 2, len(paths)))))
    table = folder / "table.c"
    declared = "\n".join(f"extern const Kernel kernel_{name};" for name in names)
    all_kernels = ", ".join(f"&kernel_{name}" for name in names)
    table.write_text(f'#include "memory.h"\n{declared}\nconst Kernel* const kernels[] = {{{all_kernels}}};\nconst size_t kernels_count = {len(names)};\n')
    subprocess.run(["gcc", "-O2", f"-I{HERE}", HERE / "memory.c", table, *parts, "-o", folder / "count", "-lm"], check=True)


def counted(folder, paths):
    """The columns for each kernel and number of lanes, and the errors of each kernel."""
    jobs = os.cpu_count() or 1

    def run(part):
        command = [folder / "count", *(path.stem for path in paths[part::jobs])]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()

    with ThreadPoolExecutor(jobs) as pool:
        lines = sorted(sum(pool.map(run, range(jobs)), []), key=lambda line: line.split("\t")[0])
    rows, wrong = {}, {}
    for line in lines:
        name, lanes, *numbers, race = line.split("\t")
        lines, least_lines, sectors, least_sectors, by_1, by_4, once, stored, least_stored, parts, outside, races = map(int, numbers)
        ratio = lambda x, least: x / max(1, least) if x else 1.0
        rows.setdefault(name, {})[lanes] = [
            ratio(lines, least_lines), ratio(sectors, least_sectors), ratio(by_1, once), ratio(by_4, once),
            1 + (stored - least_stored) / sectors, 1 + parts / sectors,
        ]  # fmt: skip
        if races:
            wrong[name] = f"race: {race}; {races} places"
        if outside:
            wrong[name] = f"outside: {outside} accesses are beyond a binding"
    return rows, wrong


def judged(rows, wrong):
    """Adds errors for kernels above their limit or below their listed value. Returns the reasons of listed kernels."""
    listed = {name: (most, reason) for reason, names in LISTED.items() for name, most in names.items()}
    for name, row in rows.items():
        most, worst = listed.get(name, (MOST, ""))[0], max(max(cells[: len(GATED)]) for cells in row.values())
        above = [f"{head} {x:.2f} ({lanes} lanes)" for lanes, cells in row.items() for head, x in zip(GATED, cells) if x > most + 0.01]
        if above:
            wrong.setdefault(name, f"above: {', '.join(above)}; {most} of the least is the most")
        elif name in listed and worst < most - 0.01:
            wrong.setdefault(name, f"listed with {most}, and takes {worst:.2f}")
    wrong.update((name, "listed, and no kernel") for name in listed.keys() - rows.keys())
    return {name: reason for name, (_, reason) in listed.items()}


def main():
    folder = pathlib.Path(sys.argv[1])
    paths = sorted(folder.glob("*.spv"))
    build(folder, paths)
    rows, wrong = counted(folder, paths)
    reasons = judged(rows, wrong)
    for name in BY_VALUES:
        del rows[name]
        wrong.pop(name, None)
    # Kernels that are wrong on purpose, with the error that must be found.
    for name in [name for name in rows if name.startswith("wrong.")]:
        found = wrong.pop(name, "nothing")
        if not found.startswith(name.split(".")[1]):
            wrong[name] = f"is wrong on purpose, and found is {found}"
        del rows[name]
    print(f"| kernel | {' | '.join(COLUMNS * 2)} | why |\n|---|{'---|' * (2 * len(COLUMNS) + 1)}")
    for name, row in rows.items():
        cells = [f"{x:.2f}" for cells in row.values() for x in cells]
        print(f"| {name} | {' | '.join(cells)} | {reasons.get(name, '')} |")
    for name, text in wrong.items():
        print(f"{name}: {text}", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
