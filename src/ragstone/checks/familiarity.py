"""Nobody has heard of the names."""

from typing import ClassVar

from ragstone.checks.open_names import has_name
from ragstone.errors import ConfigError
from ragstone.kit import Check, Kit, identity
from ragstone.llm.samples import WARM, sampled
from ragstone.prompts import quoted
from ragstone.slots import article
from ragstone.types import Draft, Entity, Question, Record, Verdict


class Acquaintance(Record):
    """What the probe says of a name; the facts come first, so that the verdict follows from them."""

    what: str
    knows: bool


class Familiarity(Check):
    """Rejects a question with a name of which a probe says, at any time, that it knows something particular."""

    needs: ClassVar = ("probe",)
    prompts: ClassVar = ("familiarity",)

    samples: int = identity(2, "how often each name is asked about", ge=1)

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        times = [(entity, number) for entity in named_entities(draft.question) for number in range(self.samples)]
        replies = sampled(lambda place, _: self.reply(*times[place], kit), len(times))
        for (entity, _), reply in zip(times, replies, strict=True):
            if reply.knows:
                return Verdict(passed=False, reason=f"{entity.name!r} is known: {' '.join(reply.what.split())}")
        return Verdict(passed=True)

    def reply(self, entity: Entity, number: int, kit: Kit) -> Acquaintance:
        if kit.probe is None:
            raise ConfigError(f"{self!r} needs a model as probe; set one with --model probe=SPEC")
        asked = self.prompt("familiarity").fill(name=quoted([introduced(entity)]))
        return kit.probe.ask_for(Acquaintance, asked, sample=number, temperature=WARM if number else 0.0)


def named_entities(question: Question) -> list[Entity]:
    """What the question is about, as far as its graph tells; each name once."""
    entities = question.graph.entities if question.graph else ()
    return list({entity.name: entity for entity in entities if has_name(entity.name)}.values())


def introduced(entity: Entity) -> str:
    """`Tamsin Velmark, a person`; a type that says nothing is left out."""
    told = entity.type not in ("", "other")
    return f"{entity.name}, {article(entity.type)} {entity.type}" if told else entity.name
