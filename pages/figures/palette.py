"""Colours by meaning, once for the figures and the player, light and dark.

Hue says whose, treatment says what state, ink says now; all other colour is grey. A hue's fill
never stands without its edge: the edge carries the 3:1 contrast that a bright fill cannot.
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """The colours of one request: fill, edge (also its lines and words), tint, text on the fill."""

    name: str
    fill: str
    edge: str
    tint: str
    on_fill: str


@dataclass(frozen=True, slots=True)
class Mosaic:
    """Above 1,024 blocks lightness is the state."""

    free: str
    cached: str
    used: str
    shared: str


@dataclass(frozen=True, slots=True)
class Theme:
    """All colours of one theme; `owners` in the order they are given out, `rest` for all others."""

    name: str
    bg: str
    surface: str
    sunken: str
    ink: str
    text: str
    muted: str
    rule: str
    line: str
    owners: tuple[Owner, ...]
    rest: Owner
    mosaic: Mosaic


def mix(over: str, under: str, share: float) -> str:
    """`share` of the colour `over` painted on `under`, both `#RRGGBB`."""
    pairs = zip(bytes.fromhex(over[1:]), bytes.fromhex(under[1:]), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02X}" for a, b in pairs)


def owner(name: str, fill: str, edge: str, on_fill: str, bg: str) -> Owner:
    """An owner whose tint is 16 % of its fill over `bg`."""
    return Owner(name, fill, edge, mix(fill, bg, 0.16), on_fill)


WHITE, BLACK = "#FFFFFF", "#0B0E13"
DARK_BG = "#0E1117"

LIGHT = Theme(
    name="light",
    bg=WHITE,
    surface="#F6F7F9",
    sunken="#ECEFF3",
    ink="#161B24",
    text="#262D38",
    muted="#566072",
    rule="#7D8897",
    line="#D5DAE1",
    owners=(
        owner("blue", "#0072B2", "#00517F", WHITE, WHITE),
        owner("orange", "#E69F00", "#8A5D00", BLACK, WHITE),
        owner("sky", "#56B4E9", "#1A6A9C", BLACK, WHITE),
        owner("vermillion", "#C24A00", "#8C3500", WHITE, WHITE),
        owner("green", "#009E73", "#00664A", BLACK, WHITE),
        owner("yellow", "#EBDD3C", "#6B6200", BLACK, WHITE),
        owner("purple", "#CC79A7", "#8F3F6D", BLACK, WHITE),
    ),
    rest=owner("rest", "#6B7686", "#475263", WHITE, WHITE),
    mosaic=Mosaic(free="#F1F3F6", cached="#8D98A8", used="#465160", shared="#05070A"),
)

DARK = Theme(
    name="dark",
    bg=DARK_BG,
    surface="#161B24",
    sunken="#1F2632",
    ink="#F4F6FA",
    text="#E3E8F0",
    muted="#A3AEBF",
    rule="#717D90",
    line="#323B4A",
    owners=(
        owner("blue", "#2A8BD0", "#7CC0F0", BLACK, DARK_BG),
        owner("orange", "#F0A21C", "#FFC766", BLACK, DARK_BG),
        owner("sky", "#8AD0F6", "#B9E4FB", BLACK, DARK_BG),
        owner("vermillion", "#E0622A", "#FF9A6B", BLACK, DARK_BG),
        owner("green", "#1FA67D", "#5CD3AF", BLACK, DARK_BG),
        owner("yellow", "#F2E65A", "#F8F0A0", BLACK, DARK_BG),
        owner("purple", "#E39BC5", "#F4BEDC", BLACK, DARK_BG),
    ),
    rest=owner("rest", "#8F9BAD", "#BAC4D2", BLACK, DARK_BG),
    mosaic=Mosaic(free="#1B212B", cached="#556174", used="#8E9AAD", shared="#F4F6FA"),
)


def tokens() -> dict[str, dict[str, object]]:
    """Both themes as plain JSON, as the player's scripts receive them."""
    return {theme.name: asdict(theme) for theme in (LIGHT, DARK)}
