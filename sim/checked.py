"""Values of a scenario, checked as they are read: what is wrong is said in one sentence."""

from dataclasses import MISSING, fields
from typing import Any


class ScenarioError(ValueError):
    """An input that cannot be simulated: one sentence, and the `field` it is about."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def take(cls: type, data: dict[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass that a JSON object has, each of the right type; no others.

    Raises ScenarioError when one without a default is missing.
    """
    values = {}
    for spec in fields(cls):
        if spec.name in data:
            values[spec.name] = _typed(spec.name, _type_name(spec.type), data[spec.name])
        elif spec.default is MISSING and spec.name != "prompt":
            raise ScenarioError(spec.name, f"{spec.name} is missing.")
    return values


def _type_name(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _typed(name: str, kind: str, value: Any) -> Any:
    if "int" in kind and "tuple" not in kind:
        wrong = not (isinstance(value, int) and not isinstance(value, bool))
        if wrong and not (value is None and "None" in kind):
            raise ScenarioError(name, f"{name} is {value!r}; a whole number would do.")
    if kind == "bool" and not isinstance(value, bool):
        raise ScenarioError(name, f"{name} is {value!r}; true or false would do.")
    optional = value is None and "None" in kind
    if kind.startswith("str") and not optional and not isinstance(value, str):
        raise ScenarioError(name, f"{name} is {value!r}; text would do.")
    if kind.startswith("float") and not optional and not isinstance(value, int | float):
        raise ScenarioError(name, f"{name} is {value!r}; a number would do.")
    if kind.startswith("tuple[int") and value is not None:
        return integers(name, value)
    return value


def integers(name: str, values: Any) -> tuple[int, ...]:
    """A JSON list of whole numbers as a tuple."""
    if not isinstance(values, list | tuple) or not all(type(v) is int for v in values):
        raise ScenarioError(name, f"{name} is not a list of whole numbers.")
    return tuple(values)


def objects(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """A JSON list of objects under a name; empty when there is none."""
    rows = data.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ScenarioError(name, f"{name} is not a list of JSON objects.")
    return rows


def within(field: str, value: int, low: int, high: int, unit: str) -> None:
    """Raise ScenarioError unless a value is a whole number from low to high."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ScenarioError(field, f"{field} is {value}; {low:,} to {high:,} {unit} would do.")
