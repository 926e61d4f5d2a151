"""The prompts a visitor starts from. Each set shows one thing, and opens at the step of it."""

import re
from dataclasses import dataclass, replace
from functools import cache

from pages.figures.prefix_point import point
from pages.figures.prefix_tokens import QUOTED, WORDS, Tokens
from pages.ui.prompts import IDS, Prompt, scenario_of
from sim.documented import BLOCKS_DRAWN
from sim.scenario import Scenario, Version
from sim.simulate import simulate

BYTES_BLOCK_SIZE = 16


@dataclass(frozen=True, slots=True)
class PromptExample:
    """Prompts and settings, their name in links, and what they show in one sentence.

    `shows` has its numbers computed (pages/figures/prefix_point.py). `step` is where it shows,
    `request` and `block` the logical block that is asked about.
    """

    slug: str
    title: str
    shows: str
    step: int
    request: str
    block: int
    block_size: int
    num_gpu_blocks: int
    prompts: tuple[Prompt, ...]
    version: Version = "0.26.0"
    tokens: Tokens = "words"

    def prompt(self, id: str) -> Prompt:
        """What a request starts from; one more than there are repeats the first."""
        index = IDS.index(id)
        if index < len(self.prompts):
            return self.prompts[index]
        return Prompt(self.prompts[0].text, self.prompts[-1].arrives + 1, 4)

    @property
    def scenario(self) -> Scenario:
        """What is simulated as long as nothing is changed."""
        sizes = (self.block_size, self.num_gpu_blocks)
        return scenario_of(self.title, self.prompts, *sizes, self.version, self.tokens)

    @property
    def keys(self) -> str:
        """What the names of its controls start with, in links too."""
        return self.slug if self.tokens == "words" else f"{self.slug}.{self.tokens}"

    def cut_into(self, tokens: Tokens) -> "PromptExample":
        """The same with other tokens: its words numbered, or larger blocks for its bytes."""
        if tokens == "bytes":
            return replace(self, tokens=tokens, block_size=BYTES_BLOCK_SIZE)
        if tokens == "ids":
            return replace(self, tokens=tokens, prompts=_numbered(self.prompts))
        return self


def other_version(version: Version) -> Version:
    """The free order that a version does not have."""
    return "before 0.26" if version == "0.26.0" else "0.26.0"


@cache
def point_of(example: PromptExample) -> str:
    """What an example shows, with the numbers of its run.

    Bytes fall into other blocks than words, so in bytes it may show something else.
    """
    if example.tokens == "bytes":
        return f"The same text in bytes, in blocks of {example.block_size}: cut at other places."
    scenario = example.scenario
    other = replace(scenario, version=other_version(scenario.version))
    return point(example.shows, simulate(scenario), simulate(other))


def _numbered(prompts: tuple[Prompt, ...]) -> tuple[Prompt, ...]:
    """Each word a number, in the order in which they first come; quoted answers stay."""
    cut = [WORDS.findall(prompt.text) for prompt in prompts]
    words = dict.fromkeys(word for text in cut for word in text if not re.fullmatch(QUOTED, word))
    numbers = {word: str(number) for number, word in enumerate(words, 1)}
    texts = [" ".join(numbers.get(word, word) for word in text) for text in cut]
    return tuple(replace(prompt, text=text) for prompt, text in zip(prompts, texts, strict=True))


STATION = "You are a helpful assistant . Answer in French : Where is the nearest station ?"
GERMAN = STATION.replace("French", "German")
POEM = "Write a short poem about the sea , in four lines , and let it rhyme"
SYSTEM = "You are a librarian . Be brief ."
HOT = "Answer as a pirate would , in one line : why is"

TURN_1 = "Which river runs through Paris ?"
TURN_2 = f"{TURN_1} A·0 A·1 A·2 A·3 A·4 A·5 How long is it ?"
TURN_3 = f"{TURN_2} B·0 B·1 B·2 B·3 And where does it end ?"

LETTERS = "A B C D E F G H I J K L M N O"  # 15 tokens

DOCUMENTED = PromptExample(
    "documented",
    "vLLM’s documented example",
    "A, B, C are requests 0, 1, 2 of vLLM’s design page, in the free order of its time: C hits "
    "blocks {C.found} and takes {C.taken}; in the order of 0.26.0 it takes {other[C].taken}. The "
    "page draws no null block: its block k is k + 1 here.",
    step=6,
    request="C",
    block=3,
    block_size=4,
    num_gpu_blocks=BLOCKS_DRAWN + 1,
    prompts=(
        Prompt(LETTERS, 0, 4),
        Prompt(f"{LETTERS[:19]} p q r s", 3, 2),
        Prompt(f"{LETTERS[:23]} a b c d e f g h i j k l m n o p q", 6, 2),
    ),
    version="before 0.26",
)

