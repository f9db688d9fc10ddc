"""Units: digits written into bytes and read from them."""

from __future__ import annotations

import numpy as np
import pytest

from retrokit.discovery.units import Unit


@pytest.mark.parametrize(
    ("unit", "byte", "digit", "wanted"),
    [
        (Unit(0, "low"), 0x97, 3, 0x93),
        (Unit(0, "high"), 0x97, 3, 0x37),
        (Unit(0, "byte"), 0x97, 3, 3),
        (Unit(0, "byte", 0x30), 0x97, 3, 0x33),
        (Unit(0, "eighth"), 0x97, 3, 0x18),
    ],
)
def test_a_unit_writes_one_digit_and_reads_it(
    unit: Unit, byte: int, digit: int, wanted: int
) -> None:
    assert unit.write(byte, digit) == wanted
    assert int(unit.read(wanted)) == digit
    assert np.array_equal(unit.read(np.array([wanted, wanted], np.uint8)), [digit, digit])
