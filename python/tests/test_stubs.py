"""The stubs list every name, and a type checker knows them."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
    # Methods that Python calls, and no user by name.
    silent = {name for name in dir(zs.Array) if name.startswith("__i") and name not in ("__index__", "__int__", "__iter__", "__invert__")}
    silent |= {"__array_function__", "__array_priority__", "__array_ufunc__", "__copy__", "__deepcopy__", "__dask_tokenize__", "__delitem__"}
    assert stubs - inherited == set(dir(zs.Array)) - inherited - silent


def test_elementwise_functions():
    functions = {node.name: node for node in parsed("_elementwise").body if isinstance(node, ast.FunctionDef)}
    assert set(functions) == set(_elementwise.__all__)
    for name, node in functions.items():
        parameters = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        assert parameters == list(inspect.signature(getattr(zs, name)).parameters), name


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """mypy's message for each of some lines."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("mypy")

    def check(lines):
        (folder / "script.py").write_text("\n".join(("import numpy as np, zerostride as zs", *lines)))
        command = [sys.executable, "-m", "mypy", "--strict", "script.py"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        assert not done.stderr, done.stderr
        said = dict.fromkeys(range(len(lines)), "")
        for number, text in re.findall(r"^script\.py:(\d+): (.*)", done.stdout, re.MULTILINE):
            said[int(number) - 2] += text
        return list(said.values())

    return check


def test_every_public_name_has_a_type(checked):
    names = [name for name in dir(zs) if not name.startswith("_") and not isinstance(getattr(zs, name), ModuleType)]
    names += ["bfloat16", "__array_namespace_info__"]
    said = checked([f"reveal_type(zs.{name})" for name in names])
    # `dtype[Any]` is NumPy's; a question mark is behind a name that mypy does not resolve.
    untyped = re.compile(r"(?<![\[\w])Any(?![\]\w])|\w\?")
    for name, text in zip(names, said):
        assert text.startswith("note: Revealed type is ") and not untyped.search(text), f"{name}: {text}"


def test_a_mistake_is_one_for_a_type_checker(checked):
    mistakes = {
        "zs.meen(zs.ones(3))": 'Module has no attribute "meen"',
        "zs.sum(zs.ones(3), axes=0)": 'Unexpected keyword argument "axes" for "sum"',
        'zs.sum("text")': 'Argument 1 to "sum" has incompatible type "str"',
        "zs.add(1, [2])": 'Argument 2 to "add" has incompatible type "list[int]"',
        "zs.zeros(3, 4)": "Too many positional arguments",
        "number: int = zs.asarray([1])": "Incompatible types in assignment",
        "zs.unique_all(zs.ones(3)).value": 'has no attribute "value"',
    }
    for line, said in zip(mistakes, checked(list(mistakes))):
        assert mistakes[line] in said, f"{line}: {said}"


def test_what_runs_has_types(checked):
    lines = [
        "x = zs.asarray([[1.0, 2.0]], dtype=zs.float32, device=zs.Device())", "zs.sum(np.ones(3)) + x[0, [0, 1]] * x[x > 0]",
        "zs.concat([x, np.ones((1, 2))], axis=None)", "zs.tensordot(x, x, axes=([0], [0]))", "zs.take(x, [0, 1], axis=1)",
        "zs.where(x > 0, 1, x)[..., None]", "zs.isdtype(x.dtype, ('bool', zs.int8))", "zs.result_type(x, 1, zs.int8)",
        "zs.reshape(x, -1), zs.full((2,), 1.5), zs.asarray([x, x])", "zs.sum(x, axis=(0, 1), dtype='float32')",
        "zs.unique_counts(x).counts.tolist(), zs.__array_namespace_info__().dtypes(kind='bool')",
    ]  # fmt: skip
    assert checked(lines) == [""] * len(lines)
    exec("import numpy as np, zerostride as zs\n" + "\n".join(lines), {})
