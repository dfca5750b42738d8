"""Runs a command while busy processes take its time: `python -m tests.busy 3 make test`.

The number says how many run for each core. The command's exit status is this one's.
"""

import os
import subprocess
import sys

SPIN = "while True: pass"


def main() -> int:
    a_core, *command = sys.argv[1:]
    busy = [
        subprocess.Popen([sys.executable, "-c", SPIN])
        for _ in range(int(a_core) * (os.cpu_count() or 1))
    ]
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
