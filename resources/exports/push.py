"""Push an exported dataset to the Hugging Face Hub.

Run an interrupted push again: files that the Hub has are not sent a second time.
"""

import logging
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from methods.errors import printable
from methods.web_address import cut_secrets
from resources.exports.folder import README, FolderVerification, checked_files, with_page
from resources.exports.huggingface import page_in_repository
from resources.exports.source import ExportError, ExportSource
from resources.files.bounded import file_hash

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

REFERENCES = ("answer", "key", "caption", "focus")
DELETED = ("data/", "example/")
"""Folders of the Hub's repository whose files of an earlier push are deleted."""


def require_publishable(source: ExportSource, folder: Path) -> FolderVerification:
    """Check that a folder may be published.

    Args:
        source: The release that was exported to the folder.
        folder: The folder.

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
        ExportError: The Hub refuses, does not answer, or leaves out a file.
    """
    # Other commands may be kept offline by HF_HUB_OFFLINE; this command needs the Hub.
    os.environ["HF_HUB_OFFLINE"] = "0"
    from huggingface_hub import CommitOperationDelete, HfApi, constants
    from huggingface_hub.errors import HTTPError, LocalTokenNotFoundError

    constants.HF_HUB_OFFLINE = False
    for handler in logging.getLogger("huggingface_hub").handlers:
        handler.addFilter(_printable_record)
    api = HfApi()
    begun = ""
    try:
        api.create_repo(repository, repo_type="dataset", private=True, exist_ok=True)
        page = page_in_repository((folder / README).read_text(encoding="utf-8"), repository)
        with with_page(folder, page) as sent, warnings.catch_warnings():
            warnings.showwarning = _show_warning
            begun = "; a commit may have been made"
            done = api.upload_folder(
                repo_id=repository,
                repo_type="dataset",
                folder_path=sent,
                commit_message=folder.name,
            )
            remote = _files_of(api, repository, done.oid)
            # The client only logs that the Hub left out a file. Earlier files are deleted after this.
            names = _require_taken(repository, remote, sent)
        earlier = [name for name in remote if name.startswith(DELETED) and name not in names]
        if earlier:
            done = api.create_commit(
                repository,
                [CommitOperationDelete(name, is_folder=False) for name in earlier],
                repo_type="dataset",
                commit_message=f"{folder.name}: delete files of an earlier push",
            )
    except LocalTokenNotFoundError:
        raise ExportError(
            "The hub needs you to sign in: set HF_TOKEN, or run hf auth login."
        ) from None
    except (HTTPError, OSError, RuntimeError) as error:
        raise ExportError(
            f"{folder.name} could not be sent to {repository} ({_reason(error)}{begun}): push again, "
            "what the hub has is not sent a second time."
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ExportError(
            f"The server at {cut_secrets(api.endpoint)} does not answer as the Hugging Face Hub does "
            f"({_reason(error)}{begun}): correct HF_ENDPOINT, or unset it, and push again."
        ) from error
    return printable(str(done.commit_url))


def _files_of(api: "HfApi", repository: str, revision: str) -> "dict[str, RepoFile]":
    """List the files of a dataset on the Hub by their paths."""
    from huggingface_hub.hf_api import RepoFile

    entries = api.list_repo_tree(repository, recursive=True, revision=revision, repo_type="dataset")
    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def _require_taken(repository: str, remote: "Mapping[str, RepoFile]", sent: Path) -> set[str]:
    """Return the paths of the files that were sent. Raises ExportError if the Hub lacks one."""
    files = {path.relative_to(sent).as_posix(): path for path in sent.rglob("*") if path.is_file()}
    missing = sorted(name for name in files if not _has_content(remote.get(name), files[name]))
    if missing:
        raise ExportError(
            f"{repository} has not taken {missing[0]} ({len(missing)} of {len(files)} files): delete "
            "what excludes it there, such as .gitignore, and push again. Files of an earlier push were "
            "not deleted."
        )
    return {*files}


def _has_content(remote: "RepoFile | None", path: Path) -> bool:
    """Whether a file of the Hub, if there is one, has the content of a local file."""
    from huggingface_hub.utils.sha import git_hash

    if remote is None:
        return False
    if remote.lfs is not None:
        return remote.lfs.sha256 == file_hash(path)
    return remote.blob_id == git_hash(path.read_bytes())


def _printable_record(record: logging.LogRecord) -> bool:
    """Make a log line of the client printable; it may have a text of the Hub."""
    record.msg, record.args = printable(record.getMessage()), ()
    return True


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(printable(str(message)), file=sys.stderr)


def _reason(error: Exception) -> str:
    return printable(" ".join(str(error).split())[:300])


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
