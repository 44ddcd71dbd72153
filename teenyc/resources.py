"""Finds the grammar, the templates and the bundled kernels, in a checkout and in an installed wheel alike."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def grammar_text() -> str:
    """The text of `grammar/teenyc.lark`."""
    return (folder("grammar") / "teenyc.lark").read_text(encoding="utf-8")


def template_directory() -> Path:
    """The folder of the Jinja templates."""
    return folder("templates")


def template_text(name: str) -> str:
    """The text of one template, such as `module.py.jinja`."""
    return (folder("templates") / name).read_text(encoding="utf-8")


def kernels_directory() -> Path:
    """The folder of the kernels that come with teenyc."""
    return folder("kernels")


def folder(name: str) -> Path:
    """A data folder: inside the package in a wheel, beside the package in a checkout."""
    inside = _PACKAGE / "_data" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
