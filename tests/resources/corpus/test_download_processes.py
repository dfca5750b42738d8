"""Downloads by processes of their own: killed, side by side, on a full disk, and how much they hold."""

import random
import subprocess
from pathlib import Path

import pytest

from resources.corpus.download import download
from tests.doubles.scripts import start
from tests.resources.corpus.storage_double import serving_storage

pytestmark = pytest.mark.slow

FETCH = """
    import sys
    from pathlib import Path
    from resources.corpus.download import download

    print(download(sys.argv[1], Path(sys.argv[2]), backoff=0.01), flush=True)
"""


@pytest.fixture
def storage():
    with serving_storage() as storage:
        yield storage


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "shard.tsv.gz"


def test_of_two_processes_one_downloads(storage, target):
    shard = storage.put("big.gz", random.Random(2).randbytes(8 << 20))
    shard.pause = 0.002

    def fetching() -> subprocess.Popen:
        return start(FETCH, shard.url, target, stdout=subprocess.PIPE)

    with fetching() as one, fetching() as two:
        assert one.stdout.read() == two.stdout.read() == f"{target}\n"
    assert target.read_bytes() == shard.data
    assert [served.status for served in storage.log] == [200, 304]


def test_a_full_disk_is_said_and_what_had_come_is_gone_on_with(storage, target):
    shard = storage.put("shard.gz", random.Random(0).randbytes(3_000_000))
    script = """
        import resource, sys
        from pathlib import Path
        from resources.corpus.download import download

        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, -1))
        download(sys.argv[1], Path(sys.argv[2]))
    """
    with start(script, shard.url, target, stderr=subprocess.PIPE) as process:
        assert "DownloadError" in (said := process.stderr.read()) and "make room" in said
    download(shard.url, target)
    assert target.read_bytes() == shard.data
    assert storage.log[1].status == 206
