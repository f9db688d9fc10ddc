"""Numbers drawn by hand, with fonts of our own, and read back; what is no digit is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrokit.discovery.chains import right_of
from retrokit.discovery.screen import (
    Cell,
    Line,
    Pictures,
    boxes,
    find_cells,
    may_draw,
    read_digit,
    same_font,
    ten_drawn,
)

ROWS = {  # 5 x 7, one number a row, bit 4 leftmost
    0: (14, 17, 19, 21, 25, 17, 14), 1: (4, 12, 4, 4, 4, 4, 14), 2: (14, 17, 1, 6, 8, 16, 31),
    3: (31, 1, 2, 6, 1, 17, 14), 4: (2, 6, 10, 18, 31, 2, 2), 5: (31, 16, 30, 1, 1, 17, 14),
    6: (6, 8, 16, 30, 17, 17, 14), 7: (31, 1, 2, 4, 8, 8, 8), 8: (14, 17, 17, 14, 17, 17, 14),
    9: (14, 17, 17, 15, 1, 2, 12),
}  # fmt: skip
SMALL = np.array([[[r >> 4 - x & 1 for x in range(5)] for r in ROWS[d]] for d in range(10)], bool)
FONTS = {"5x7": SMALL, "10x14": SMALL.repeat(2, 1).repeat(2, 2), "5x14": SMALL.repeat(2, 1)}
HEIGHT, WIDTH = 64, 200


def canvas(paper: int = 0) -> Pictures:
    return np.full((HEIGHT, WIDTH), paper, np.uint16)


def draw(
    picture: Pictures, text: str, right: int, top: int, pitch: int, font: str, ink: int = 9
) -> None:
    """Draw digits up to a right edge; a space draws nothing."""
    glyphs = FONTS[font]
    height, width = glyphs.shape[1:]
    for place, char in enumerate(reversed(text)):
        end = right - place * pitch
        if char != " ":
            picture[top : top + height, end - width : end][glyphs[int(char)]] = ink


def ten(
    right: int = 100, top: int = 20, pitch: int = 8, font: str = "5x7", before: str = "",
    blank_zero: bool = False, paper: int = 0, ink: int = 9,
) -> Pictures:  # fmt: skip
    """Return ten pictures of a line whose last place counts from 0 to 9."""
    out = []
    for digit in range(10):
        out.append(canvas(paper))
        last = " " if blank_zero and not digit else str(digit)
        draw(out[-1], before + last, right, top, pitch, font, ink)
    return np.stack(out)


def only(cells: Sequence[Cell]) -> Cell:
    assert len(cells) == 1
    return cells[0]


def font_cell(font: str = "5x7", right: int = 100, top: int = 20, **colours: int) -> Cell:
    return only(find_cells(ten(right, top, 8, font, **colours), range(10)))


# -- boxes -----------------------------------------------------------------------------------------


def test_boxes_part_at_gaps_and_hug_what_is_in_them() -> None:
    mask = np.zeros((40, 60), bool)
    mask[2:9, 3:8] = True
    mask[4:6, 20:25] = True  # same band, another column
    mask[30, 50] = True  # another band
    assert boxes(mask) == [(2, 9, 3, 8), (4, 6, 20, 25), (30, 31, 50, 51)]


@pytest.mark.parametrize(("gap", "count"), [(3, 1), (4, 2)])
def test_boxes_join_over_small_gaps_of_rows(gap: int, count: int) -> None:
    mask = np.zeros((40, 20), bool)
    mask[5, 5] = mask[5 + gap, 5] = True
    assert len(boxes(mask)) == count


def test_nothing_changed_is_no_box() -> None:
    assert boxes(np.zeros((5, 5), bool)) == []


# -- cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("font", FONTS)
def test_ten_drawn_digits_are_a_cell(font: str) -> None:
    cell = font_cell(font)
    height, width = FONTS[font].shape[1:]
    assert (cell.top, cell.bottom, cell.left, cell.right) == (20, 20 + height, 100 - width, 100)
    assert set(cell.glyphs) == set(range(10))
    for digit, glyph in cell.glyphs.items():
        assert np.array_equal(glyph, FONTS[font][digit])


def test_a_blanked_zero_still_makes_a_cell() -> None:
    cell = only(find_cells(ten(blank_zero=True), range(10)))
    assert not cell.glyphs[0].any()
    assert np.array_equal(cell.glyphs[7], FONTS["5x7"][7])


def test_zeros_that_a_leading_digit_brings_to_light_are_not_its_own() -> None:
    pictures = [canvas() for _ in range(10)]
    for digit, picture in enumerate(pictures):
        draw(picture, f"{digit}00" if digit else "0", 116, 20, 8, "5x7")
    cell = only(find_cells(np.stack(pictures), range(10)))
    assert (cell.left, cell.right) == (95, 100)


def test_digits_may_come_in_any_order() -> None:
    order = [3, 1, 4, 0, 5, 9, 2, 6, 8, 7]
    cell = only(find_cells(ten()[order], order))
    assert all(np.array_equal(glyph, SMALL[digit]) for digit, glyph in cell.glyphs.items())


def test_a_carry_into_the_next_cell_widens_nothing() -> None:
    pictures = ten(before="1")
    for n in range(4):  # written 6 to 9 the event carried: another number stands before
        pictures[n] = ten(before="2")[n]
    assert only(find_cells(pictures, range(10), [1] * 4 + [0] * 6)).width == 5


def test_noise_elsewhere_leaves_the_cell_as_it_is() -> None:
    pictures = ten()
    rng = np.random.default_rng(0)
    pictures[:, 40:50, 10:40] = rng.integers(0, 9, (10, 10, 30))
    found = find_cells(pictures, range(10))
    assert any((cell.top, cell.left, cell.right) == (20, 95, 100) for cell in found)


def test_few_values_are_not_enough() -> None:
    assert find_cells(ten()[:7], range(7)) == []
    assert find_cells(ten(), [0, 1, 2, 3, 4, 5, 6, 11, 12, 13]) == []


def test_five_pictures_tell_what_draws_no_digit() -> None:
    assert may_draw(ten()[:5], np.arange(5))
    alike = np.stack([canvas() for _ in range(10)])
    alike[3] += 1  # two pictures so far: at most seven of ten
    assert not may_draw(alike[:5], np.arange(5))
    assert not may_draw(ten()[:5], np.array([0, 0, 0, 1, 11])), "it is overwritten"
    assert ten_drawn(ten()[:5], np.arange(5)) == []


def test_a_bitmap_byte_is_no_digit() -> None:
    pictures = np.stack([canvas() for _ in range(10)])
    for value in range(10):  # each bit draws four pixels of its own
        for bit in range(4):
            pictures[value, 20:28, 40 + 4 * bit : 44 + 4 * bit] = 9 * (value >> bit & 1)
    assert find_cells(pictures, range(10)) == []


def test_a_bitmap_over_what_is_drawn_already_is_no_digit() -> None:
    pictures = np.stack([canvas() for _ in range(10)])
    pictures[:, 22:24, 40:52] = 9
    for value in range(10):
        for bit in range(4):
            pictures[value, 24:30, 40 + 4 * bit : 44 + 4 * bit] = 9 * (value >> bit & 1)
    assert find_cells(pictures, range(10)) == []


@pytest.mark.parametrize("axis", [0, 1])
def test_a_sprite_that_moves_is_no_digit(axis: int) -> None:
    pictures = np.stack([canvas() for _ in range(10)])
    for value in range(10):
        down, side = (value, 0) if axis == 0 else (0, value)
        pictures[value, 20 + down : 27 + down, 40 + side : 45 + side][SMALL[5]] = 9
    assert find_cells(pictures, range(10)) == []


def test_a_bar_that_grows_reads_as_no_number() -> None:
    """Its ten pictures differ, so it may be a cell, but a game's font it does not share."""
    pictures = np.stack([canvas() for _ in range(10)])
    for value in range(10):
        pictures[value, 20:27, 40 : 40 + 3 * value] = 9
    for cell in find_cells(pictures, range(10)):
        assert same_font(cell, font_cell()) == 0


