"""What the lookups of a run found, in numbers, for the sentence that says an example's point."""

from collections.abc import Mapping
from dataclasses import dataclass

from sim.event_log import EventLog
from sim.verdict import Lookup, lookups


@dataclass(frozen=True, slots=True)
class Found:
    """What a request found when it was first let in: tokens, tokens hit, its blocks."""

    tokens: int
    hit: int
    table: tuple[int, ...]
    num_hits: int

    @property
    def computed(self) -> int:
        """Tokens that were not in the cache."""
        return self.tokens - self.hit

    @property
    def found(self) -> str:
        """The blocks it hit."""
        return _list(self.table[: self.num_hits])

    @property
    def taken(self) -> str:
        """The blocks it took from the free queue."""
        return _list(self.table[self.num_hits :])


def first_lookups(log: EventLog) -> list[Lookup]:
    """The lookup of each request that was let in, without those after a preemption."""
    return [lookup for lookup in lookups(log) if not lookup.resumed]


def found(log: EventLog) -> dict[str, Found]:
    """What each request found, by its id."""
    return {
        log.scenario.requests[lookup.request].id: _found(log, lookup)
        for lookup in first_lookups(log)
    }


def point(sentence: str, log: EventLog, other: EventLog) -> str:
    """A sentence with its numbers: `{B.hit}` is of `log`, `{other[B].hit}` of the other run,
    and `{all.hit}` of all requests together."""
    mine = found(log)
    return sentence.format_map({**mine, "all": _all(mine), "other": found(other)})


def _found(log: EventLog, lookup: Lookup) -> Found:
    return Found(
        lookup.num_tokens,
        lookup.num_hits * log.scenario.block_size,
        prompt_blocks(log, lookup),
        lookup.num_hits,
    )


def prompt_blocks(log: EventLog, lookup: Lookup) -> tuple[int, ...]:
    """The physical blocks of a prompt as it was let in."""
    name = log.scenario.requests[lookup.request].id
    num_blocks = -(-lookup.num_tokens // log.scenario.block_size)
    return log.frame(lookup.step).requests[name].block_table[:num_blocks]


def _all(each: Mapping[str, Found]) -> Found:
    tokens = sum(one.tokens for one in each.values())
    return Found(tokens, sum(one.hit for one in each.values()), (), 0)


def _list(blocks: tuple[int, ...]) -> str:
    *first, last = map(str, blocks or ("none",))
    return f"{', '.join(first)} and {last}" if first else last
