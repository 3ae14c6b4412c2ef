"""`gest_dataset.push`: configs to a dataset on the Hub, and metrics to Spaces, each in one commit.

Configs are merged into the dataset card of the repository; all other text of the card stays as it is. A
header that changes is written anew, with its values in their order. Our sections of the text stand between
markers.
"""

import fnmatch
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

from gest_dataset.builders import CONFIGS, get_config, select_configs
from gest_dataset.builders.config import Config
from gest_dataset.data.build import Built, build_config
from gest_dataset.data.card import built_header, card_sections, size_category
from gest_dataset.data.folder import CARD, DATA_FILE, read_parquet, write_config
from gest_dataset.errors import ConfigError, HubError, convert_errors, describe_error
from gest_dataset.hub.repository import MAIN, UNCHANGED, Branch, Committed, Files, Repo, commit, hub_client
from gest_dataset.storage import parse_yaml

_DATA = (".arrow", ".csv", ".json", ".jsonl", ".parquet", ".tsv")
_NOT_PARQUET = re.compile(r"[^\s\"]+\.(arrow|csv|jsonl?|tsv|txt)\b")
Header = dict[str, Any]
_BY_CONFIG = ("configs", "dataset_info")  # lists with one mapping per config
_NAME = "config_name"
_BEGIN = "<!-- gest push: begin {key} -->"
_END = "<!-- gest push: end -->"
_ONLY_NEW = ("about", "uses")  # the sections that only a new card gets
# Of the other configs on the card, these parts of a section stay: rows of tables, an example, BibTeX entries
_ENTRIES = {
    "configs": re.compile(r"^\| `([\w-]+)` \|.*$", re.MULTILINE),
    "licences": re.compile(r"^\| (?!data \||---)(.*?) \|.*$", re.MULTILINE),
    "family": re.compile(r"^()Example \(.*\n```$", re.MULTILINE | re.DOTALL),
    "citation": re.compile(r"^@\w+\{([^,\s}]+).*?\}(?=\n\n|\n```)", re.MULTILINE | re.DOTALL),
}


@dataclass(frozen=True)
class Plan:
    """What a push changes in one repository."""

    repo: Repo
    parts: Mapping[str, str]  # its configs and files with their status
    unaffected: tuple[str, ...]  # the configs that it does not touch
    default: str | None
    missing: bool = field(compare=False)  # the repository or branch will be created

    @property
    def has_changes(self) -> bool:
        return {*self.parts.values()} != {UNCHANGED}


class Pushed(NamedTuple):
    plan: Plan
    committed: Committed


def push(
    repo: str,
    config: str | None = None,
    *,
    metrics: bool = False,
    create_pr: bool = False,
    private: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    on_plan: Callable[[Plan], None] = lambda plan: None,
) -> tuple[Pushed, ...]:
    """Push configs to the dataset `repo` (NAMESPACE/NAME), in one commit with its card.

    Args:
        repo: The dataset; with only `metrics`, a namespace is enough.
        config: Configs and groups separated by commas. By default all that `gest build` writes, or none with
            `metrics`. Other configs, other text of the card and the default config stay as they are.
        metrics: Push each metric to the Space NAMESPACE/METRIC.
        create_pr: Open a pull request instead.
        private: Create a missing repository as private.
        revision: The branch to write to, created from main if missing.
        dry_run: Only plan.
        on_plan: Called with the plan, and again if someone else's commit has changed it.
    """
    if create_pr and revision is not None:
        raise ConfigError("--create-pr cannot be combined with --revision: a pull request goes to main.")
    branch = revision or MAIN
    target = Repo(repo, revision=branch) if config is not None or not metrics else None
    hub_client(needs_token=not dry_run)  # fail before anything is built
    options = {"create_pr": create_pr, "private": private, "dry_run": dry_run}
    pushed = []

    def send(repo: Repo, build: Callable[[Branch], Files], what: str) -> None:
        plans: list[Plan] = []

        def on_files(branch: Branch, files: Files) -> None:
            parts = {path.removesuffix(f"/{DATA_FILE}"): branch.status(path, files[path]) for path in files}
            header = read_header(files[CARD] or b"", str(branch.repo))
            others = tuple(name for name in configs_of(header) if name not in parts)
            plan = Plan(branch.repo, parts, others, default_config(header), branch.missing)
            if plan not in plans[-1:]:
                plans.append(plan)
                on_plan(plan)

        committed = commit(repo, build, f"Push {what}", on_files=on_files, **options)
        pushed.append(Pushed(plans[-1], committed))

    if target is not None:
        with tempfile.TemporaryDirectory(prefix="gest-push-") as folder:
            builds = [_build(get_config(name), Path(folder)) for name in select_configs(config or "all")]
            first = ", ".join(built.config.name for built in builds[:3])
            what = f"{first} and {len(builds) - 3} more configs" if len(builds) > 3 else first
            send(target, partial(_dataset_files, builds=builds), what)
    for name, files in metric_files().items() if metrics else ():
        space = Repo(f"{repo.partition('/')[0]}/{name}", "space", branch)
        send(space, lambda _, files=files: files, name)  # type: ignore[misc]
    return tuple(pushed)


