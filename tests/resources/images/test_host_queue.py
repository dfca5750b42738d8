"""What Wikimedia asks of robots, kept to without asking Wikimedia: no request is made here."""

import anyio
import pytest

from resources import host_pauses
from resources.host_pauses import HostPauses, host_name
from resources.images import host_queue
from resources.images.host_queue import HostQueues, Job
from resources.wikipedia import api_client
from tests.doubles.virtual_time import VirtualTime

UPLOAD = "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.png"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    clock = VirtualTime()
    for module in (host_pauses, host_queue):
        monkeypatch.setattr(module, "time", clock)
    return clock


def jobs(*addresses: str) -> list[Job]:
    return [Job(f"url {number}", address) for number, address in enumerate(addresses)]


async def begun(queues: HostQueues) -> Job:
    job = await queues.next()
    assert job and queues.begin(job)
    return job


async def next_within(queues: HostQueues, seconds: float) -> Job | None:
    with anyio.move_on_after(seconds):
        return await queues.next()
    return None


def test_wikimedia_is_asked_for_two_images_at_once(clock):
    async def scenario() -> None:
        queues = HostQueues(jobs(UPLOAD, UPLOAD, UPLOAD), 1.0, HostPauses())
        first, _ = await begun(queues), await begun(queues)
        assert await next_within(queues, 0.05) is None
        queues.answered(first, 0)
        queues.done(first)
        assert await next_within(queues, 5)

    clock.run(scenario)


def test_wikimedia_is_asked_for_25_megabits_a_second(clock, monkeypatch):
    """Or here for 10,000 bytes: after an image of 2,000 the next may begin 0.2 seconds later."""
    assert api_client.BYTES_PER_SECOND * 8 == 25_000_000
    monkeypatch.setattr(api_client, "BYTES_PER_SECOND", 10_000)

    async def scenario() -> list[float]:
        start = anyio.current_time()
        queues = HostQueues(
            jobs(*[UPLOAD] * 3, *["https://example.org/a.png"] * 3), 1.0, HostPauses()
        )
        times = {"upload.wikimedia.org": [], "example.org": []}
        while job := await queues.next():
            assert queues.begin(job)
            times[host_name(job.address)].append(anyio.current_time() - start)
            queues.answered(job, 2_000)
            queues.done(job)
        assert times["example.org"] == pytest.approx([0, 0, 0])
        return times["upload.wikimedia.org"]

    assert clock.run(scenario) == pytest.approx([0, 0.2, 0.4])


def test_requests_refused_together_are_one_refusal(clock):
    """Three under way at once: the pause is the first one's, not doubled by the other two."""

    async def scenario() -> list[float]:
        queues = HostQueues(jobs(*["https://example.org/a.png"] * 3), 0.1, HostPauses())
        taken = [await begun(queues) for _ in range(3)]
        await anyio.sleep(0.01)
        start = anyio.current_time()
        for job in taken:
            queues.refused(job, None)
            queues.again(job, job.address, last=True)
        assert await queues.next()
        return [anyio.current_time() - start]

    assert clock.run(scenario) == pytest.approx([0.1])


def test_pauses_grow_and_begin_anew_once_the_host_answers(clock):
    async def scenario() -> list[float]:
        queues = HostQueues(jobs(*["https://example.org/a.png"] * 3), 0.1, HostPauses())
        pauses = []
        job = await begun(queues)
        for answer in ("no", "no", "yes", "no"):
            start = anyio.current_time()
            if answer == "no":
                queues.refused(job, None)
                queues.again(job, job.address)
            else:
                queues.answered(job, 10)
                queues.done(job)
            job = await begun(queues)
            pauses.append(anyio.current_time() - start)
        return pauses

    assert clock.run(scenario) == pytest.approx([0.1, 0.2, 0, 0.1])


def test_an_answer_from_before_a_refusal_does_not_end_the_pause(clock):
    async def scenario() -> None:
        queues = HostQueues(jobs(*["https://example.org/a.png"] * 3), 0.2, HostPauses())
        first, second = await begun(queues), await begun(queues)
        await anyio.sleep(0.01)
        queues.refused(first, None)
        queues.answered(second, 10)
        queues.done(second)
        assert await next_within(queues, 0.1) is None
        assert await next_within(queues, 0.3)

    clock.run(scenario)


def test_a_job_that_got_its_turn_before_a_pause_does_not_begin_in_it(clock):
    """It may have waited for room meanwhile."""

    async def scenario() -> None:
        queues = HostQueues(jobs(*["https://example.org/a.png"] * 2), 5.0, HostPauses())
        first, late = await begun(queues), await queues.next()
        queues.refused(first, None)
        assert late and not queues.begin(late)

    clock.run(scenario)
