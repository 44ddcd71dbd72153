"""The commands and their options, as click declares them; each callback imports what it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from teenyc.cli.settings import Settings
from teenyc.version import __version__

FORMATS = ("human", "short", "json", "sarif")
STAGES = ("ast", "ir", "triton")
FILES = "files"


class Constant(click.ParamType):
    """`NAME=VALUE` with an integer, `true` or `false`."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int | bool]:
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(true|false|-?[0-9][0-9_]*)\s*", value)
        if match is None:
            self.fail(f"{value!r} is not NAME=VALUE with an integer, true or false, such as HEAD_DIM=64", param, ctx)
        name, text = match.groups()
        return name, text == "true" if text in ("true", "false") else int(text)


class ElementType(click.ParamType):
    """`D=bf16`: a dtype parameter and the type it stands for."""

    name = "D=TYPE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        from teenyc.types import DTYPES

        name, _, dtype = (part.strip() for part in value.partition("="))
        if not name.isidentifier() or dtype not in DTYPES:
            self.fail(f"{value!r} is not D=TYPE; the types are {', '.join(DTYPES)}", param, ctx)
        return name, dtype


class Target(click.ParamType):
    """`cuda:90` or `hip:gfx942`."""

    name = "TARGET"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(r"cuda:[0-9]{2,3}|hip:gfx[0-9a-f]{3,}", value):
            self.fail(f"{value!r} is not a target such as cuda:90 or hip:gfx942", param, ctx)
        return str(value)


class PassName(click.ParamType):
    """The name of a pass, or `check` for the program as the checker made it."""

    name = "PASS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in (names := _stage_names()):
            self.fail(f"{value!r} is no stage; the stages are {', '.join(names)}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in _stage_names() if name.startswith(incomplete)]


def _stage_names() -> tuple[str, ...]:
    from teenyc.passes import PIPELINE

    return ("check", *(each.name for each in PIPELINE))


def _shared(command: Any) -> Any:
    """The options that `build` and `check` have in common."""
    options = (
        click.argument(FILES, nargs=-1, required=True, type=click.Path(allow_dash=True)),
        click.option("--set", "constants", multiple=True, type=Constant(), help="Fix a constant: HEAD_DIM=64."),
        click.option("--dtype", "dtypes", multiple=True, type=ElementType(), help="Fix a dtype parameter: D=bf16."),
        click.option("--verify-ir", is_flag=True, help="Verify the typed IR after every pass."),
        click.option("--format", type=click.Choice(FORMATS), default="human", help="How reports look (human)."),
        click.option("--deny-warnings", is_flag=True, help="Treat lints as errors."),
        click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="(auto)"),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="teenyc %(version)s")
def teenyc() -> None:
    """Compile GPU kernels in Rust syntax (.tk, .rs) to readable Triton source."""


@teenyc.command()
@_shared
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write here, not beside sources.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the generated source and write nothing.")
@click.option("--check", "compare", is_flag=True, help="Write nothing; exit 1 if what is on disk differs.")
@click.option("--force", is_flag=True, help="Overwrite files that teenyc did not generate.")
@click.option("--watch", is_flag=True, help="Build again whenever a source changes.")
@click.option("--emit", type=click.Choice(STAGES), help="Print a stage and write nothing.")
@click.option("--emit-after", type=PassName(), help="Print the IR after a pass and write nothing.")
@click.option("--target", "targets", multiple=True, type=Target(), help="Also compile for cuda:90, hip:gfx942, …")
def build(**arguments: Any) -> int:
    """Generate a Triton module from each kernel file in FILES.

    FILES are .tk and .rs files, folders to search for them, or - for standard input. Each module is written beside its
    source: kernels/softmax.tk gives kernels/softmax.py. A file with errors writes nothing.
    """
    from teenyc.cli.build import build as run

    settings = _settings(writes=True, **arguments)
    _reject_conflicts(settings)
    return run(settings)


@teenyc.command()
@_shared
def check(**arguments: Any) -> int:
    """Report what is wrong with each kernel file in FILES and write nothing."""
    from teenyc.cli.build import build as run

    return run(_settings(writes=False, **arguments))


@teenyc.command()
@click.argument("code", required=False)
def explain(code: str | None) -> int:
    """Explain a report by its CODE, such as E0201; without one, list all codes."""
    from teenyc.cli.explain import explain as run

    return run(code)


@teenyc.command()
@click.argument("name", required=False)
def kernels(name: str | None) -> int:
    """List the kernels that come with teenyc; with a NAME, print where its file is."""
    from teenyc.cli.bundled import kernels as run

    return run(name)


def _settings(**arguments: Any) -> Settings:
    from teenyc.cli.terminal import wants_color

    color = wants_color(arguments.pop("color"), machine_readable=arguments["format"] in ("json", "sarif"))
    for name in ("constants", "dtypes"):
        arguments[name] = dict(arguments[name])
    return Settings(color=color, **arguments)


def _reject_conflicts(settings: Settings) -> None:
    """Raises a usage error where two options ask for different things."""
    prints = [
        flag
        for flag, given in (
            ("--stdout", settings.to_stdout),
            ("--emit", settings.emit is not None),
            ("--emit-after", settings.emit_after is not None),
        )
        if given
    ]
    writes = [
        flag
        for flag, given in (
            ("--output", settings.output is not None),
            ("--check", settings.compare),
            ("--target", bool(settings.targets)),
        )
        if given
    ]
    if len(prints) > 1 and prints != ["--emit", "--emit-after"]:
        raise click.UsageError(f"{prints[0]} and {prints[1]} exclude each other")
    if settings.emit_after is not None and settings.emit not in (None, "ir"):
        raise click.UsageError("--emit-after prints IR: leave out --emit, or say --emit ir")
    if prints and writes:
        raise click.UsageError(f"{prints[0]} writes nothing, so that {writes[0]} has no meaning")
    if settings.watch and "-" in settings.files:
        raise click.UsageError("--watch cannot watch standard input")