PROMPT_EXAMPLES = (
    PromptExample(
        "one-word",
        "One word differs",
        "B differs from A in one word and hits {B.hit} of its {B.tokens} tokens. C differs in none "
        "and hits {C.hit}, D only in its salt and hits {D.hit}.",
        step=4,
        request="B",
        block=2,
        block_size=4,
        num_gpu_blocks=24,
        prompts=(
            Prompt(STATION, 0, 7),
            Prompt(GERMAN, 2, 6),
            Prompt(STATION, 3, 7),
            Prompt(STATION, 4, 8, "team-2"),
        ),
    ),
    DOCUMENTED,
    PromptExample(
        "system",
        "Shared system prompt",
        "B, C and D each hit the {B.hit} tokens of the system prompt that A computed: of "
        "{all.tokens} prompt tokens {all.computed} are computed.",
        step=3,
        request="D",
        block=1,
        block_size=4,
        num_gpu_blocks=24,
        prompts=(
            Prompt(f"{SYSTEM} Who wrote Emma ?", 0, 8),
            Prompt(f"{SYSTEM} When was Faust written ?", 1, 7),
            Prompt(f"{SYSTEM} Is Dune a trilogy ?", 2, 6),
            Prompt(f"{SYSTEM} Name two poets .", 3, 6),
        ),
    ),
    PromptExample(
        "chat",
        "Chat of three turns",
        "Each turn’s prompt is all that was said before, and a question; A·0 is the first token of "
        "A’s answer. B hits {B.hit} of {B.tokens} tokens, C {C.hit} of {C.tokens}: the answers "
        "too, as far as they fill blocks.",
        step=10,
        request="C",
        block=3,
        block_size=4,
        num_gpu_blocks=24,
        prompts=(Prompt(TURN_1, 0, 6), Prompt(TURN_2, 6, 4), Prompt(TURN_3, 10, 4)),
    ),
    PromptExample(
        "exact",
        "Exactly full blocks",
        "B’s {B.tokens} tokens are A’s and fill their blocks, yet {B.hit} hit: the last block is "
        "computed again, into block {B.taken}, and two blocks have its hash.",
        step=1,
        request="B",
        block=3,
        block_size=4,
        num_gpu_blocks=16,
        prompts=(Prompt(STATION, 0, 6), Prompt(STATION, 1, 6)),
    ),
    PromptExample(
        "one-step",
        "The same prompt, in one step",
        "A block has its hash as soon as it is scheduled: in A’s own step B and C hit {B.hit} of "
        "{B.tokens} tokens that A has yet to compute.",
        step=0,
        request="B",
        block=3,
        block_size=4,
        num_gpu_blocks=24,
        prompts=(
            Prompt(STATION, 0, 5),
            Prompt(STATION, 0, 4),
            Prompt(STATION, 0, 6),
        ),
    ),
    PromptExample(
        "eviction",
        "Eviction",
        "A is gone when C asks for the same words. B has taken blocks since, and C hits {C.hit} of "
        "{C.tokens} tokens: what B has not taken is still there.",
        step=7,
        request="C",
        block=2,
        block_size=4,
        num_gpu_blocks=8,
        prompts=(
            Prompt(STATION, 0, 2),
            Prompt(POEM, 3, 3),
            Prompt(STATION, 7, 3),
            Prompt(POEM, 11, 3),
        ),
    ),
    PromptExample(
        "partial",
        "Hot prefix, partial blocks",
        "B and C never fill a block. Before 0.26 what they gave back went to the tail, and C took "
        "the hot block {C.taken} at the head: D hits {D.hit} of {D.tokens} tokens. In the order of "
        "0.26.0 C takes block {other[C].taken}, which B gave back, and D hits {other[D].hit}.",
        step=6,
        request="D",
        block=2,
        block_size=4,
        num_gpu_blocks=5,
        prompts=(
            Prompt(f"{HOT} snow white ?", 0, 2),
            Prompt("Hello !", 2, 2),
            Prompt("Thanks .", 4, 2),
            Prompt(f"{HOT} coal black ?", 6, 2),
        ),
        version="before 0.26",
    ),
)