# -- fonts -----------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    right=st.integers(20, 190),
    top=st.integers(0, 50),
    colours=st.tuples(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF)),
)
def test_one_font_anywhere_in_any_colours(right: int, top: int, colours: tuple[int, int]) -> None:
    assume(colours[0] != colours[1])
    other = font_cell("5x7", right, top, paper=colours[0], ink=colours[1])
    assert same_font(font_cell(), other) >= 9
    assert same_font(other, font_cell()) >= 9


def test_fonts_of_another_size_or_shape_differ() -> None:
    assert same_font(font_cell("5x7"), font_cell("10x14")) == 0
    flipped = only(find_cells(ten()[:, ::-1], range(10)))
    assert same_font(font_cell(), flipped) <= 5


def test_a_cell_that_blanks_its_zero_shares_the_rest() -> None:
    blanked = only(find_cells(ten(blank_zero=True), range(10)))
    assert same_font(font_cell(), blanked) == 9


# -- reading ---------------------------------------------------------------------------------------


@st.composite
def scenes(draw_: st.DrawFn) -> tuple[Cell, int, int, Pictures]:
    """A font taught in one place, and a number drawn there in the same or other colours."""
    font = draw_(st.sampled_from(sorted(FONTS)))
    width = FONTS[font].shape[2]
    places = draw_(st.integers(1, 8))
    pitch = draw_(st.integers(width + 1, 2 * width))
    right = draw_(st.integers(min(WIDTH, places * pitch + width), WIDTH))
    top = draw_(st.integers(0, HEIGHT - 14))
    number = draw_(st.integers(0, 10**places - 1))
    text = draw_(st.sampled_from([str(number), f"{number:0{places}}", f"{number:>{places}}"]))
    paper, ink = draw_(st.permutations(range(5)))[:2]
    cell = font_cell(font, right, top)
    picture = canvas(paper)
    draw(picture, text, right, top, pitch, font, ink)
    return cell, pitch, number, picture


