"""What Wikimedia asks of robots, kept to without asking Wikimedia: no request is made here."""

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import anyio
import pytest

from methods.ingest.image_check import ImageRejected
from resources.images import host_pace, host_queue
from resources.images.host_pace import BUSY_SECONDS, HostPace, RequestSlot
from resources.images.host_queue import HostQueues, Job
from resources.web import host_pauses
from resources.web.host_pauses import HostPauses
from resources.wikipedia import api_client
from tests.doubles.virtual_time import VirtualTime

UPLOAD = "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.png"
OWL = "https://example.org/owl.png"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    clock = VirtualTime()
    for module in (host_pauses, host_pace, host_queue):
        monkeypatch.setattr(module, "time", clock)
    return clock


def in_virtual_time(scenario: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test whose waits take no time."""

    @wraps(scenario)
    def test(clock: VirtualTime, **given: Any) -> None:
        clock.run(lambda: scenario(clock=clock, **given))

    return test


def jobs(*addresses: str) -> list[Job]:
    return [Job(f"url {number}", address) for number, address in enumerate(addresses)]


def queues_of(*addresses: str, backoff: float = 1.0) -> HostQueues:
    return HostQueues(jobs(*addresses), HostPace(backoff, HostPauses()), lasts=35.0)


async def begun(queues: HostQueues) -> tuple[Job, RequestSlot]:
    while job := await queues.next():
        if isinstance(turn := await queues.begin(job), RequestSlot):
            return job, turn
        assert turn is None
    raise AssertionError("There is no job.")


async def begun_within(queues: HostQueues, seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        return bool(await begun(queues))
    return False


@in_virtual_time
async def test_wikimedia_is_asked_for_two_images_at_once(clock):
    queues = queues_of(UPLOAD, UPLOAD, UPLOAD)
    (first, turn), _ = await begun(queues), await begun(queues)
    assert not await begun_within(queues, 0.05)
    await queues.pace.answered(turn, 0)
    queues.done(first)
    assert await begun_within(queues, 5)


@in_virtual_time
async def test_wikimedia_is_asked_for_25_megabits_a_second(clock, monkeypatch):
    """Or here for 10,000 bytes: after an image of 2,000 the next may begin 0.2 seconds later."""
    assert api_client.BYTES_PER_SECOND * 8 == 25_000_000
    monkeypatch.setattr(api_client, "BYTES_PER_SECOND", 10_000)
    start = anyio.current_time()
    queues = queues_of(*[UPLOAD] * 3, *[OWL] * 3)
    times = {"upload.wikimedia.org": [], "example.org": []}
    for _ in range(6):
        job, turn = await begun(queues)
        times[turn.host].append(anyio.current_time() - start)
        await queues.pace.answered(turn, 2_000)
        queues.done(job)
    assert await queues.next() is None
    assert times["example.org"] == pytest.approx([0, 0, 0])
    assert times["upload.wikimedia.org"] == pytest.approx([0, 0.2, 0.4])
    # Two that come at once count together: the third may begin after 0.4 seconds.
    start = anyio.current_time()
    queues = queues_of(*[UPLOAD] * 3)
    for job, turn in [await begun(queues) for _ in range(2)]:
        await queues.pace.answered(turn, 2_000)
        queues.done(job)
    await begun(queues)
    assert anyio.current_time() - start == pytest.approx(0.4)


@in_virtual_time
async def test_requests_refused_together_are_one_refusal(clock):
    """Three under way at once: the pause is the first one's, not doubled by the other two."""
    queues = queues_of(*[OWL] * 3, backoff=0.1)
    taken = [await begun(queues) for _ in range(3)]
    await anyio.sleep(0.01)
    start = anyio.current_time()
    for job, turn in taken:
        await queues.pace.refused(turn, None)
        queues.again(job, job.address, last=True)
    assert await begun(queues)
    assert anyio.current_time() - start == pytest.approx(0.1)


@in_virtual_time
async def test_images_that_are_sent_on_to_another_host_leave_their_host_to_the_next(clock):
    queues = queues_of(*[UPLOAD] * 3)
    hosts = []
    while job := await queues.next():
        turn = await queues.begin(job)
        assert isinstance(turn, RequestSlot)
        await queues.pace.answered(turn, 0)
        hosts.append(turn.host)
        if job.address == UPLOAD:
            queues.again(job, OWL)
        else:
            queues.done(job)
    assert Counter(hosts) == {"upload.wikimedia.org": 3, "example.org": 3}


async def ended(queues, job, turn, answer: str, pause: float | None) -> None:
    """The host answers a request that has begun with `yes`, or refuses it for a pause with `no`."""
    if answer == "no":
        await queues.pace.refused(turn, pause)
        queues.again(job, job.address)
    else:
        await queues.pace.answered(turn, 10)
        queues.done(job)


@in_virtual_time
async def test_pauses_grow_to_a_minute_and_begin_anew_once_the_host_answers(clock):
    queues = queues_of(*[OWL] * 3, backoff=0.1)
    pauses = []
    job, turn = await begun(queues)
    for answer in ["no"] * 12 + ["yes", "no"]:
        start = anyio.current_time()
        await ended(queues, job, turn, answer, None)
        job, turn = await begun(queues)
        pauses.append(anyio.current_time() - start)
    growing = [0.1 * 2**n for n in range(10)]
    assert pauses == pytest.approx([*growing, 60, 60, 0, 0.1])


@pytest.mark.parametrize(
    ("rounds", "pause", "is_given_up"),
    [
        (["no", "no"], 400.0, True),
        (["no", "yes", "no"], 400.0, False),
        # The answer to a request that set out together with a refused one counts, too.
        (["no yes"] * 4, 250.0, False),
    ],
)
@in_virtual_time
async def test_a_host_that_refuses_everything_for_ten_minutes_is_given_up(
    clock, rounds, pause, is_given_up
):
    queues = queues_of(*[OWL] * 8)
    for answers in rounds:
        together = [(answer, *await begun(queues)) for answer in answers.split()]
        for answer, job, turn in together:
            await ended(queues, job, turn, answer, pause)
    job = await queues.next()
    assert job
    assert isinstance(await queues.begin(job), ImageRejected) is is_given_up


@in_virtual_time
async def test_an_answer_that_was_long_on_its_way_does_not_show_that_a_host_serves_again(clock):
    queues = queues_of(*[OWL] * 4)
    (job, turn), (_, late) = await begun(queues), await begun(queues)
    for _ in range(2):
        await queues.pace.refused(turn, 250.0)
        queues.again(job, job.address)
        job, turn = await begun(queues)
    await queues.pace.answered(late, 10)
    await queues.pace.refused(turn, 250.0)
    job = await queues.next()
    assert job and isinstance(await queues.begin(job), ImageRejected)


@in_virtual_time
async def test_an_answer_from_before_a_refusal_does_not_end_the_pause(clock):
    queues = queues_of(*[OWL] * 3, backoff=0.2)
    (_, first), (job, second) = await begun(queues), await begun(queues)
    await anyio.sleep(0.01)
    await queues.pace.refused(first, None)
    await queues.pace.answered(second, 10)
    queues.done(job)
    assert not await begun_within(queues, 0.1)
    assert await begun_within(queues, 0.3)


@in_virtual_time
async def test_a_job_that_was_taken_before_a_pause_does_not_begin_in_it(clock):
    """It may have waited for room meanwhile."""
    queues = queues_of(OWL, OWL, backoff=5.0)
    (_, turn), late = await begun(queues), await queues.next()
    await queues.pace.refused(turn, None)
    assert late and await queues.begin(late) is None


@in_virtual_time
async def test_queues_of_several_workers_share_the_turns_and_the_pauses_of_a_host(clock):
    """Two workers have five images of one host: three begin; a refusal of one pauses both."""
    pace = HostPace(1.0)
    one, other = (HostQueues(jobs(*[OWL] * 5), pace, lasts=35.0) for _ in range(2))
    mine = [await begun(one) for _ in range(2)]
    assert await begun_within(other, 1) and not await begun_within(other, 1)
    job, turn = mine[0]
    await one.pace.refused(turn, 4.0)
    one.again(job, job.address)
    refused_at = anyio.current_time()
    await begun(other)
    assert anyio.current_time() - refused_at == pytest.approx(4.0, abs=BUSY_SECONDS)


@in_virtual_time
async def test_the_turn_of_a_worker_that_died_ends_after_its_time(clock):
    pace = HostPace(1.0)
    dead, alive = (HostQueues(jobs(*[OWL] * 3), pace, lasts=35.0) for _ in range(2))
    for _ in range(3):
        await begun(dead)
    start = anyio.current_time()
    await begun(alive)
    assert anyio.current_time() - start == pytest.approx(35.0, abs=BUSY_SECONDS)


@in_virtual_time
async def test_a_host_that_one_worker_finds_refusing_is_given_up_for_all_until_its_pause_is_over(
    clock,
):
    pace = HostPace(1.0)
    one, other = (HostQueues(jobs(*[OWL] * 3), pace, lasts=35.0) for _ in range(2))
    _, turn = await begun(one)
    await one.pace.refused(turn, 700.0)
    job = await other.next()
    assert job
    rejected = await other.begin(job)
    assert isinstance(rejected, ImageRejected) and rejected.reason == "rate_limited"
    assert "may be asked again only in 700 seconds" in rejected.detail
    other.done(job)
    await anyio.sleep(700)
    assert await begun_within(other, 1)


@in_virtual_time
async def test_a_host_that_refuses_while_it_pauses_may_be_given_up_at_once(clock):
    queues = queues_of(OWL, OWL)
    (first, turn), (second, other) = await begun(queues), await begun(queues)
    await ended(queues, first, turn, "no", 400.0)
    assert await queues.begin(await queues.next()) is None
    await ended(queues, second, other, "no", 700.0)
    start = anyio.current_time()
    assert isinstance(await queues.begin(await queues.next()), ImageRejected)
    assert anyio.current_time() == start
