"""The node tests of ONNX's backend for sorting, selecting and scattering: writes selecting.jsonl beside this file.

    pip install onnx && python3 tests/data/selecting.py

Indices, which are of int64 there, are of i32 here.
"""

import json
import pathlib
import warnings

import numpy as np
from onnx import helper
from onnx.backend.test.case.node import collect_testcases

warnings.filterwarnings("ignore")

OPERATORS = ("TopK", "NonZero", "Unique", "ScatterElements", "ScatterND", "GatherElements", "Compress")
TYPES = {"bfloat16": "bf16", "bool": "bool", "float32": "f32", "int64": "i64", "uint64": "u64"}


def tensor(x, number):
    # The shortest numbers that are these of their type.
    data = [float(str(each)) if each.dtype.kind in "fV" else int(each) for each in x.ravel()]
    of = TYPES[x.dtype.name]
    return {"type": "i32" if number > 0 and of == "i64" else of, "shape": x.shape, "data": data}


lines = []
for case in collect_testcases(None):
    node = case.model.graph.node[0]
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type not in OPERATORS or len(case.model.graph.node) > 1:
        continue
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
    for operands, results in case.data_sets:
        first = 1 if node.op_type == "NonZero" else 0
        lines.append({
            "op": node.op_type, "id": case.name, **attributes,
            "operands": [tensor(np.asarray(x), number) for number, x in enumerate(operands)],
            "results": [tensor(np.asarray(x), number) for number, x in enumerate(results, first)],
        })  # fmt: skip

path = pathlib.Path(__file__).with_suffix(".jsonl")
path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
print(len(lines), "cases", path.stat().st_size, "bytes")
