"""Who may import whom: reads every import in `teenyc/` and fails by name where one goes against the layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "teenyc"

EVERYWHERE = {"record", "version"}
DATA = {"source", "types", "diagnostics", "intrinsics", "ir"}
COMPILER = DATA | {"resources", "syntax", "check", "safety", "tiling", "passes", "codegen"}

MAY_IMPORT: dict[str, set[str]] = {
    "record": set(),
    "version": set(),
    "source": set(),
    "types": set(),
    "resources": set(),
    "diagnostics": {"source", "types"},
    "intrinsics": {"source", "types", "diagnostics"},
    "ir": {"source", "types", "intrinsics"},
    "syntax": {"source", "diagnostics", "resources"},
    "check": DATA | {"syntax.ast"},
    "safety": DATA,
    "tiling": DATA,
    "passes": DATA | {"tiling"},
    "codegen": {"source", "types", "intrinsics", "ir", "resources"},
    "driver": COMPILER,
    "evaluate": DATA,
    "runtime": DATA | {"resources", "driver", "evaluate", "codegen.parameters"},
    "fixes": {"source", "diagnostics", "driver"},
    "functional": DATA | {"resources", "driver", "runtime"},
    "cli": DATA | {"resources", "driver", "fixes", "evaluate", "runtime", "passes", "safety", "tiling", "syntax.ast"},
    "__init__": {"diagnostics", "driver", "runtime"},
    "__main__": {"cli"},
}
ONLY_IN = {
    "lark": {"syntax"},
    "jinja2": {"codegen"},
    "markupsafe": {"codegen"},
    "triton": {"runtime", "functional"},
    "torch": {"runtime", "functional"},
    "click": {"cli"},
    "z3": {"safety"},
    "numpy": {"intrinsics", "evaluate", "runtime", "cli"},
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_follow_the_layers(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert layer in MAY_IMPORT, f"{layer} has no place in the layers"
    for line, module in _imports(path):
        top, _, rest = module.partition(".")
        if top != "teenyc":
            assert layer in ONLY_IN.get(top, {layer}), f"{path.name}:{line}: {layer} may not import {top}"
        else:
            target = rest.partition(".")[0] or "__init__"
            allowed = target == layer or {target, rest} & (EVERYWHERE | MAY_IMPORT[layer])
            assert allowed, f"{path.name}:{line}: {layer} may not import {module}"


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of each module that a file imports; `from teenyc import types` counts as `teenyc.types`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            is_package = (PACKAGE.parent / node.module.replace(".", "/")).is_dir() and node.module.startswith("teenyc")
            names = [f"{node.module}.{alias.name}" for alias in node.names] if is_package else [node.module]
            yield from ((node.lineno, name) for name in names)


def test_relative_imports_are_not_used() -> None:
    relative = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative
