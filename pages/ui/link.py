"""A scenario as text that fits in a link, and back.

The text is the scenario's own JSON, deflated, in the URL-safe base64 alphabet without padding.
"""

import base64
import json
import zlib
from typing import Any

from sim.checked import ScenarioError
from sim.scenario import Scenario

MAX_CHARS = 16_000  # a longer address is cut by some browsers and most proxies
MAX_BYTES = 2_000_000  # of JSON: a few deflated kilobytes can unfold to gigabytes


def encode(data: dict[str, Any]) -> str:
    """A JSON object as link text; the same object always gives the same text."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(zlib.compress(text, 9)).rstrip(b"=").decode()


def decode(text: str) -> Any:
    """The object of `encode`. Raises ScenarioError, in one sentence, when the text is no such."""
    if len(text) > MAX_CHARS:
        raise _unreadable(f"it has {len(text):,} characters, and at most {MAX_CHARS:,} would do")
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
        return json.loads(zlib.decompressobj().decompress(packed, MAX_BYTES))
    except (ValueError, zlib.error, RecursionError):
        raise _unreadable("it was cut or changed; copy it once more") from None


def encode_scenario(scenario: Scenario) -> str:
    """A scenario as link text."""
    return encode(scenario.to_json())


def decode_scenario(text: str) -> Scenario:
    """The scenario of `encode_scenario`, checked like a typed one.

    Raises ScenarioError, in one sentence, when the text is no scenario.
    """
    return Scenario.from_json(decode(text))


def _unreadable(why: str) -> ScenarioError:
    return ScenarioError("scenario", f"the scenario in this link cannot be read: {why}.")
