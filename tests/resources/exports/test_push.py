"""A push succeeds only if the Hub has every file, and says in one sentence why it failed."""

import base64
import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import huggingface_hub
import pytest
from huggingface_hub.utils import _http
from huggingface_hub.utils.sha import git_hash

from resources.exports.folder import checked_files
from resources.exports.push import push
from resources.exports.source import ExportError
from tests.resources.exports.conftest import written
from tests.resources.folder_content import everything

SHARD = "data/default/test-00000-of-00001.parquet"
ADDRESS = "https://huggingface.co/datasets/me/set/commit/1"


class Hub:
    """A Hub without a network; `answers` replaces what it answers to a path that has the name."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.created: object = None
        self.excluded: tuple[str, ...] = ()
        self.answers: dict[str, object] = {}

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        usual = {
            "/repos/create": self._create,
            "/validate-yaml": lambda _: {},
            "/preupload/": self._plan,
            "/commit/": self._commit,
            "/tree/": self._tree,
        }
        name = next(name for name in usual if name in request.url.path)
        answer = usual[name](request.content)
        answer = self.answers.get(name, answer)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx2.Response) else httpx2.Response(200, json=answer)

    def _create(self, content: bytes) -> object:
        self.created = json.loads(content)
        return {"url": "https://huggingface.co/datasets/me/set"}

    def _plan(self, content: bytes) -> object:
        paths = [file["path"] for file in json.loads(content)["files"]]
        files = [
            {"path": path, "uploadMode": "regular", "shouldIgnore": path.startswith(self.excluded)}
            for path in paths
        ]
        return {"files": files}

    def _commit(self, content: bytes) -> object:
        for operation in map(json.loads, content.splitlines()):
            value = operation["value"]
            if operation["key"] == "header":
                self.message = value["summary"]
            elif operation["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif operation["key"] == "deletedFile":
                del self.files[value["path"]]
        return {"commitOid": "1", "commitUrl": ADDRESS}

    def _tree(self, _: bytes) -> object:
        return [
            {"type": "file", "path": path, "oid": git_hash(content), "size": len(content)}
            for path, content in self.files.items()
        ]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    # The storage client writes a log that stays open.
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    hub, before = Hub(), _http._GLOBAL_CLIENT_FACTORY
    transport = httpx2.MockTransport(hub.respond)
    huggingface_hub.set_client_factory(lambda: httpx2.Client(transport=transport))
    yield hub
    huggingface_hub.set_client_factory(before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    (folder / SHARD).parent.mkdir(parents=True)
    (folder / SHARD).write_bytes(b"rows")
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n")
    files = {name: {"sha256": "", "n_bytes": 1} for name in ("README.md", SHARD)}
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    return folder


def test_a_private_dataset_gets_the_folder_with_a_page_that_names_the_repository(
    hub, released, dialogues, tmp_path
):
    folder = written(released(dialogues), tmp_path / "out", "huggingface")
    before = everything(folder)
    (folder / "notes.txt").write_text("mine")
    assert push(folder, "me/set") == ADDRESS
    made = {"name": "set", "organization": "me", "type": "dataset", "visibility": "private"}
    assert (hub.created, hub.message) == (made, "out")
    page = re.sub(
        rb'(load_dataset\(")mmdu-[0-9a-f]+\.huggingface', rb"\1me/set", before["README.md"]
    )
    manifest = hub.files["manifest.json"]
    assert hub.files == {**before, "README.md": page, "manifest.json": manifest}
    assert b'rows = load_dataset("me/set", "default"' in page
    for name, content in hub.files.items():
        (tmp_path / "sent" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sent" / name).write_bytes(content)
    assert checked_files(tmp_path / "sent").n_files == len(before) - 1
    assert everything(folder) == {**before, "notes.txt": b"mine"}, "the folder stays as it is"
    hub.answers["/commit/"] = OSError("the network\nis down")
    with pytest.raises(ExportError, match=r"\(the network is down; .*\): push again"):
        push(folder, "me/set")


def test_shards_and_examples_of_an_earlier_push_are_deleted_and_nothing_else(hub, folder):
    hub.files = dict.fromkeys(["data/old.parquet", "example/9.png", "LICENSE", SHARD], b"old")
    assert push(folder, "me/set") == ADDRESS
    assert hub.files.keys() == {"LICENSE", "README.md", "manifest.json", SHARD}
    assert hub.files[SHARD] == b"rows"


@pytest.mark.parametrize("earlier", ["data/old.parquet", SHARD])
def test_a_push_that_the_hub_does_not_take_fails_and_deletes_nothing(hub, folder, earlier):
    hub.files, hub.excluded = {earlier: b"old"}, ("data/",)
    sentence = (
        rf"^me/set has not taken {SHARD} \(1 of 3 files\): delete .*\.gitignore, and push again"
    )
    with pytest.raises(ExportError, match=sentence):
        push(folder, "me/set")
    assert hub.files[earlier] == b"old"


@pytest.mark.parametrize(
    ("name", "answer", "reason"),
    [
        ("/repos/create", {}, "'url'"),
        ("/repos/create", httpx2.Response(200, text="<html>"), "Expecting value: .*"),
        ("/repos/create", ["a"], "list indices .*"),
        ("/preupload/", {"files": []}, "'README.md'; a commit may have been made"),
        ("/commit/", {}, "'commitUrl'; a commit may have been made"),
        ("/tree/", {"a": 1}, ".*; a commit may have been made"),
    ],
)
def test_a_server_that_does_not_answer_as_the_hub_does_is_named_with_advice(
    hub, folder, name, answer, reason
):
    hub.answers[name] = answer
    sentence = (
        r"^The server at https://huggingface\.co does not answer as the Hugging Face Hub does "
        rf"\({reason}\): correct HF_ENDPOINT, or unset it, and push again\.$"
    )
    with pytest.raises(ExportError, match=sentence):
        push(folder, "me/set")


def test_texts_of_the_hub_are_printed_without_control_characters(hub, folder, capsys, monkeypatch):
    hub.answers["/commit/"] = {"commitOid": "1", "commitUrl": f"{ADDRESS}\x1b[31m"}
    assert push(folder, "me/set") == f"{ADDRESS}\\u001b[31m"
    hub.answers["/repos/create"] = httpx2.Response(400, json={"error": "\x1b[31m no"})
    with pytest.raises(ExportError, match=r"^out could not be sent to me/set \(.*\\u001b\[31m no"):
        push(folder, "me/set")
    # So are its warnings.
    del hub.answers["/commit/"]
    (handler,) = logging.getLogger("huggingface_hub").handlers
    monkeypatch.setattr(handler, "stream", io.StringIO())
    headers = {"X-HF-Warning": "new; \x1b[31m old client"}
    created = {"url": "https://huggingface.co/datasets/me/set"}
    hub.answers["/repos/create"] = httpx2.Response(200, json=created, headers=headers)
    hub.answers["/validate-yaml"] = {"warnings": [{"message": "\x1b[31m no title"}]}
    push(folder, "me/set")
    assert "\\u001b[31m old client" in handler.stream.getvalue()
    assert "\\u001b[31m no title" in capsys.readouterr().err
