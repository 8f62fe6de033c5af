"""The node tests of ONNX's backend for MaxPool, AveragePool and Conv: writes pools.jsonl beside this file.

    pip install onnx && python3 tests/data/pools.py

Those of operands of more than 4096 elements are left out, which are of three axes; of long results every tenth element is
kept.
"""

import json
import pathlib
import warnings

import numpy as np
from onnx import helper
from onnx.backend.test.case.node import collect_testcases

warnings.filterwarnings("ignore")


TYPES = {"float32": "f32", "uint8": "u8"}
LONGEST, LONG = 4096, 512


def tensor(x, every=1):
    # The shortest numbers that are these of their type.
    data = [float(str(each)) if each.dtype.kind == "f" else int(each) for each in x.ravel()[::every]]
    return {"type": TYPES[x.dtype.name], "shape": x.shape, "data": data} | ({"every": every} if every > 1 else {})


lines = []
for case in collect_testcases(None):
    node = case.model.graph.node[0]
    if node.op_type not in ("MaxPool", "AveragePool", "Conv") or len(case.model.graph.node) > 1:
        continue
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
    for operands, (result, *_) in case.data_sets:
        if max(x.size for x in operands) > LONGEST:
            continue
        result = np.asarray(result)
        lines.append({
            "op": node.op_type, "id": case.name, **attributes, "operands": [tensor(np.asarray(x)) for x in operands],
            "result": tensor(result, 10 if result.size > LONG else 1),
        })  # fmt: skip

path = pathlib.Path(__file__).with_suffix(".jsonl")
path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
print(len(lines), "cases", path.stat().st_size, "bytes")
