"""What deploy/ says agrees with the code: commands, ports, variables, paths, settings."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster._core.instance.config import dagster_instance_config_schema
from dagster._core.workspace.config_schema import ensure_workspace_config
from sqlalchemy.engine import make_url

from dagster_project import definitions
from dagster_project.instance import BACKFILLS_WAIT, POSTGRES, SCHEMA, SHARED, prepare_dagster_home
from dagster_project.run_tags import LOCATION
from resources.files.home import REPO_ROOT
from tests.command_lines import fault_of
from tests.test_readme import named_in_code

DEPLOY = REPO_ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "vlm-loom"}
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
VALUES: dict[str, Any] = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text())
MANIFESTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((DEPLOY / "helm" / "loom.yaml").read_text())
)
GUIDE = (REPO_ROOT / "docs" / "guides" / "shared-instance.md").read_text()
IMAGE_ENV = dict(re.findall(r"([A-Z_]+)=(\S+)", DOCKERFILE.partition("ENV PATH")[2]))


@pytest.mark.parametrize("name", OURS)
def test_a_service_is_understood_writes_its_home_and_tmp_alone_and_is_not_root(name: str) -> None:
    service = OURS[name]
    assert fault_of(shlex.join(service["command"])) is None
    assert service["read_only"] is True and service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    writable = [volume for volume in service["volumes"] if not volume.endswith(":ro")]
    assert writable == [f"home:{IMAGE_ENV['LOOM_WORKSPACE']}"]
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", DOCKERFILE, re.MULTILINE)
    assert IMAGE_ENV["DAGSTER_HOME"] == f"{IMAGE_ENV['LOOM_WORKSPACE']}/dagster"


@pytest.mark.skipif(shutil.which("useradd") is None, reason="useradd is not installed")
def test_the_image_s_user_is_added_with_options_that_useradd_knows() -> None:
    usage = subprocess.run(["useradd", "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"\buseradd (.*)", DOCKERFILE)
    options = {word for command in commands for word in re.findall(r"--[\w-]+", command)}
    assert options and options <= set(re.findall(r"--[\w-]+", usage))


def test_there_are_all_services_and_what_one_depends_on_can_be_waited_for() -> None:
    assert set(OURS) == {"code", "webserver", "daemon", "review", "mock"}
    assert set(SERVICES) - set(OURS) == {"postgres", "storage", "bucket"}
    assert 'ENTRYPOINT ["vlm-loom"]' in DOCKERFILE
    for service in SERVICES.values():
        for other, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert SERVICES[other]["healthcheck"]["test"]
            else:
                assert SERVICES[other]["restart"] != "unless-stopped", "it ends"


def test_each_healthcheck_asks_the_port_that_is_served() -> None:
    exposed = set(re.search(r"^EXPOSE (.*)$", DOCKERFILE, re.MULTILINE)[1].split())  # type: ignore[index]
    served = set()
    for name, service in OURS.items():
        words = [*map(str, service["command"])]
        if "--port" not in words:
            continue
        port = words[words.index("--port") + 1]
        served.add(port)
        assert port in " ".join(service["healthcheck"]["test"]), name
        assert all(published.endswith(f":{port}") for published in service.get("ports", []))
    assert served == exposed
    # Nothing but the two web servers is published, and these on loopback.
    published = {name: each["ports"] for name, each in SERVICES.items() if "ports" in each}
    assert set(published) == {"webserver", "review"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_commands_in_comments_name_the_file_and_required_values_are_the_first() -> None:
    for path in (path for path in DEPLOY.rglob("*") if path.is_file()):
        for command in re.findall(r"docker compose -.*", path.read_text()):
            assert command.startswith("docker compose --file deploy/compose.yaml "), path
    required = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text()))
    values = re.findall(r"^(\w+)=", (DEPLOY / "env.example").read_text(), re.MULTILINE)
    assert required == set(values[:3])


def test_each_variable_is_one_of_the_code_and_each_secret_one_of_the_example() -> None:
    named = {name for service in OURS.values() for name in service["environment"]}
    named |= {key for manifest in MANIFESTS for key in manifest.get("data", {})}
    named |= IMAGE_ENV.keys()
    # Set where it is wanted, beside what the example has.
    more = {"LOOM_WAREHOUSE", "LOOM_FILES"}
    assert {name for name in named if name.startswith("LOOM_")} <= named_in_code() | more
    text = (DEPLOY / "compose.yaml").read_text()
    asked = set(re.findall(r"\$\{([A-Z0-9_]+)", text)) - more
    example = (DEPLOY / "env.example").read_text()
    assert asked == set(re.findall(r"^([A-Z0-9_]+)=", example, re.MULTILINE))
    assert not re.search(r"^(?:POSTGRES_PASSWORD|S3_KEY|S3_SECRET|OPENAI_API_KEY)=.", example, re.M)


def test_the_workspace_is_the_service_of_the_code_location() -> None:
    workspace = yaml.safe_load((DEPLOY / "workspace.yaml").read_text())
    ensure_workspace_config(workspace, "workspace.yaml")
    (server,) = workspace["load_from"]
    port = int(OURS["code"]["command"][-1])
    assert server == {"grpc_server": {"host": "code", "port": port, "location_name": LOCATION}}
    for name in ("webserver", "daemon"):
        command = OURS[name]["command"]
        path = command[command.index("--workspace") + 1]
        assert f"./workspace.yaml:{path}:ro" in OURS[name]["volumes"]


def test_the_address_of_dagsters_storage_is_the_one_that_follows_from_the_stores(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A healthcheck has the variables of the service alone."""
    environment = OURS["daemon"]["environment"]
    stores = re.sub(r"\$\{[^}]*\}", "secret", environment["LOOM_STORES"])
    monkeypatch.setenv("LOOM_STORES", stores)
    monkeypatch.setenv(POSTGRES, "")
    monkeypatch.setenv("DAGSTER_HOME", "set by the function")
    prepare_dagster_home()
    given = re.sub(r"\$\{[^}]*\}", "secret", environment[POSTGRES])
    assert make_url(os.environ[POSTGRES]) == make_url(given)


