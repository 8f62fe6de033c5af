"""Files have floors: no file uses, directly or through others, a file that uses it."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import zerostride as zs

PACKAGE = Path(zs.__file__).parent
CORE = Path(__file__).parents[1] / "src"


def of_python():
    """The files that each file of the package imports, in functions too. The package itself is a face: a file that takes
    a name from it uses the file that the face has it from."""
    files = [path for path in PACKAGE.rglob("*.py") if path.stem != "__init__"]
    trees = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): ast.parse(path.read_text()) for path in files}
    owners = {name: name for name in trees}
    for node in ast.parse((PACKAGE / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level and node.module in trees:
            names = [alias.asname or alias.name for alias in node.names]
            listed = vars(vars(zs)[node.module])
            owners.update(dict.fromkeys(listed["__all__"] if names == ["*"] else names, node.module))

    def uses(file, tree):
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                package = ".".join(["zerostride", *file.split(".")[:-1]])
                module = resolve_name("." * node.level + (node.module or ""), package)
                names = [owners.get(alias.name) for alias in node.names] if module == "zerostride" else [module]
                found.update(name.removeprefix("zerostride.") for name in names if name)
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.startswith("zerostride.")]
                found.update(name.removeprefix("zerostride.") for name in names)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "zs":
                found.add(owners.get(node.attr))
        return found & set(trees)

    return {file: uses(file, tree) for file, tree in trees.items()}


def of_rust():
    """The files of the core that each of its files uses."""
    files = {path.stem: path.read_text() for path in CORE.glob("*.rs") if path.stem != "lib"}
    used = {file: re.findall(r"\b(?:crate|super)::(\w+)", text) for file, text in files.items()}
    return {file: set(names) & set(files) for file, names in used.items()}


@pytest.mark.parametrize("uses", [of_python, of_rust])
def test_no_file_uses_itself_through_others(uses):
    uses = uses()
    assert sum(map(len, uses.values())) > 20, "the files that others use are not found"
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        pytest.fail("a circle: " + " uses ".join(reversed(error.args[1])))
