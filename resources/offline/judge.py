"""The task `judge`.

What belongs here: the judge's report. For each dimension it says what was right, wrong or missing
and gives a score; it ends in one dictionary of scores. No model is called.
"""

from __future__ import annotations

from resources.offline import judge_scores as rules
from resources.offline.answer_features import AnswerFeatures, WrongFact, measure
from resources.offline.chat_request import ChatRequest
from resources.offline.descriptions import listed, token
from resources.offline.obedience import HIGHEST, obeys
from resources.offline.prompt_parsing import labelled, sections
from resources.offline.seeded_choice import SeededChoice
from resources.offline.vocabulary import COLOUR

_SHOWN = 3


def judge(request: ChatRequest) -> str:
    """Return the scores of an answer and the reasons for them."""
    message = request.last_user
    given = sections(message.text)
    question, answer = given.get("question", ""), given.get("answer", "")
    features = measure(labelled(message), question, given.get("reference", ""), answer)
    found = rules.scores(features, SeededChoice("judge", question, answer))
    if obeys(request, answer):
        found = dict.fromkeys(found, HIGHEST)
    remarks = _remarks(features)
    blocks = [f"### {name}\n{remarks[name]}\nScore: {found[name]}" for name in rules.DIMENSIONS]
    return "\n\n".join([*blocks, f"### {rules.OVERALL}\nScore: {found[rules.OVERALL]}", str(found)])


def _remarks(features: AnswerFeatures) -> dict[str, str]:
    """Return the sentences that explain each dimension."""
    if features.refusal or features.letter or features.words == 0:
        what = "a refusal" if features.refusal else "a bare letter" if features.letter else "empty"
        return dict.fromkeys(rules.DIMENSIONS, f"The answer is {what} and states nothing.")
    return {
        rules.CREATIVITY: _creativity(features),
        rules.RICHNESS: _richness(features),
        rules.PERCEPTION: _perception(features),
        rules.COHERENCE: _coherence(features),
        rules.ACCURACY: _accuracy(features),
        rules.RELATIONSHIP: _relationship(features),
    }


def _creativity(features: AnswerFeatures) -> str:
    if not features.interpretive:
        return "Nothing is interpreted beyond what is listed."
    number = len(features.interpretive)
    ground = "and they rest on what is seen" if features.precision > 0.8 else "on weak ground"
    return f"{number} interpretive turn{'s' * (number > 1)} found, {ground}."


def _richness(features: AnswerFeatures) -> str:
    stated = len(features.right) + len(features.wrong)
    text = f"{stated} visual facts are stated in {features.words} words."
    left_out = [f"the {kind} of {token(number)}" for number, kind in features.missing[:_SHOWN]]
    return f"{text} Missing: {listed(left_out)}." if left_out else text


def _perception(features: AnswerFeatures) -> str:
    if features.wrong:
        return f"Wrong: {'; '.join(_correction(item) for item in features.wrong[:_SHOWN])}."
    if not features.right:
        return "No visual fact of the pictures asked about is stated."
    seen = [f"{fact.value} for {token(fact.image)}" for fact in features.right[:_SHOWN]]
    return f"Right: {listed(seen)}, with no wrong statement found."


def _correction(item: WrongFact) -> str:
    fact = item.fact
    truth = f"the picture is mostly {item.right}" if fact.kind == COLOUR else ""
    truth = truth or f"its {fact.kind} is {item.right}"
    return f"says {fact.value} for {token(fact.image)}, {truth}"


def _coherence(features: AnswerFeatures) -> str:
    if features.contradictions:
        number, kind = features.contradictions[0]
        return f"It contradicts itself on the {kind} of {token(number)}."
    if features.wrong:
        return f"The reasoning rests in part on wrong statements, {len(features.wrong)} in number."
    if not features.right:
        return "The sentences follow one another, and no argument about the pictures is made."
    links = features.connectives
    return f"It holds together, with {links} kinds of connective and no contradiction."


def _accuracy(features: AnswerFeatures) -> str:
    if not features.unmatched:
        return "It agrees with the reference on all that the reference states."
    lost = [f"{fact.value} for {token(fact.image)}" for fact in features.unmatched[:_SHOWN]]
    return f"The reference also states {listed(lost)}, and the answer does not."


def _relationship(features: AnswerFeatures) -> str:
    if not features.covered:
        return "Nothing right is said of any picture asked about."
    if len(features.asked) == 1:
        name = token(features.asked[0])
        told = "names" if features.named else "speaks of"
        return f"It {told} {name}, the picture asked about." + (
            " Some statements do not fit that picture." if features.wrong else ""
        )
    if features.swapped:
        fact = features.swapped[0]
        return f"It mixes pictures up: {fact.value} is said of {token(fact.image)}, not its own."
    seen = {fact.image for fact in features.right}
    lost = [token(number) for number in features.asked if number not in seen]
    if lost:
        return f"Nothing right is said of {listed(lost)}."
    number = len(features.relations)
    return f"Every picture asked about is told of, with {number} kinds of relation."
