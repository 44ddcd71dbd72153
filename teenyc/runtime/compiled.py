"""Compiled through the cache: the bytes of a source and options go in, the cache entry of its module comes out."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from teenyc.diagnostics.model import CompileError, Diagnostic
from teenyc.runtime import cache
from teenyc.runtime.cache import Entry
from teenyc.runtime.files import decode, read_bytes
from teenyc.source import SourceFile

NOTHING: Mapping[str, str] = {}
NO_CONSTANTS: Mapping[str, int | bool] = {}


def source_bytes(path: str) -> bytes:
    """The contents of a source file; a `CompileError` where it cannot be read."""
    data = read_bytes(path)
    if isinstance(data, Diagnostic):
        raise failure((data,), None)
    return data


def entry_key(
    data: bytes,
    path: str,
    *,
    set: Mapping[str, int | bool] = NO_CONSTANTS,
    dtype: Mapping[str, str] = NOTHING,
    tile: bool | None = None,
) -> str:
    """The cache key of a source of this name with these options."""
    options = {"set": sorted(set.items()), "dtype": sorted(dtype.items()), "tile": tile}
    return cache.key_of(data, Path(path).name, options)


def compiled_entry(
    data: bytes,
    path: str,
    *,
    set: Mapping[str, int | bool] = NO_CONSTANTS,
    dtype: Mapping[str, str] = NOTHING,
    tile: bool | None = None,
) -> Entry:
    """The module of a source, from the cache or compiled now; a `CompileError` with the report if it has errors."""
    key, stem = entry_key(data, path, set=set, dtype=dtype, tile=tile), Path(path).stem
    return cache.find(key, stem) or cache.insert(key, stem, _compiled(data, path, set, dtype, tile))


def execute(entry: Entry, module: ModuleType) -> None:
    """Runs the text of an entry as it was checked, not the file, which anything may happen to.

    `inspect`, and through it Triton, finds the lines of the code even when the file is gone.
    """
    path = str(entry.path)
    linecache.cache[path] = (len(entry.text), None, entry.text.splitlines(keepends=True), path)
    try:
        exec(compile(entry.text, path, "exec", dont_inherit=True), module.__dict__)
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        text = "running kernels needs Triton: install `triton`, or `teenyc[torch]` for both torch and Triton"
        raise ModuleNotFoundError(text, name="triton") from None


def failure(diagnostics: Sequence[Diagnostic], source: SourceFile | None) -> CompileError:
    """The exception for a source with errors; its text is the report as the command prints it."""
    from teenyc.diagnostics.render import Report, render

    reports = [Report(diagnostic, source) for diagnostic in diagnostics]
    return CompileError(tuple(diagnostics), render(reports, format="human"))


def _compiled(
    data: bytes, path: str, set: Mapping[str, int | bool], dtype: Mapping[str, str], tile: bool | None
) -> str:
    from teenyc.driver import Options, compile_source

    source = decode(data, path)
    if isinstance(source, Diagnostic):
        raise failure((source,), None)
    compiled = compile_source(source, options=Options(set=dict(set), dtype=dict(dtype), tile=tile))
    if compiled.source is None:
        raise failure(compiled.diagnostics, source)
    return compiled.source
