"""Push an exported dataset to the Hugging Face Hub.

Run an interrupted push again: files that the Hub has are not sent a second time.
"""

import os
from pathlib import Path

from resources.exports.folder import README, FolderVerification, checked_files, with_page
from resources.exports.huggingface import page_in_repository
from resources.exports.source import ExportError, ExportSource

REFERENCES = ("answer", "key", "caption", "focus")


def require_publishable(source: ExportSource, folder: Path) -> FolderVerification:
    """Check that a folder may be published.

    Args:
        source: The release that was exported to the folder.
        folder: The folder.

    Returns:
        The result of checking its files.

    Raises:
        ExportError: A file was changed, the licence of the whole is unknown, or the
            folder has held-out answers.
    """
    checked = checked_files(folder)
    if source.licence.licence is None:
        name = source.card["name"]
        raise ExportError(
            f"{source.release_id} is not sent, as no licence of the whole is known: set licences: "
            f"{{{name}: <its licence>}} under release.exports in settings.yaml if you know it, or "
            f"licences_left_out: {{{name}: [unknown]}}, and rename {folder} to have it written again."
        )
    for exported in source.all():
        if not exported.with_answers:
            _require_no_answers(folder, f"data/{exported.config}/{exported.split}-*.parquet")
    return checked


def require_repository(name: str) -> None:
    """Raise ExportError unless the name is a valid dataset name on the Hub. No request is sent."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        name = ""
    if "/" not in name:
        raise ExportError(
            "The name of a dataset on the hub must be OWNER/NAME, with letters, digits, - _ and dots."
        )


def push(folder: Path, repository: str) -> str:
    """Push a folder to a dataset repository of the Hugging Face Hub.

    A missing repository is created as a private one. The uploaded `README.md` names the repository, and
    the manifest has the hash of that text.

    Args:
        folder: The folder.
        repository: `owner/name`.

    Returns:
        The address of the commit.

    Raises:
        ExportError: The Hub refuses or does not answer.
    """
    # Other commands may be kept offline by HF_HUB_OFFLINE; this command needs the Hub.
    os.environ["HF_HUB_OFFLINE"] = "0"
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HTTPError, LocalTokenNotFoundError

    constants.HF_HUB_OFFLINE = False
    api = HfApi()
    try:
        api.create_repo(repository, repo_type="dataset", private=True, exist_ok=True)
        page = page_in_repository((folder / README).read_text(encoding="utf-8"), repository)
        with with_page(folder, page) as sent:
            done = api.upload_folder(
                repo_id=repository,
                repo_type="dataset",
                folder_path=sent,
                commit_message=folder.name,
                delete_patterns=["data/**", "example/**"],
            )
    except LocalTokenNotFoundError:
        raise ExportError(
            "The hub needs you to sign in: set HF_TOKEN, or run hf auth login."
        ) from None
    except (HTTPError, OSError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ExportError(
            f"{folder.name} could not be sent to {repository} ({reason}): push again, what the hub has "
            "is not sent a second time."
        ) from error
    return str(done.commit_url)


def _require_no_answers(folder: Path, shards: str) -> None:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    for path in sorted(folder.glob(shards)):
        with pq.ParquetFile(path) as shard:
            for batch in shard.iter_batches(columns=["turns"]):
                turns = pc.list_flatten(batch.column("turns"))
                if any(pc.struct_field(turns, name).null_count < len(turns) for name in REFERENCES):
                    raise ExportError(
                        f"{path} has answers, but the answers of this split are held out: rename "
                        f"{folder} "
                        "and export it again."
                    )