def metric_files() -> dict[str, Files]:
    """The files of each metric, which `evaluate.load("NAMESPACE/METRIC")` downloads from its Space."""
    page = Path(str(resources.files("gest_dataset.metrics"))) / "app.py"
    files: dict[str, Files] = {}
    for requirements in sorted(page.parent.glob("*/requirements.txt")):
        folder = requirements.parent
        paths = (page, folder / f"{folder.name}.py", folder / "README.md", requirements)
        files[folder.name] = {path.name: path.read_bytes() for path in paths}
    return files


def _build(config: Config, folder: Path) -> Built:
    """Build a config, without the metadata of this version: the same rows are the same bytes."""
    built, _ = build_config(config, folder)
    table = read_parquet(built.path)
    metadata = {key: value for key, value in table.schema.metadata.items() if key != b"gest"}
    write_config(folder, config.name, table.replace_schema_metadata(metadata))
    return built


def _dataset_files(branch: Branch, builds: Sequence[Built]) -> Files:
    """The files of the configs and the card; earlier files of the configs go."""
    card, repo, ours = branch.read(CARD), str(branch.repo), {built.config.name for built in builds}
    # `datasets` reads all configs of a repository in one format, and only what the card names, if anything
    if configs := configs_of(read_header(card, repo)):
        texts = [json.dumps(entry.get("data_files")) for name, entry in configs.items() if name not in ours]
        wrong = [match[0] for text in texts if (match := _NOT_PARQUET.search(text))]
        reason = "is not Parquet, and all configs of a repository must have one format. Convert it"
    else:
        other = sorted(path for path in branch.files if path.endswith(_DATA))
        known = {*ours, "croissant.json", "dataset_infos.json"}
        wrong = [path for path in other if path.partition("/")[0] not in known]
        reason = "belongs to no config in the card. Name it under `configs:` in the card"
    if wrong:
        raise HubError(f"{repo}: {wrong[0]} {reason}, or use another repository. Nothing was changed.")
    data = {f"{built.config.name}/{DATA_FILE}": built.path.read_bytes() for built in builds}
    patterns = [f"{built.config.name}/test-*.parquet" for built in builds]
    earlier = {path for pattern in patterns for path in fnmatch.filter(branch.files, pattern)}
    removed = dict.fromkeys(sorted(earlier - data.keys()))
    return {**data, CARD: merge_card(card, builds, branch.repo.id), **removed}


# --- the dataset card


class _Loader(yaml.SafeLoader):
    """YAML 1.2, as on the Hub: `no` is Norwegian, not false."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        letter: [each for each in resolvers if letter in "tTfF" or each[0] != "tag:yaml.org,2002:bool"]
        for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def merge_card(card: bytes, builds: Sequence[Built], repo: str) -> bytes:
    """Add or replace built configs in a card, which may be empty."""
    header, theirs, body = _split(card, repo)
    builds = [built for name in CONFIGS for built in builds if built.config.name == name]
    merged = _merge_header(theirs, _parse_header(built_header(builds)))
    if merged != theirs:
        header = f"---\n{yaml_dump(merged, sort_keys=False)}---\n"
    text = f"{header}{_merge_sections(body, builds, merged, repo)}"
    return (text.replace("\n", "\r\n") if _has_windows_lines(card) else text).encode()


def read_header(card: bytes, repo: str) -> Header:
    return _split(card, repo)[1]


def configs_of(header: Mapping[str, Any], key: str = "configs") -> dict[str, Header]:
    """The entries of a list by the name of the config."""
    return {str(entry[_NAME]): entry for entry in header.get(key, [])}


def default_config(header: Mapping[str, Any]) -> str | None:
    """The default config: the one marked as such, the one named `default`, or the only one."""
    configs = configs_of(header)
    marked = [name for name, entry in configs.items() if entry.get("default")]
    only = list(configs) if len(configs) == 1 else []
    return next(iter([*marked, *(name for name in configs if name == "default"), *only]), None)


def _has_windows_lines(card: bytes) -> bool:
    return 0 < card.count(b"\n") == card.count(b"\r\n")


def _split(card: bytes, repo: str) -> tuple[str, Header, str]:
    """A card's header as text and parsed, and the text after it, all with plain LF."""
    advice = "Nothing was changed; fix README.md on the Hub and rerun."
    with convert_errors(lambda e: HubError(f"The card of {repo} is invalid: {describe_error(e)}. {advice}")):
        text = (card.replace(b"\r\n", b"\n") if _has_windows_lines(card) else card).decode("utf-8")
        if match := REGEX_YAML_BLOCK.match(text):
            return match[0], _parse_header(match[2]), text[match.end() :]
        if text.lstrip("\ufeff \t\r\n").startswith("---"):
            raise ValueError("the header has no closing line of ---")
    return "", {}, text


