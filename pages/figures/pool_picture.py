"""The pool of a frame as one image: lightness is the state, hue whose block it is."""

import numpy as np

from pages.figures.palette import Theme
from sim.columns import Column
from sim.frame import Frame

WIDTH = 1_024  # pixels
LEVELS = ((1_024, 64), (16_384, 256))  # blocks, and how many of them a row has
WIDEST = 512  # blocks in a row of a larger pool


def pool_picture(frame: Frame, hues: dict[str, int], theme: Theme) -> Column:
    """RGB pixels [height, WIDTH, 3]; `hues` are those of the requests in focus, by id."""
    colours = block_colours(frame, hues, theme)
    columns = next((row for most, row in LEVELS if len(colours) <= most), WIDEST)
    rows = -(-len(colours) // columns)
    image = np.full((rows * columns, 3), _rgb(theme.bg), np.uint8)
    image[: len(colours)] = colours
    cell = WIDTH // columns
    return image.reshape(rows, columns, 3).repeat(cell, 0).repeat(cell, 1)


def block_colours(frame: Frame, hues: dict[str, int], theme: Theme) -> Column:
    """The colour of each block: shared before hue, hue before used, used before cached."""
    held, mosaic = frame.ref_cnt, theme.mosaic
    colours = np.full((len(held), 3), _rgb(mosaic.free), np.uint8)
    colours[frame.prefix_id >= 0] = _rgb(mosaic.cached)
    colours[held > 0] = _rgb(mosaic.used)
    for request_id, hue in hues.items():
        colours[list(frame.requests[request_id].block_table)] = _rgb(theme.owners[hue].fill)
    colours[held > 1] = _rgb(mosaic.shared)
    return colours


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))
