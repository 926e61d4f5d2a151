"""A scenario as text that fits in a link, and back.

The text is the scenario's own JSON, deflated, in the URL-safe base64 alphabet without padding. Of a
scenario that is too large for that, a link says what its file is called.
"""

import base64
import json
import zlib
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Self

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


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """What a link says of a scenario that is too large for it; `digest` is of its JSON."""

    name: str
    digest: str

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """What is said of this one."""
        text = json.dumps(scenario.to_json(), sort_keys=True)
        return cls(scenario.name, sha256(text.encode()).hexdigest()[:12])

    @classmethod
    def from_link(cls, text: str) -> Self:
        """The file of a link. Raises ScenarioError when it is not one."""
        data = decode(text)
        is_named = isinstance(data, dict) and set(data) == {"name", "digest"}
        if not is_named or not all(isinstance(value, str) for value in data.values()):
            raise ScenarioError("file", "the file in this link cannot be read; copy it once more.")
        return cls(**data)

    @property
    def wanted(self) -> str:
        """What a visitor of the link is asked for, in one sentence."""
        return (
            f"This link shows “{self.name}”, a scenario too large for a link "
            f"(SHA-256 {self.digest}…): open its file to see it."
        )


def link_of(scenario: Scenario) -> dict[str, str]:
    """A scenario in the query string: itself as `scenario`, or when it is too large its `file`."""
    text = encode_scenario(scenario)
    if len(text) <= MAX_CHARS:
        return {"scenario": text}
    return {"file": encode(asdict(ScenarioFile.of(scenario)))}


def _unreadable(why: str) -> ScenarioError:
    return ScenarioError("scenario", f"the scenario in this link cannot be read: {why}.")
