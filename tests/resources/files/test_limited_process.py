"""A function in a process of its own, which may crash, fail, or take too much."""

import os

import pytest

from resources.files.limited_process import LimitedProcessError, run_limited


def reverse(data: bytes) -> bytes:
    return data[::-1]


def crash(data: bytes) -> bytes:
    os.abort()


def fail(data: bytes) -> bytes:
    raise ValueError(data.decode())


def loop(data: bytes) -> bytes:
    while True:
        pass


def fill(data: bytes) -> bytes:
    return bytes(1_000_000_000)


def test_a_function_gets_and_returns_bytes():
    assert run_limited(reverse, b"a\x00b" * 100_000) == b"b\x00a" * 100_000


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (crash, r"took over 1 s or crashed \(SIGABRT\)"),
        (loop, r"took over 1 s or crashed \(SIG"),
        (fail, r"failed \(ValueError: input\)"),
        (fill, r"failed \(MemoryError\)"),
    ],
)
def test_what_ends_without_a_result_is_an_error(function, reason):
    with pytest.raises(LimitedProcessError, match=reason):
        run_limited(function, b"input", seconds=1, memory=500_000_000)
