"""The prompts a visitor starts from. Each set shows one thing, and opens at the step of it."""

from dataclasses import dataclass

from pages.ui.prompts import IDS, Prompt, scenario_of
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class PromptExample:
    """Prompts and settings, their name in links, and what they show in one sentence.

    `step` is where it shows, `request` and `block` the logical block that is asked about.
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

    def prompt(self, id: str) -> Prompt:
        """What a request starts from; one more than there are repeats the first."""
        index = IDS.index(id)
        if index < len(self.prompts):
            return self.prompts[index]
        return Prompt(self.prompts[0].text, self.prompts[-1].arrives + 1, 4)

    @property
    def scenario(self) -> Scenario:
        """What is simulated as long as nothing is changed."""
        return scenario_of(self.title, self.prompts, self.block_size, self.num_gpu_blocks)


STATION = "You are a helpful assistant . Answer in French : Where is the nearest station ?"
GERMAN = STATION.replace("French", "German")
POEM = "Write a short poem about the sea , in four lines , and let it rhyme"

PROMPT_EXAMPLES = (
    PromptExample(
        "one-word",
        "One word differs",
        "B differs from A in one word, C in none, D in its salt.",
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
    PromptExample(
        "eviction",
        "Eviction",
        "A is gone when C asks for the same words: what B has not taken is still there.",
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
        "one-step",
        "The same prompt, in one step",
        "A block has its hash as soon as it is scheduled: B and C hit what A has yet to compute.",
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
)
