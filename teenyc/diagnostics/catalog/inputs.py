"""E00xx: files and options, before and after there is a source to point into."""

from __future__ import annotations

import errno
from types import MappingProxyType

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record


def reason_of(error: OSError) -> str:
    """Why the system refused, in the words of the reports."""
    return _REASONS.get(error.errno or 0) or (error.strerror or "unknown reason").lower()


_REASONS = MappingProxyType(
    {
        errno.EACCES: "permission denied",
        errno.EPERM: "permission denied",
        errno.ENOSPC: "disk full",
        errno.EDQUOT: "disk quota exceeded",
        errno.EROFS: "read-only file system",
        errno.EISDIR: "it is a directory",
        errno.ENOTDIR: "a part of the path is not a directory",
        errno.ENOENT: "the folder does not exist",
        errno.EEXIST: "a file of that name is in the way",
        errno.ENAMETOOLONG: "the name is too long",
        errno.ELOOP: "too many symbolic links",
        errno.EMFILE: "too many open files",
        errno.ENFILE: "too many open files",
        errno.EIO: "input/output error",
    }
)
_ADVICE = MappingProxyType(
    {
        "permission denied": "change its permissions, or write elsewhere with `-o DIR`",
        "disk full": "free some space, or write elsewhere with `-o DIR`",
        "disk quota exceeded": "free some space, or write elsewhere with `-o DIR`",
        "read-only file system": "write elsewhere with `-o DIR`",
        "it is a directory": "move the directory away, or write elsewhere with `-o DIR`",
        "a part of the path is not a directory": "give another folder with `-o DIR`",
        "a file of that name is in the way": "move the file away, or write elsewhere with `-o DIR`",
    }
)


@record(kw_only=True)
class FileMissing(Diagnostic):
    """There is no file or directory under the name that was given.

    Paths are relative to the working directory.

        teenyc build kernel/softmax.tk      # the folder is called `kernels`
        teenyc build kernels/softmax.tk
    """

    code = "E0001"
    path: str
    similar: str | None = None

    def message(self) -> str:
        return f"cannot find `{self.path}`"

    def help(self) -> str | None:
        return f"a file has a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class FileUnreadable(Diagnostic):
    """A file or directory exists but the system does not let teenyc read it.

    The message gives the system's reason.

        chmod a-r softmax.tk
        teenyc build softmax.tk     # permission denied
    """

    code = "E0002"
    path: str
    reason: str

    def message(self) -> str:
        return f"cannot read `{self.path}`: {self.reason}"

    def help(self) -> str | None:
        return "make the file readable for this user" if self.reason == "permission denied" else None


@record(kw_only=True)
class NotUtf8(Diagnostic):
    """A source is not text in UTF-8, the encoding of all sources. A byte-order mark at its start is fine.

    Text in another encoding must be converted. What is no text at all, a compiled kernel or an archive, was probably
    named by mistake.

        iconv -f latin1 -t utf-8 softmax.tk > converted.tk
    """

    code = "E0003"
    path: str
    byte_offset: int
    line: int

    def message(self) -> str:
        return f"`{self.path}` is not UTF-8"

    def notes(self) -> tuple[str, ...]:
        return (f"the first invalid byte is on line {self.line}, at byte offset {self.byte_offset}",)

    def help(self) -> str:
        return "save the file in UTF-8"


@record(kw_only=True)
class NoSources(Diagnostic):
    """A directory was given that has no kernel file in it or below it.

    Kernel files are those that end in `.tk`, and those in `.rs` that have a kernel. Hidden directories are not
    searched. Files with another ending are compiled when they are named one by one.

        teenyc build src                    # only softmax.txt
        teenyc build src/softmax.txt
    """

    code = "E0004"
    path: str

    def message(self) -> str:
        return f"no kernel files in `{self.path}`"

    def help(self) -> str:
        return "kernel files end in `.tk`, or in `.rs` and have a kernel; name others one by one"


@record(kw_only=True)
class NoKernel(Diagnostic):
    """A source has no kernel, so there is nothing to generate.

    A kernel is a function under the attribute `#[kernel]`.

        fn copy(x: Pointer<f32>, y: Pointer<f32>) { store(y, load(x)); }        // a helper

        #[kernel]
        fn copy(x: Pointer<f32>, y: Pointer<f32>) { store(y, load(x)); }
    """

    code = "E0005"
    path: str

    def message(self) -> str:
        return f"no kernel in `{self.path}`"

    def help(self) -> str:
        return "write `#[kernel]` above the function that is to be launched"


@record(kw_only=True)
class FileTooLarge(Diagnostic):
    """A source has more than 16 MB.

    No kernel is that long, so the file was probably named by mistake.

        teenyc build weights.bin        # not a kernel file
        teenyc build softmax.tk
    """

    code = "E0006"
    path: str
    size: int | None  # where it is known without reading all
    limit: int

    def message(self) -> str:
        return f"`{self.path}` is too large"

    def notes(self) -> tuple[str, ...]:
        limit = f"a source may have {self.limit:,} bytes"
        return (limit if self.size is None else f"{limit}, and it has {self.size:,}",)


