"""The commands and their options, as click declares them; each callback imports what it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from teenyc.cli.settings import Settings
from teenyc.cli.values import arguments, constants, dtypes, grid, stage, stages, targets
from teenyc.version import __version__

FORMATS = ("human", "short", "json", "sarif")
STAGES = ("ast", "ir", "plan", "triton", "metadata")
OUTPUT = "Write into this folder (or to this .py file), not beside the source."
SET = "Fix a constant: HEAD_DIM=64, CAUSAL=true."
DTYPE = "Fix a dtype parameter for launches and --target: D=bf16. The kernel's text serves all."
EXPLAIN = "Print what tiling does with each kernel and why, and write nothing."
EFFECTS = "Print what each kernel reads and writes, and whether launches repeat, and write nothing."
AFTER = "Print the IR after a pass, or after check, and write nothing."
ARG = "Give a parameter an array or a number: x=randn(4,64), n=64."
TILE = "Let each kernel take its rows in blocks, or none; else as the kernels say."
SAFETY = "Print of each load, store and atomic whether it is proven in bounds and free of races."
TARGET = "Also compile for cuda:90, hip:gfx942, …"
RESOURCES = "Print what each kernel takes of its --target: memory, registers, threads."


def _shared(command: Any) -> Any:
    """The options that `build` and `check` have in common."""
    options = (
        click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True, readable=False)),
        click.option("--set", "constants", multiple=True, callback=constants, metavar="NAME=VALUE", help=SET),
        click.option("--dtype", "dtypes", multiple=True, callback=dtypes, metavar="D=TYPE", help=DTYPE),
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
@click.option("-o", "--output", type=click.Path(path_type=Path, readable=False), metavar="DIR", help=OUTPUT)
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the generated source and write nothing.")
@click.option("--check", "compare", is_flag=True, help="Write nothing; exit 1 if what is on disk differs.")
@click.option("--force", is_flag=True, help="Overwrite files that teenyc did not generate.")
@click.option("--watch", is_flag=True, help="Build again whenever a source changes.")
@click.option("--emit", type=click.Choice(STAGES), help="Print a stage and write nothing.")
@click.option("--emit-after", callback=stage, shell_complete=stages, metavar="PASS", help=AFTER)
@click.option("--explain-tiling", is_flag=True, help=EXPLAIN)
@click.option("--explain-effects", is_flag=True, help=EFFECTS)
@click.option("--tile/--no-tile", default=None, help=TILE)
@click.option("--target", "targets", multiple=True, callback=targets, metavar="TARGET", help=TARGET)
@click.option("--resources", is_flag=True, help=RESOURCES)
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
@click.option("--safety", is_flag=True, help=SAFETY)
@click.option("--fix", is_flag=True, help="Apply the fixes of reports to the sources; report what is left.")
@click.option("--diff", is_flag=True, help="Print what --fix would change and write nothing.")
def check(**arguments: Any) -> int:
    """Report what is wrong with each kernel file in FILES and write nothing, but for what --fix repairs.

    With --safety, also say of every access whether it is proven in bounds for all sizes, guarded by a condition on the
    arguments, or unproven, and why.
    """
    settings = _settings(writes=False, **arguments)
    if settings.safety and (settings.fix or settings.diff):
        raise click.UsageError("--safety prints, so that --fix and --diff have no meaning")
    if settings.fix or settings.diff:
        from teenyc.cli.fix import fix

        return fix(settings)
    from teenyc.cli.build import build as run

    return run(settings)


@teenyc.command()
@click.argument("file", type=click.Path(allow_dash=True, readable=False))
@click.argument("kernel")
@click.option("--grid", callback=grid, metavar="N[,N[,N]]", help="How many programs; else as the kernel says.")
@click.option("--arg", "arguments", multiple=True, callback=arguments, metavar="NAME=FORM", help=ARG)
@click.option("--set", "constants", multiple=True, callback=constants, metavar="NAME=VALUE", help=SET)
@click.option("--dtype", "dtypes", multiple=True, callback=dtypes, metavar="D=TYPE", help=DTYPE)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of random arguments (0).")
@click.option(
    "--save", type=click.Path(path_type=Path, readable=False), metavar="DIR", help="Write what changed as DIR/NAME.npy."
)
@click.option("--sanitize", is_flag=True, help="Go on to the end and report all that is wrong: races, wraps, NaN, …")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="(auto)")
def run(**arguments: Any) -> int:
    """Run a KERNEL of a kernel FILE on the CPU, without Triton or a GPU, and print what it wrote.

    Each --arg gives a parameter: NAME=randn(4,64), rand, randint(0,9,64), zeros, ones, full(64,0.5), arange(64),
    empty(64), a file x.npy, or a number. What the kernel's attributes say need not be given.
    """
    from teenyc.cli.run import RunSettings
    from teenyc.cli.run import run as run_kernel
    from teenyc.cli.terminal import wants_color

    color = wants_color(arguments.pop("color"), machine_readable=False)
    return run_kernel(RunSettings(**arguments, color=color))


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
    return Settings(color=color, **arguments)


def _reject_conflicts(settings: Settings) -> None:
    """Raises a usage error where two options ask for different things."""
    prints = [
        flag
        for flag, given in (
            ("--stdout", settings.to_stdout),
            ("--emit", settings.emit is not None),
            ("--emit-after", settings.emit_after is not None),
            ("--explain-tiling", settings.explain_tiling),
            ("--explain-effects", settings.explain_effects),
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
    if settings.targets and settings.code_on_stdout:
        raise click.UsageError("--target writes files: say where with -o")
    if settings.resources and not settings.targets:
        raise click.UsageError("--resources tells what a target gives: say which with --target")
    if settings.watch and "-" in settings.files:
        raise click.UsageError("--watch cannot watch standard input")
