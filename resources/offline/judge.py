"""The `judge` role.

Belongs here: the judge's report, which gives for each dimension what was right, wrong or missing
and its score, and ends in one dictionary of scores. No model is called.
"""

from __future__ import annotations

from resources.offline import scores as rules
from resources.offline.conversation import ChatRequest
from resources.offline.describe import listed, token
from resources.offline.evidence import Evidence, Wrong, gather
from resources.offline.material import labelled, sections
from resources.offline.picks import Picker
from resources.offline.vocabulary import COLOUR

_SHOWN = 3


def judge(request: ChatRequest) -> str:
    """Score an answer and say why."""
    message = request.last_user
    given = sections(message.text)
    question, answer = given.get("question", ""), given.get("answer", "")
    evidence = gather(labelled(message), question, given.get("reference", ""), answer)
    found = rules.scores(evidence, Picker("judge", question, answer))
    remarks = _remarks(evidence)
    blocks = [f"### {name}\n{remarks[name]}\nScore: {found[name]}" for name in rules.DIMENSIONS]
    return "\n\n".join([*blocks, f"### {rules.OVERALL}\nScore: {found[rules.OVERALL]}", str(found)])


def _remarks(evidence: Evidence) -> dict[str, str]:
    """Return the sentences that explain each dimension."""
    if evidence.refusal or evidence.letter or evidence.words == 0:
        what = "a refusal" if evidence.refusal else "a bare letter" if evidence.letter else "empty"
        return dict.fromkeys(rules.DIMENSIONS, f"The answer is {what} and states nothing.")
    return {
        rules.CREATIVITY: _creativity(evidence),
        rules.RICHNESS: _richness(evidence),
        rules.PERCEPTION: _perception(evidence),
        rules.COHERENCE: _coherence(evidence),
        rules.ACCURACY: _accuracy(evidence),
        rules.RELATIONSHIP: _relationship(evidence),
    }


def _creativity(evidence: Evidence) -> str:
    if not evidence.interpretive:
        return "Nothing is interpreted beyond what is listed."
    number = len(evidence.interpretive)
    ground = "and they rest on what is seen" if evidence.precision > 0.8 else "on weak ground"
    return f"{number} interpretive turn{'s' * (number > 1)} found, {ground}."


def _richness(evidence: Evidence) -> str:
    stated = len(evidence.right) + len(evidence.wrong)
    text = f"{stated} visual facts are stated in {evidence.words} words."
    left_out = [f"the {kind} of {token(number)}" for number, kind in evidence.missing[:_SHOWN]]
    return f"{text} Missing: {listed(left_out)}." if left_out else text


def _perception(evidence: Evidence) -> str:
    if evidence.wrong:
        return f"Wrong: {'; '.join(_correction(item) for item in evidence.wrong[:_SHOWN])}."
    if not evidence.right:
        return "No visual fact of the pictures asked about is stated."
    seen = [f"{claim.value} for {token(claim.image)}" for claim in evidence.right[:_SHOWN]]
    return f"Right: {listed(seen)}, with no wrong statement found."


def _correction(item: Wrong) -> str:
    claim = item.claim
    truth = f"the picture is mostly {item.right}" if claim.kind == COLOUR else ""
    truth = truth or f"its {claim.kind} is {item.right}"
    return f"says {claim.value} for {token(claim.image)}, {truth}"


def _coherence(evidence: Evidence) -> str:
    if evidence.contradictions:
        number, kind = evidence.contradictions[0]
        return f"It contradicts itself on the {kind} of {token(number)}."
    if evidence.wrong:
        return f"The reasoning rests in part on wrong statements, {len(evidence.wrong)} in number."
    if not evidence.right:
        return "The sentences follow one another, and no argument about the pictures is made."
    links = evidence.connectives
    return f"It holds together, with {links} kinds of connective and no contradiction."


def _accuracy(evidence: Evidence) -> str:
    if not evidence.unmatched:
        return "It agrees with the reference on all that the reference states."
    lost = [f"{claim.value} for {token(claim.image)}" for claim in evidence.unmatched[:_SHOWN]]
    return f"The reference also states {listed(lost)}, and the answer does not."


def _relationship(evidence: Evidence) -> str:
    if not evidence.covered:
        return "Nothing right is said of any picture asked about."
    if len(evidence.asked) == 1:
        name = token(evidence.asked[0])
        told = "names" if evidence.named else "speaks of"
        return f"It {told} {name}, the picture asked about." + (
            " Some statements do not fit that picture." if evidence.wrong else ""
        )
    if evidence.swapped:
        claim = evidence.swapped[0]
        return f"It mixes pictures up: {claim.value} is said of {token(claim.image)}, not its own."
    seen = {claim.image for claim in evidence.right}
    lost = [token(number) for number in evidence.asked if number not in seen]
    if lost:
        return f"Nothing right is said of {listed(lost)}."
    number = len(evidence.relations)
    return f"Every picture asked about is told of, with {number} kinds of relation."