def test_helms_daemon_has_the_variables_that_a_command_of_the_project_gives_it(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BACKFILLS_WAIT, "")
    monkeypatch.delenv(BACKFILLS_WAIT)
    prepare_dagster_home()
    own = {each["name"]: each["value"] for each in VALUES["dagsterDaemon"]["env"]}
    assert own == {BACKFILLS_WAIT: os.environ[BACKFILLS_WAIT]}


def test_helms_instance_is_that_of_the_shared_settings() -> None:
    shared = yaml.safe_load(SHARED.read_text())
    added = VALUES["additionalInstanceConfig"]
    assert {name: shared[name] for name in added} == added
    assert set(shared) <= set(dagster_instance_config_schema())
    postgres = VALUES["postgresql"]
    assert postgres["postgresqlParams"]["options"] == f"-csearch_path={SCHEMA}"
    assert postgres["postgresqlScheme"] == "postgresql+psycopg2"


def test_helms_code_location_is_the_projects_and_pods_are_as_the_compose_files_services() -> None:
    (deployment,) = VALUES["dagster-user-deployments"]["deployments"]
    assert deployment["name"] == LOCATION
    assert deployment["codeServerArgs"] == ["--module-name", definitions.__name__]
    assert deployment["port"] == int(OURS["code"]["command"][-1])
    assert deployment["includeConfigInLaunchedRuns"] == {"enabled": True}
    for part in (VALUES["dagsterWebserver"], VALUES["dagsterDaemon"], deployment):
        assert part["securityContext"]["readOnlyRootFilesystem"] is True
        mounts = {mount["name"]: mount["mountPath"] for mount in part["volumeMounts"]}
        assert mounts["home"] == IMAGE_ENV["LOOM_WORKSPACE"] and mounts["tmp"] == "/tmp"


def test_helms_tables_and_stores_are_outside_the_pods_volume_and_its_review_app_is_composes() -> (
    None
):
    (secret,) = re.findall(r"create secret generic loom-stores (?:.*\\\n)+.*", GUIDE)
    named = {*re.findall(r"--from-literal=(LOOM_\w+)=", secret)}
    (settings,) = [each["data"] for each in MANIFESTS if each["kind"] == "ConfigMap"]
    assert {"LOOM_STORES", "LOOM_WAREHOUSE", "LOOM_FILES"} <= named | settings.keys()
    (deployment,) = [each for each in MANIFESTS if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["args"] == OURS["review"]["command"]
    assert container["image"].startswith("vlm-loom:")
    assert str(container["ports"][0]["containerPort"]) == container["args"][-1]


def test_the_image_gets_every_file_that_the_package_is_made_of() -> None:
    ignore = (REPO_ROOT / ".dockerignore").read_text().split("\n")
    let_in = {line[1:].rstrip("/") for line in ignore if line.startswith("!")}
    project = (REPO_ROOT / "pyproject.toml").read_text()
    packages = re.search(r"^include = \[(.*)\]$", project, re.MULTILINE)
    assert packages
    assert {name.rstrip("*") for name in re.findall(r'"([^"]+)"', packages[1])} <= let_in
    beside = re.findall(r'^"lib/python3.11/[^"]*" = \[(.*)\]$', project, re.MULTILINE)
    for path in re.findall(r'"([^"]+)"', " ".join(beside)):
        assert path in let_in or str(Path(path).parent) in let_in, path