@record(kw_only=True)
class OutputUnwritable(Diagnostic):
    """What was generated cannot be written. What was there before is unchanged, and no half-written file is left.

    The message gives the system's reason: a full disk, missing permission, a read-only file system.

        teenyc build softmax.tk -o /usr/lib     # permission denied
        teenyc build softmax.tk -o build
    """

    code = "E0007"
    path: str
    reason: str

    def message(self) -> str:
        return f"cannot write `{self.path}`: {self.reason}"

    def help(self) -> str | None:
        return _ADVICE.get(self.reason)


@record(kw_only=True)
class NotAFile(Diagnostic):
    """A source is a device, a pipe or a socket.

    Only regular files and directories are read, and standard input under the name `-`.

        teenyc build /dev/stdin     # a device
        teenyc build -
    """

    code = "E0009"
    path: str
    what: str  # "a device", "a pipe", "a socket"

    def message(self) -> str:
        return f"`{self.path}` is {self.what}, not a file"

    def help(self) -> str:
        return "name a file, or give the source to standard input and name `-`"


@record(kw_only=True)
class UnknownOption(Diagnostic):
    """An option sets something that the source does not have. `--set` sets constants, `--dtype` dtype parameters.

    A constant is a `const NAME: i32` or `const NAME: bool` of a kernel, a dtype parameter one such as `D: Float`.

        teenyc build softmax.tk --set BLOCKS=128        # the constant is called `BLOCK`
        teenyc build softmax.tk --set BLOCK=128 --dtype D=bf16
    """

    code = "E0010"
    option: str  # "--set", "--dtype"
    what: str  # "constant", "dtype parameter", "dtype"
    name: str
    known: tuple[str, ...] = ()
    similar: str | None = None

    def message(self) -> str:
        return f"`{self.option}` names an unknown {self.what} `{self.name}`"

    def notes(self) -> tuple[str, ...]:
        if not self.known:
            return (f"no kernel here has a {self.what}",)
        return (f"known here: {', '.join(f'`{name}`' for name in self.known)}",)

    def help(self) -> str | None:
        return f"there is a {self.what} with a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class SameOutput(Diagnostic):
    """Two sources would write one output, so that one result would overwrite the other. The second is not written.

    The output has the source's name with the ending `.py`; with `-o DIR`, files that are named one by one are all
    written into that folder. With `--target`, kernels of one name in two sources have binaries of one name. Where a
    file system makes no difference between `A.py` and `a.py`, these are one too.

        teenyc build a/softmax.tk b/softmax.tk -o build     # both are build/softmax.py
        teenyc build a/softmax.tk -o build/a
    """

    code = "E0011"
    output: str
    first: str
    second: str

    def message(self) -> str:
        return f"`{self.first}` and `{self.second}` would both write `{self.output}`"

    def help(self) -> str:
        return "rename one of them, or build them into different folders"


@record(kw_only=True)
class NotGenerated(Diagnostic):
    """The file that would be written exists and was not generated by teenyc, so that somebody may have written it.

    Generated modules are known by their line `# Generated by teenyc`. Only `--force` overwrites other files.

        teenyc build kernels/softmax.tk             # kernels/softmax.py is somebody's own
        teenyc build kernels/softmax.tk -o build
    """

    code = "E0012"
    path: str

    def message(self) -> str:
        return f"`{self.path}` was not generated by teenyc"

    def help(self) -> str:
        return "write elsewhere with `-o DIR`, or overwrite it with `--force`"


@record(kw_only=True)
class OutputIsSource(Diagnostic):
    """What would be written is a source that the command names, which would be lost. `--force` does not allow it.

    The output has the source's name with the ending `.py`, so that a source of that ending needs another place; a link
    that leads to a source is the source.

        teenyc build softmax.py --force         # is its own output
        teenyc build softmax.py -o build
    """

    code = "E0014"
    output: str
    source: str

    def message(self) -> str:
        return f"`{self.output}` is the source `{self.source}`, and is not overwritten"

    def help(self) -> str:
        return "write elsewhere with `-o DIR`, or give the source another name"


@record(kw_only=True)
class OutOfDate(Diagnostic):
    """`teenyc build --check` found that a generated file is missing or is not what its source gives now.

    It writes nothing; it is for the checks of a project that keeps generated modules under version control.

        teenyc build --check kernels        # kernels/softmax.tk was edited, kernels/softmax.py was not
        teenyc build kernels
    """

    code = "E0013"
    path: str
    source: str
    exists: bool

    def message(self) -> str:
        return f"`{self.path}` is out of date" if self.exists else f"`{self.path}` is missing"

    def help(self) -> str:
        return f"run `teenyc build {self.source}`"
