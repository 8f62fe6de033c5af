"""The node tests of ONNX's backend for products of matrices: writes products.jsonl beside this file.

    pip install onnx && python3 tests/data/products.py
"""

import json
import pathlib
import warnings

import numpy as np
from onnx import helper
from onnx.backend.test.case.node import collect_testcases

warnings.filterwarnings("ignore")


TYPES = {"bfloat16": "bf16", "float32": "f32", "float64": "f64", "int32": "i32", "uint8": "u8"}


def tensor(x):
    # The shortest numbers that are these of their type.
    data = [float(str(each)) if each.dtype.kind in "fV" else int(each) for each in x.ravel()]
    return {"type": TYPES[x.dtype.name], "shape": x.shape, "data": data}


lines = []
for case in collect_testcases(None):
    node = case.model.graph.node[0]
    if node.op_type not in ("MatMul", "Gemm", "MatMulInteger", "Einsum") or len(case.model.graph.node) > 1:
        continue
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
    for operands, (result,) in case.data_sets:
        operands = [tensor(np.asarray(x)) for x in operands]
        lines.append({
            "op": node.op_type, "id": case.name, **attributes, "operands": operands, "result": tensor(np.asarray(result)),
        })  # fmt: skip

path = pathlib.Path(__file__).with_suffix(".jsonl")
path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
print(len(lines), "cases", path.stat().st_size, "bytes")
