"""The check for what tests leave behind: each kind of it fails the test that left it, by name."""

import re
from pathlib import Path

import pytest

LEAKING = """
import signal, socket, subprocess, sys, threading
import pytest

KEPT = []

@pytest.fixture(autouse=True, scope="session")
def ended():
    yield
    for stop in KEPT:
        stop()

def test_thread():
    stop = threading.Event()
    threading.Thread(target=stop.wait, name="forgotten").start()
    KEPT.append(stop.set)

def test_process():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    KEPT.append(lambda: (child.kill(), child.wait()))

def test_socket():
    KEPT.append(socket.create_server(("127.0.0.1", 0)).close)

def test_file(tmp_path):
    KEPT.append((tmp_path / "forgotten.txt").open("w").close)

def test_handler():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    KEPT.append(lambda: signal.signal(signal.SIGUSR1, signal.SIG_DFL))

@pytest.fixture(scope="module")
def server():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, name="served")
    thread.start()
    yield
    stop.set()
    thread.join()

def test_first_with_a_server_of_the_module(server):
    pass

def test_second_with_it(server):
    pass

@pytest.fixture(scope="session")
def lasting():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    yield
    stop.set()
    thread.join()

@pytest.fixture(scope="module")
def asks_for_another(request):
    request.getfixturevalue("lasting")

def test_with_a_fixture_that_asks_for_a_lasting_one(asks_for_another):
    pass

def test_ends_what_it_starts(tmp_path):
    with (tmp_path / "closed.txt").open("w"):
        thread = threading.Thread(target=threading.Event().wait, args=(0.2,))
        thread.start()

@pytest.fixture(scope="module")
def forgetful():
    stop = threading.Event()
    threading.Thread(target=stop.wait, name="outlives its fixture").start()
    KEPT.append(stop.set)

def test_last_of_the_module(forgetful):
    pass
"""


@pytest.fixture
def said(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Test -> how it ended; for the teardown errors, the sentence."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("COLUMNS", "400")
    pytester.makeconftest(
        'pytest_plugins = ["tests.plugins.leaks"]\n'
        "import tests.plugins.leaks as leaks\n"
        "leaks.PATIENCE = 0.5\n"
    )
    pytester.makepyfile(test_it=LEAKING)
    result = pytester.runpytest_subprocess("-rA", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=10, errors=6)
    return dict(re.findall(r"^ERROR \S+::(\w+) - Failed: (.*)$", result.stdout.str(), re.M))


def test_each_kind_fails_the_test_that_left_it_in_one_sentence(said: dict[str, str]) -> None:
    patterns = {
        "test_thread": r"test_thread leaves thread forgotten\.",
        "test_process": r"test_process leaves process \d+ \(.*time\.sleep\(60\)\)\.",
        "test_socket": r"test_socket leaves listening socket socket:\[\d+\]\.",
        "test_file": r"test_file leaves open file /.*/forgotten\.txt\.",
        "test_handler": r"test_handler leaves signal handler of SIGUSR1: 1\.",
        "test_last_of_the_module": r"The fixture forgetful leaves thread outlives its fixture\.",
    }
    assert said.keys() == patterns.keys()
    for test, pattern in patterns.items():
        assert re.fullmatch(pattern, said[test]), said[test]