def _parse_header(text: str) -> Header:
    """Parse a header; a dataset without configs is one named `default`."""
    header: Header = parse_yaml(text, _Loader) or {}
    for key in _BY_CONFIG:
        if entries := header.get(key):
            entries = [entries] if isinstance(entries, dict) else entries
            header[key] = [{_NAME: "default", **entry} for entry in entries]
    return header


def _merge_header(theirs: Header, ours: Header) -> Header:
    """Add the configs of our header to another one.

    Lists are extended, and other values that exist are never replaced. The default config stays the default.
    """
    merged: Header = dict(theirs)
    languages = {*_as_list(theirs.get("language")), *ours["language"]}
    ours["multilinguality"] = ["multilingual" if len(languages) > 1 else "monolingual"]
    for key, value in ours.items():
        existing = _as_list(theirs.get(key))
        if key in _BY_CONFIG:
            merged[key] = list((configs_of(theirs, key) | configs_of(ours, key)).values())
        elif not isinstance(value, list):
            merged.setdefault(key, value)
        elif not {*value} <= {*existing}:
            merged[key] = list(dict.fromkeys([*existing, *value]))
    default = default_config(theirs)
    if default is not None and len(merged["configs"]) > 1:
        merged["configs"] = unmarked = [dict(entry) for entry in merged["configs"]]
        for number, entry in enumerate(unmarked):
            entry.pop("default", None)
            if entry[_NAME] == default:
                unmarked[number] = {_NAME: default, "default": True, **entry}
    infos = configs_of(merged, "dataset_info")
    if "size_categories" not in theirs or configs_of(merged).keys() <= infos.keys():
        splits = [split for info in infos.values() for split in info.get("splits") or []]
        rows = sum(int(split.get("num_examples", 0)) for split in splits)
        merged["size_categories"] = [size_category(rows)]
    return merged


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _merge_sections(text: str, builds: Sequence[Built], header: Header, repo: str) -> str:
    """Replace our sections where they stand; new ones follow the section before, or come last.

    Families whose configs are not pushed keep their example.
    """
    names = list(configs_of(header))
    configs = [config for config in CONFIGS.values() if config.name in names]
    others = sorted(set(names) - CONFIGS.keys())
    sections = card_sections(configs, builds, repo, default_config(header) or names[0], others)
    is_new_card = not text.strip()
    position: int | None = None  # the end of the last section
    for key, content in sections.items():
        begin = _BEGIN.format(key=key)
        pattern = rf"^{re.escape(begin)}\n(.*?)\n{re.escape(_END)}$"
        match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        section = f"{begin}\n{_keep_entries(key, match[1] if match else '', content, names)}\n{_END}"
        if match:
            first, last = match.span()
        elif key in _ONLY_NEW and not is_new_card:
            continue
        elif position is None:
            text += "\n\n" if not text or text.endswith("\n") else "\n\n\n"
            first = last = len(text) - 1
        else:
            first = last = position
            section = f"\n\n{section}"
        text = text[:first] + section + text[last:]
        position = first + len(section)
    return text


def _keep_entries(key: str, old: str, new: str, names: Sequence[str]) -> str:
    """Our new section with those entries of the old one that the pushed configs do not replace."""
    kind = key.partition(" ")[0]
    if kind not in _ENTRIES:
        return new
    ours = list(_ENTRIES[kind].finditer(new))
    entries = {match[1]: match[0] for match in (*ours, *_ENTRIES[kind].finditer(old), *ours)}
    if kind == "configs":
        order = [*CONFIGS, *sorted({*names} - CONFIGS.keys())]
        entries = {name: entries[name] for name in order if name in entries and name in names}
    new = new if ours else f"{new}\n\n"
    first, last = (ours[0].start(), ours[-1].end()) if ours else (len(new), len(new))
    separator = "\n\n" if kind == "citation" else "\n"
    return (new[:first] + separator.join(entries.values()) + new[last:]).rstrip("\n")