@settings(max_examples=60)
@given(scenes())
def test_any_number_reads_back(
    scene: tuple[Cell, int, int, Pictures],
) -> None:
    cell, pitch, number, picture = scene
    assert Line(cell, pitch).read(picture) == number


@settings(max_examples=40)
@given(scenes(), st.integers(0, 2**32 - 1))
def test_noise_outside_the_line_does_not_matter(
    scene: tuple[Cell, int, int, Pictures], seed: int
) -> None:
    cell, pitch, number, picture = scene
    noise = np.random.default_rng(seed).integers(0, 9, picture.shape).astype(np.uint16)
    line = slice(cell.top, cell.bottom)
    noise[line] = picture[line]
    noise[line, cell.right :] = 3  # and to its right
    assert Line(cell, pitch).read(noise) == number


def test_a_pitch_between_two_pixels_is_followed() -> None:
    picture, cell = canvas(), font_cell("5x7", 190, 20)
    for place, char in enumerate(reversed("9876543210")):
        right = round(190 - 8.4 * place)
        picture[20:27, right - 5 : right][SMALL[int(char)]] = 9
    assert Line(cell, 8.4).read(picture) == 9876543210


@pytest.mark.parametrize("number", [0, 7, 42, 305, 98_765])
def test_a_centred_number_is_read_whatever_its_length(number: int) -> None:
    """Its right end moves by half a pitch for each digit more."""
    picture, text = canvas(), str(number)
    draw(picture, text, 100 + 4 * len(text), 20, 8, "5x7")
    full = font_cell("5x7", 100 + 4 * 6)
    assert Line(full, 8, floats=True).read(picture) == number
    assert Line(full, 8).read(picture) is None


def test_a_number_that_begins_at_the_left_is_read_whatever_its_length() -> None:
    full = font_cell("5x7", 100)
    for text in ("4", "42", "4290"):
        picture = canvas()
        draw(picture, text, 60 + 8 * len(text), 20, 8, "5x7")
        assert Line(full, 8, floats=True).read(picture) == int(text)


def test_where_no_number_floats_none_is_read() -> None:
    assert Line(font_cell(), 8, floats=True).read(canvas()) is None


