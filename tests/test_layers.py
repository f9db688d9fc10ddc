"""The shape of the source: imports point one way, files stay readable, nothing local leaks in."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPO = Path(__file__).parent.parent
PACKAGE = REPO / "retrokit"
LIMIT = 400  # lines a file

# Group (a module or a package of retrokit) → the groups it may import besides itself.
DATA = {"errors", "files", "buttons", "values", "systems", "content"}
CORE = DATA | {"savestate", "core", "sandbox"}
ENV = CORE | {"integration", "load", "options", "paddle", "lanes", "env"}
RUN = {"run", "checkpoint", "metrics"}
PLAY = ENV | RUN | {"vector", "movie", "policy", "telemetry", "png", "album", "sound"}
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "files": {"errors"},
    "buttons": {"errors"},
    "decoders": {"errors"},
    "album": set(),
    "values": {"errors", "decoders"},
    "systems": {"errors"},
    "content": {"errors", "systems"},
    "host": {"errors", "_host"},  # the compiled extension, and its one importer
    "savestate": {"errors"},
    "sealed": {"errors"},
    "png": set(),
    "core": DATA | {"host", "savestate"},
    "sound": {"host", "core"},
    "team": DATA | {"core"},
    "sandbox": DATA | {"host", "core"},
    "yaml_file": {"errors", "files"},
    "conditions": {"errors", "values"},
    "schema": DATA | {"conditions", "yaml_file"},
    "probe_stages": CORE,
    "probe": CORE | {"probe_stages"},
    "integration": DATA | {"conditions", "schema", "yaml_file"},
    "load": CORE | {"integration"},
    "verify_read": CORE | {"integration"},
    "verify_play": ENV | {"policy", "verify_read"},
    "verify": ENV | {"verify_play"},
    "verify_claims": ENV | {"discovery"},
    "verify_proof": ENV | {"discovery", "verify", "verify_claims", "verify_read"},
    "batch": set(),
    "options": {"errors"},
    "program": DATA | {"host", "conditions", "integration"},
    "plan": CORE | {"host", "integration", "batch", "options", "program"},
    "lane_log": {"host"},
    "paddle": {"buttons", "core"},
    "lanes": CORE
    | {"host", "integration", "load", "batch", "options", "paddle", "plan", "lane_log"},
    "worker": CORE | {"host", "load", "batch", "options", "plan", "lanes"},
    "workers": CORE | {"load", "batch", "options", "plan", "lane_log", "lanes", "worker"},
    "env_state": ENV | {"lane_log", "sealed", "workers"},
    "env": CORE | {"integration", "load", "batch", "options", "lanes"},
    "gym": {"systems"},
    "vector": ENV | {"batch", "env_state", "movie", "plan", "workers"},
    "movie": ENV | {"lane_log", "plan", "sealed", "workers"},
    "bk2": ENV | {"movie", "savestate"},
    "policy": ENV,
    "metrics": {"errors"},
    "checkpoint": {"errors", "files"},
    "run": {"errors", "files", "checkpoint", "metrics"},
    "telemetry": {"errors"},
    "discovery": PLAY | {"team"},
    "learning": PLAY,
    "views": PLAY,
    "interop": PLAY | {"learning"},
    "cluster": PLAY | {"discovery", "learning"},
    "cli": PLAY
    | {"bk2", "discovery", "interop", "learning", "probe", "probe_stages", "verify", "verify_proof"}
    | {"views", "cluster", "conditions"},
    "__main__": {"cli"},
}
# Heavy or optional package → the groups that may import it.
CONFINED = {
    "typer": {"cli"},
    "rich": {"cli"},
    "cffi": {"host"},
    "torch": {"learning"},
    "tensorboard": {"metrics"},
    "av": {"views"},
    "PIL": {"views"},
    "pygame": {"views"},
    "fastapi": {"views"},
    "ray": {"cluster"},
    "redis": {"telemetry"},
    "stable_retro": set(),
}

MODULES = {
    ".".join(("retrokit", *path.relative_to(PACKAGE).with_suffix("").parts)): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


@cache
def tracked() -> list[Path]:
    """Return the files of the repository, those not yet committed included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=REPO, capture_output=True, check=True, text=True).stdout
    paths = (REPO / name for name in listing.split("\0") if name)
    return [path for path in paths if path.is_file()]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(module: str) -> Iterator[str]:
    """Yield what a module imports, in full: ``retrokit.errors``, ``numpy``, ``retrokit:name``."""
    package = module.removesuffix(".__init__").split(".")
    if not module.endswith(".__init__"):
        package.pop()
    for node in ast.walk(tree(MODULES[module])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                known = {inner, f"{inner}.__init__"} & MODULES.keys()
                yield inner if known or alias.name == "_host" else f"{source}:{alias.name}"


def group(name: str) -> str:
    """Return the part of retrokit a dotted name belongs to; empty for retrokit itself."""
    return (name.split(":")[0] + "..").split(".")[1]


@pytest.mark.parametrize("module", [name for name in MODULES if name != "retrokit.__init__"])
def test_imports_point_one_way(module: str) -> None:
    own = group(module)
    assert own in ALLOWED, f"{module}: say in ALLOWED what {own} may import"
    for name in imports(module):
        top = name.split(":")[0].split(".")[0]
        if top == "retrokit":
            if group(name):
                allowed = ALLOWED[own] | {own}
                assert group(name) in allowed, f"{module} imports {name}"
            else:
                assert name == "retrokit:__version__", f"{module}: {name} from its own module"
        else:
            assert own in CONFINED.get(top, {own}), f"{module} imports {top}"


def test_layers_have_no_cycle() -> None:
    TopologicalSorter(ALLOWED).prepare()


def test_modules_have_no_cycle() -> None:
    graph = {
        module.removesuffix(".__init__"): {
            name.split(":")[0] for name in imports(module) if group(name)
        }
        - {module.removesuffix(".__init__")}
        for module in MODULES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_files_are_read_in_one_sitting() -> None:
    # libretro.h is the standard's own header, not ours to cut.
    lengths = {
        str(path.relative_to(REPO)): len(path.read_text(encoding="utf-8").splitlines())
        for path in tracked()
        if path.suffix in {".py", ".c", ".h"} and path.name != "libretro.h"
    }
    assert {name: lines for name, lines in lengths.items() if lines > LIMIT} == {}


def test_done_is_no_name_of_ours() -> None:
    """An episode is terminated or truncated; ``done`` says neither."""
    found = []
    for module, path in MODULES.items():
        for node in ast.walk(tree(path)):
            names = (
                getattr(node, "name", None),  # def, class, import … as
                getattr(node, "arg", None),  # parameters, keyword arguments
                node.id if isinstance(node, ast.Name) else None,
                node.value if isinstance(node, ast.Constant) else None,  # keys
            )
            if "done" in [name for name in names if isinstance(name, str)]:
                found.append(f"{module}:{getattr(node, 'lineno', '?')}")
    assert found == []


def test_no_place_of_one_machine_is_committed() -> None:
    local = re.compile(r"(?<![\w.~])/(?:work|root|home/\w+|opt)/|\bpypi\.org|pythonhosted\.org")
    found = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" not in data and (match := local.search(data.decode("utf-8"))):
            found.append(f"{path.relative_to(REPO)}: {match[0]}")
    assert found == []


def test_importing_retrokit_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'pandas', 'torch', 'gymnasium', 'typer', 'rich', 'yaml', 'cffi'}"
    code = f"import sys, retrokit; print(sorted({heavy} & sys.modules.keys()))"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=REPO, capture_output=True, check=True, text=True)
    assert result.stdout == "[]\n"
