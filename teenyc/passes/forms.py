"""Other forms of kernels: names that no kernel has, and remarks on what was made, where people read of tiling."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain, count

from teenyc.ir.nodes import Certificate, Kernel, Remark
from teenyc.record import replace


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, or one like it that is not taken."""
    return next(n for n in chain((name,), (f"{name}_{k}" for k in count(2))) if n not in taken)


def remarked(kernel: Kernel, remarks: Mapping[str, Remark], *, is_behind: bool) -> Kernel:
    """A kernel of the source with the remark on it, if there is one, behind or in front of those on configurations."""
    if kernel.certificate is None or kernel.tiling is not None or kernel.name not in remarks:
        return kernel
    said = kernel.certificate.remarks
    places = [place for place, each in enumerate(said) if each.kind == "configurations"] or [len(said) - is_behind]
    place = places[-1] + 1 if is_behind else places[0]
    new = (*said[:place], remarks[kernel.name], *said[place:])
    return replace(kernel, certificate=Certificate(kernel.certificate.is_tiled, new))
