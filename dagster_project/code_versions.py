"""Code versions of assets: if one changes, the UI shows the asset as stale.

A code version is a hash of the version that the asset's decorator declares, of its columns, of its
settings in `settings.yaml`, of the prompts and SQL files that its module names, and of the models and
benchmarks that its rows depend on. Changes of Python code only count if the declared version is raised,
so a refactoring does not make an asset stale.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from types import ModuleType

import dagster as dg

from assets.common.generation import ROLES
from assets.common.settings import SECTIONS
from assets.common.tables import SOURCES
from methods.benchmarks import BENCHMARKS
from methods.choice import strict
from methods.choice.passes import EXTRACT_PROMPT
from methods.errors import UserError
from methods.evaluation.candidates import model_of
from methods.ids import canonical_json, content_id
from methods.pairwise.comparing import COMPARE_PROMPT, COMPARE_VERSION
from resources.embedding.process import text_embedder
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import active_profile, load_registry
from resources.settings.asset_settings import non_default_settings, read_sections
from resources.settings.prompts import PROMPTS_ROOT, prompt
from resources.warehouse import declared_columns, sql_files, sql_text

COMMENT = re.compile(r"--[^\n]*")
PATH = re.compile(r"""(?<=["'])\w+(?:/\w+)+(?=["'])""")


MADE_BY: Mapping[str, Callable[[], list[str]]] = {
    "cluster.embeddings": lambda: [text_embedder().name],
    "choice.mmiu_items": lambda: _models("writer"),
    "quality.checks": lambda: [text_embedder().name, *_models("check")],
    "dialogue.turn_categories": lambda: [text_embedder().name],
    "rewrite.seed_rewrites": lambda: [text_embedder().name, *_models("rewrite")],
    "evaluate.answers": lambda: [
        *(benchmark.answer_version for benchmark in BENCHMARKS.values()),
        *(
            _prompt_version(name)
            for benchmark in BENCHMARKS.values()
            for name in benchmark.question_prompts
        ),
        *_models("evaluate"),
        *_extractor(),
        *(
            f"strict@{strict.VERSION}"
            for benchmark in BENCHMARKS.values()
            if EXTRACT_PROMPT in benchmark.extractor_prompts
        ),
    ],
    "evaluate.second_readings": lambda: _extractor(),
    "evaluate.observations": lambda: [benchmark.judge_version for benchmark in BENCHMARKS.values()],
    "evaluate.critic_pairs": lambda: _judging(),
    "evaluate.judgments": lambda: _judged(),
    "evaluate.judge_bias_tests": lambda: [*_judged(), *_compared()],
    "evaluate.leaderboard": lambda: _descriptions(),
    "evaluate.pairs": lambda: [*_compared(), *_models("judges")],
}
"""Table -> a function for the versions of the models and benchmarks that its rows depend on, in
addition to the prompts and SQL files that its module names. Other tables of `ROLES` depend on the model
of their role.
"""


def code_version(spec: dg.AssetSpec) -> str | None:
    """Hash everything that an asset's rows depend on in addition to its input.

    Returns None for an asset that Dagster does not run.
    """
    table = ".".join(spec.key.path)
    if table not in SOURCES:
        return None
    source = SOURCES[table]
    try:
        settings = read_sections(SECTIONS).get(table, {})
        # A default value in the file does not count.
        settings = non_default_settings(SECTIONS[table], settings) if settings else {}
    except UserError:
        # The run reports the error in the file; until then the asset is not marked for it.
        settings = {}
    return content_id(
        source.version,
        [list(column) for column in declared_columns()[table]],
        settings,
        sorted(_named_in(source.module, spec.key.path[0])) if source.module else [],
        _made_by(table),
    )


def _made_by(table: str) -> list[str]:
    if table in MADE_BY:
        return MADE_BY[table]()
    return _models(ROLES[table]) if table in ROLES else []


def _named_in(module: ModuleType, stage: str) -> Iterator[list[str]]:
    """Yield names and versions of the prompts and SQL files that a module uses.

    They are found by string literals in its code, and in modules of its stage whose functions it
    imports.
    """
    own = {source.module for source in SOURCES.values()}
    used = {
        inspect.getmodule(value) for value in vars(module).values() if inspect.isfunction(value)
    }
    of_stage = {
        helper for helper in used - own if helper and helper.__name__.startswith(f"assets.{stage}.")
    }
    for name in chain.from_iterable(map(paths_in, (module, *of_stage))):
        folder, _, task = name.rpartition("/")
        if sql_files(name):
            yield [name, " ".join(COMMENT.sub("", sql_text(name)).split())]
        elif (PROMPTS_ROOT / folder / "prompts" / f"{task}.md").is_file():
            yield [name, _prompt_version(name)]


@cache
def paths_in(module: ModuleType) -> list[str]:
    """Return the string literals in a module's code that look like names of prompts or SQL files."""
    return PATH.findall(inspect.getsource(module))


def _judged() -> list[str]:
    """Return the versions of judging: of benchmarks, prompts and judges."""
    return [*_judging(), *_models("judges")]


def _judging() -> list[str]:
    judged = [benchmark for benchmark in BENCHMARKS.values() if benchmark.judge_prompts]
    prompts = [_prompt_version(name) for benchmark in judged for name in benchmark.judge_prompts]
    return [*(benchmark.judge_version for benchmark in judged), *prompts]


def _compared() -> list[str]:
    """Return the versions of pairwise comparison: of the prompt and of the code."""
    return [_prompt_version(COMPARE_PROMPT), COMPARE_VERSION]


def _extractor() -> list[str]:
    """Return the versions of answer extraction; empty if no benchmark extracts answers."""
    prompts = [name for benchmark in BENCHMARKS.values() for name in benchmark.extractor_prompts]
    return [*map(_prompt_version, prompts), *_models("extractor")] if prompts else []


def _prompt_version(name: str) -> str:
    try:
        return prompt(name).version
    except UserError as error:
        return str(error)


def _models(role: str) -> list[str]:
    """Return the versions of the profile's models of a role. Another model, server or other sampling
    parameters give another version.
    """
    try:
        registry = load_registry()
        profile = registry.profile(active_profile())
        of_role = getattr(profile, role)
        names = [of_role] if isinstance(of_role, str) else of_role or []
        return [
            name if (model := model_of(name)) is None else _model(name, registry.model(model))
            for name in names
        ]
    except UserError:
        return []


def _descriptions() -> list[str]:
    """Return the field `about` of all models in models.yaml, which leaderboards show."""
    try:
        models = load_registry().models
    except UserError:
        return []
    return [canonical_json({name: spec.about for name, spec in models.items()})]


def _model(name: str, spec: ModelSpec) -> str:
    sampling = canonical_json(spec.params({}))
    return f"{name} {spec.provider_in_keys} {spec.endpoint()} {spec.model} {sampling}"
