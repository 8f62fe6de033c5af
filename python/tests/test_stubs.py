"""The stubs say what there is."""

import ast
import inspect
from pathlib import Path

import zerostride as zs
from zerostride import _core, _elementwise


def parsed(module):
    return ast.parse(Path(zs.__file__).with_name(f"{module}.pyi").read_text())


def test_the_core():
    names = {node.name for node in parsed("_core").body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert names == {name for name in dir(_core) if not name.startswith("__")}
    (array,) = (node for node in parsed("_core").body if isinstance(node, ast.ClassDef) and node.name == "Array")
    stubs = {node.name for node in array.body if isinstance(node, ast.FunctionDef)}
    stubs |= {node.target.id for node in array.body if isinstance(node, ast.AnnAssign)}
    inherited = set(dir(object)) | {"__module__", "__doc__"}
    # What Python calls by itself, and nobody by name.
    silent = {name for name in dir(zs.Array) if name.startswith("__i") and name not in ("__index__", "__int__", "__iter__", "__invert__")}
    silent |= {"__array_function__", "__array_priority__", "__array_ufunc__", "__copy__", "__deepcopy__", "__dask_tokenize__", "__delitem__"}
    assert stubs - inherited == set(dir(zs.Array)) - inherited - silent


def test_elementwise_functions():
    functions = {node.name: node for node in parsed("_elementwise").body if isinstance(node, ast.FunctionDef)}
    assert set(functions) == set(_elementwise.__all__)
    for name, node in functions.items():
        parameters = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        assert parameters == list(inspect.signature(getattr(zs, name)).parameters), name
