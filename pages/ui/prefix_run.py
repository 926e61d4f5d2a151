"""What Prefix sharing reads out of a run, once for every visitor who asks for the same."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st

from pages.figures.prefix import prefix_blob
from pages.figures.prefix_tables import free_queue, hash_chains, shared_blocks
from pages.figures.prefix_text import PrefixText
from pages.figures.prefix_tokens import Tokens
from pages.figures.prefix_versions import OLD_AND_NEW, at_step, differ
from pages.figures.prefix_views import answer, count_blocks, views
from pages.ui.recent import Recent
from sim.event_log import EventLog
from sim.events import EventKind
from sim.scenario import Scenario, Version
from sim.simulate import simulate

KEPT = 32


@dataclass(frozen=True)
class PrefixRun:
    """A log, its tokens in words, and the figures of it; shared by all sessions, so read only."""

    text: PrefixText
    steps: dict[tuple[Version, int], str] = field(default_factory=dict)
    tables_of: dict[int, dict[str, pd.DataFrame]] = field(default_factory=dict)
    blobs: dict[tuple[str, int], bytes] = field(default_factory=dict)

    @property
    def log(self) -> EventLog:
        """The run on screen."""
        return self.text.log

    def blob(self, request: str, block: int) -> bytes:
        """The log for the player, with the logical block that is asked about at first."""
        if (request, block) not in self.blobs:
            self.blobs[request, block] = prefix_blob(self.text, request, block)
        return self.blobs[request, block]

    @cached_property
    def views(self) -> tuple[str, str]:
        """The answer in words, and the three views of the same prompts."""
        counts = count_blocks(self.text)
        apart = simulate(replace(self.log.scenario, enable_prefix_caching=False))
        return answer(counts), views(counts, apart, self.text)

    @cached_property
    def versions(self) -> dict[Version, EventLog]:
        """The same prompts in both free orders."""
        mine = self.log.scenario
        return {
            version: self.log
            if version == mine.version
            else simulate(replace(mine, version=version))
            for version in OLD_AND_NEW
        }

    @cached_property
    def difference(self) -> str:
        """What the free order changes, in words."""
        return differ(self.versions)

    def held(self, version: Version, step: int) -> str:
        """Who holds which blocks at a step of a version, and what is free."""
        if (version, step) not in self.steps:
            self.steps[version, step] = at_step(self.versions[version], step)
        return self.steps[version, step]

    def tables(self, step: int) -> dict[str, pd.DataFrame]:
        """The step as tables, by their titles."""
        if step not in self.tables_of:
            frame = self.log.frame(step)
            self.tables_of[step] = {
                "Who shares what": shared_blocks(frame, self.text),
                "Hash chain": hash_chains(step, self.text.lookups, self.text),
                "Free queue": free_queue(frame, self.text),
            }
        return self.tables_of[step]


def physical(log: EventLog, step: int, request: str, logical: int) -> int | None:
    """The block that is a request's logical block at a step, or was it when it last had blocks."""
    frame = log.frame(step)
    table = frame.requests[request].block_table if request in frame.requests else ()
    if not table:
        index = [spec.id for spec in log.scenario.requests].index(request)
        columns, end = log.columns, int(log.columns["schedule_end"][step])
        released = columns["kind"][:end] == EventKind.RELEASE
        rows = np.flatnonzero(released & (columns["request"][:end] == index))
        table = tuple(log.payload(int(rows[-1])).tolist()[::-1]) if len(rows) else ()
    return table[logical] if logical < len(table) else None


@st.cache_resource(show_spinner=False)
def _recent() -> Recent[tuple[Scenario, Tokens], PrefixRun]:
    return Recent(KEPT)


def prefix_run(scenario: Scenario, log: EventLog, tokens: Tokens) -> PrefixRun:
    """What was read out of the log of a scenario, or will be when it is asked for."""
    run = _recent().get((scenario, tokens))
    if run is None:
        run = PrefixRun(PrefixText(log, tokens))
        _recent().put((scenario, tokens), run)
    return run
