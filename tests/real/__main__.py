"""`python -m tests.real`: a real Ray cluster; a real llama.cpp server, also behind a LiteLLM proxy.

The tests' files have no names that pytest collects: the default tests start no cluster, and install no
server and no model.
"""

import resource
import sys
from pathlib import Path

import pytest

from tests.real.environment import NotAvailable, install

FOLDER = Path(__file__).resolve().parent
MAX_CPU_SECONDS = 600


def main() -> int:
    """Install what is needed and run the tests; those for which it cannot be installed are left out."""
    code = int(pytest.main([str(FOLDER / "real_ray.py"), *sys.argv[1:]]))
    try:
        install()
    except NotAvailable as reason:
        print(f"skipped: {reason}")
        return code
    files = [str(FOLDER / name) for name in ("real_llama.py", "real_proxy.py")]
    code = int(pytest.main(["-rs", *files, *sys.argv[1:]])) or code
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = usage.ru_utime + usage.ru_stime
    print(f"The servers took {seconds:.0f} s of processor time.")
    if seconds > MAX_CPU_SECONDS:
        print(f"That is more than {MAX_CPU_SECONDS} s: ask less in tests/real.")
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