@pytest.mark.parametrize("slant", [(0, 1, 2, 1), (0, -1, -2, -1), (2, 0, -2, 0)], ids=str)
def test_digits_that_stand_higher_or_lower_are_read(slant: tuple[int, ...]) -> None:
    picture = canvas()
    for place, (char, down) in enumerate(zip("5183", slant, strict=True)):
        draw(picture, char, 100 - 8 * place, 20 + down, 8, "5x7")
    assert Line(font_cell(), 8).read(picture) == 3815


def test_what_stands_far_lower_is_another_line() -> None:
    picture = canvas()
    draw(picture, "3", 100, 20, 8, "5x7")
    draw(picture, "4", 92, 23, 8, "5x7")
    assert Line(font_cell(), 8).read(picture) == 3


def test_an_empty_or_foreign_place_ends_the_number() -> None:
    cell, line = font_cell(), Line(font_cell(), 8)
    picture = canvas()
    assert line.read(picture) is None
    draw(picture, "7 42", 100, 20, 8, "5x7")
    assert line.read(picture) == 42
    picture[20:27, 95:100] = np.eye(7, 5, dtype=np.uint16) * 9
    assert read_digit(cell, cell.cut(picture)) is None
    assert line.read(picture) is None


def test_at_the_edge_of_the_picture_a_number_ends() -> None:
    picture = canvas()
    draw(picture, "12", 13, 20, 8, "5x7")
    assert Line(font_cell("5x7", 13), 8).read(picture) == 12


def test_a_line_reads_no_more_places_than_asked() -> None:
    picture = canvas()
    draw(picture, "123456", 100, 20, 8, "5x7")
    assert Line(font_cell(), 8).read(picture, most=3) == 456


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_drawn_zeros_are_counted(zeros: int) -> None:
    pictures = []
    for number in (3, 47, 120):
        pictures.append(canvas())
        draw(pictures[-1], str(number) + "0" * zeros, 100 + 8 * zeros, 20, 8, "5x7")
    assert right_of(Line(font_cell(), 8), np.stack(pictures)) == (zeros, False)


def test_a_zero_that_is_not_always_there_is_no_drawn_zero() -> None:
    pictures = np.stack([canvas(), canvas()])
    for picture, text in zip(pictures, ("50", "51"), strict=True):
        draw(picture, text, 108, 20, 8, "5x7")
    assert right_of(Line(font_cell(), 8), pictures) == (0, True)


@pytest.mark.parametrize(("held", "changing"), [(100, False), (92, True)])
def test_a_floating_number_misses_no_last_place(held: int, changing: bool) -> None:
    """Its right end moves, and what stands right of that is looked at."""
    pictures = np.stack([canvas() for _ in range(3)])
    for picture, text in zip(pictures, ("47", "938", "1205"), strict=True):
        draw(picture, text, 100, 20, 8, "5x7")
    line = Line(font_cell("5x7", held), 8, floats=True)
    assert right_of(line, pictures) == (0, changing)


@pytest.mark.parametrize("digit", range(10))
def test_a_digit_on_paper_of_two_colours_is_read(digit: int) -> None:
    """Its strokes are one colour; the commonest of the others is not all of the rest."""
    cell, strokes = font_cell(), FONTS["5x7"][digit]
    inverse = replace(cell, glyphs={number: ~glyph for number, glyph in cell.glyphs.items()})
    part = np.where(strokes, 9, 3).astype(np.uint16)
    rest = np.argwhere(~strokes)[::5]
    part[rest[:, 0], rest[:, 1]] = 4
    assert read_digit(inverse, part) == digit


def test_glyphs_in_the_other_polarity_read_back() -> None:
    cell = font_cell()
    inverse = replace(cell, glyphs={digit: ~glyph for digit, glyph in cell.glyphs.items()})
    picture = canvas()
    draw(picture, "805", 100, 20, 8, "5x7")
    assert Line(inverse, 8).read(picture) == 805
    assert same_font(cell, inverse) == 10


def as_pixels(glyph: NDArray[np.bool_]) -> Pictures:
    return glyph.astype(np.uint16)


@pytest.mark.parametrize("digit", range(10))
def test_one_wrong_pixel_in_seventy_does_no_harm(digit: int) -> None:
    cell = font_cell("10x14")
    part = as_pixels(FONTS["10x14"][digit])
    part[6:8, 4] ^= 1
    assert read_digit(cell, part) == digit
