"""Emits programs made by hand and runs what comes out: from IR to text, to a module, to numbers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from teenyc.codegen.emit import Generated, emit
from teenyc.ir.nodes import Function, Kernel, Program
from teenyc.ir.verify import verify
from teenyc.source import SourceFile

NO_SOURCE = SourceFile("k.tk", "")


def generated(
    *kernels: Kernel, functions: Sequence[Function] = (), doc: str = "", source: SourceFile = NO_SOURCE
) -> Generated:
    """The module of some kernels."""
    program = Program(doc=doc, kernels=kernels, functions=tuple(functions))
    verify(program)
    return emit(program, source=source)


def kernel_text(generated: Generated, name: str) -> str:
    """One kernel or function of a module, from its `def` to the next blank lines."""
    start = generated.text.index(f"def {name}(")
    end = generated.text.index("\n\n\n", start)
    return generated.text[start:end] + "\n"


def body_text(kernel: Kernel) -> str:
    """The lines of a kernel below its head, without their indentation."""
    text = kernel_text(generated(kernel), kernel.name)
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.endswith("):")) + 1
    return "\n".join(line[4:] for line in lines[start:])


def imported(generated: Generated, folder: Path, name: str = "emitted_module") -> ModuleType:
    """The module, imported from a file: Triton reads the source of its kernels."""
    path = folder / f"{name}.py"
    path.write_text(generated.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def spelled(generated: Generated, kernel: str, name: str) -> str:
    """How a parameter or constant of a kernel is called in the module."""
    kernels = generated.metadata["kernels"]
    assert isinstance(kernels, Mapping)
    return str(kernels[kernel].get("renamed", {}).get(name, name))
