"""Places in RAM as a person types and reads them at the prompt of ``ramsearch --interactive``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..discovery.candidates import pack
from ..discovery.hint import format_moment
from ..discovery.lens import Lens, number
from ..discovery.narrow import Choice, Reading
from ..discovery.replay import LOOKS, Poked
from ..discovery.session import Session
from ..errors import UserError
from ..values import Variable

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = 6  # snapshots whose values are listed


def where(variable: Variable) -> str:
    """Return a variable's bytes, most significant first, such as ``0x416 0x415 0x414``."""
    region = "" if variable.region == "SYSTEM_RAM" else f"{variable.region} "
    return region + " ".join(f"0x{addr:x}" for addr in variable.addrs)


def variable_of(words: Sequence[str], session: Session, listed: Sequence[Reading]) -> Variable:
    """Return the variable that words name.

    Args:
        words: ``#3`` of the hits listed last, the name of a mark, or ``[REGION:]ADDR [TYPE]``,
            where the address is the lowest byte's and the type by default one byte, ``uint``.
        session: Its marks and regions.
        listed: The hits listed last.

    Raises:
        UserError: They name none.
    """
    if not words:
        raise UserError("no place", "an address such as 0x425, a hit such as #1, or a mark")
    first, *kind = words
    if first in session.marks:
        return session.marks[first]
    spans = session.origin.spans
    if first.startswith("#"):
        place = number(first[1:])
        if not 1 <= place <= len(listed):
            raise UserError(f"hit {place}", f"1 to {len(listed)}", "List them with: hits")
        return listed[place - 1].variables(spans)[0]
    region, _, addr = first.rpartition(":")
    starts = {span.region: span.start for span in spans}
    if region and region not in starts:
        raise UserError(f"no region {region}", "one of " + " ".join(starts))
    lens = Lens.parse(kind or ["uint"])
    if lens.base is None:
        raise UserError(f"{lens} without a base", "the byte that draws 0, such as base=0x30")
    start = starts[region or spans[0].region] + number(addr)
    if start not in lens.starts(spans):
        raise UserError(f"{lens} at {first}", "an address in the memory of the core")
    offsets = lens.offsets(np.array([start], np.int32), spans)[0].tolist()
    choice = Choice(lens.scales[0], lens.base, lens.base)
    return Reading(lens, tuple(offsets), (choice,)).variables(spans)[0]


def table(readings: Sequence[Reading], session: Session) -> DataFrame:
    """Return hits with their values in the last snapshots."""
    from pandas import DataFrame

    times = session.times[-SHOWN:]
    columns = ["hit", "bytes", "type", "scale", "also"]
    columns += [format_moment(at, session.origin.fps) for at in times]
    rows = []
    for place, reading in enumerate(readings, 1):
        variable = reading.variables(session.origin.spans)[0]
        scales = " ".join(str(choice.scale) for choice in reading.choices)
        lens = Lens(reading.lens.encoding, len(reading.offsets), reading.lens.order, variable.base)
        values, also = session.seen(variable)[-SHOWN:], " ".join(reading.also)
        rows.append((f"#{place}", where(variable), str(lens), scales, also, *values))
    return DataFrame(rows, columns=columns)


def outcome(variable: Variable, value: int, poked: Poked) -> Iterator[str]:
    """Yield in lines what became of a value that was written."""
    packed, _ = pack(variable)

    def read(data: Any) -> Any:
        return packed.decode({packed.region: np.asarray(data, np.uint8)})

    before = int(read(list(poked.before)))
    yield f"{where(variable)} held {before}; {value} was written"
    ended, untouched = value, before
    for look, now, other in zip(LOOKS, poked.poked, poked.untouched, strict=True):
        ended, untouched = int(read(now)), int(read(other))
        yield f"{look:4} frames later it held {ended}, and {untouched} where nothing was written"
    if value == before:
        yield "it held that already, so this tells nothing"
    elif ended == untouched != value:
        yield "it was overwritten: the game keeps this number elsewhere, or draws it anew"
    elif ended == value:
        yield "it stayed"
    elif ended == value + untouched - before:
        yield "it stayed, and what the game added came on top"
    else:
        yield f"it did not stay: the game made {ended} of it"
