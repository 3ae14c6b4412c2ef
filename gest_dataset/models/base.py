"""The settings of a run, and what a model is asked for and returns, loaded here or behind a server."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from gest_dataset.errors import SettingError
from gest_dataset.probes.options import parse_rules
from gest_dataset.probes.probe import Options
from gest_dataset.probes.queries import Values
from gest_dataset.runs.manifest import signature

if TYPE_CHECKING:
    from gest_dataset.models.loading import LoadedModel
    from gest_dataset.models.served.model import ServedModel

# Both have the same methods; the `device` and `revision` of a served model are None
Model: TypeAlias = "LoadedModel | ServedModel"

CONNECTIONS, CHAT_CONNECTIONS = 8, 32  # parallel requests to a server
# Settings of loaded models only, and of served ones only
_LOADED = ("adapter", "revision", "batch_tokens", "null", "device_map", "quantization")
_SERVED = ("tokenizer", "connections")


@dataclass(frozen=True)
class Settings(Options):
    """How a model is loaded or reached, and scored; a wrong number or combination is an error.

    Attributes:
        limit: Score only the first samples.
        where: Score only GEST's sentences with certain votes or writers: "agreement=strong", "creator=A,B".
        short: Score the short form: 40 samples of each stereotype, the same ones on every machine.
        stop_early: Score samples in a stratified random order until the verdict is known.
        gates: With `stop_early`, numbers and their limits, which have to be decided instead of the verdict.
        chat_template: Score texts as the assistant's answers in the model's chat format (causal models).
        null: The number of random baselines: copies of the model with fresh weights.
        device_map: "auto" or a table, to spread a large model over all devices (docs/devices.md).
        quantization: "8bit" or "4bit".
        adapter: The Hub id or folder of an adapter (LoRA, …) to add to the model.
        endpoint: The address of a server (docs/endpoints.md).
        tokenizer: The Hub id, folder or GGUF file of a served model's tokenizer (default: the model's name).
        connections: The number of parallel requests to a server.
        plan: The plan that the run follows (`runs.plan`), which is stored in run.json.
    """

    limit: int | None = None
    where: tuple[str, ...] = ()
    short: bool = False
    stop_early: bool = False
    gates: tuple[tuple[str, float], ...] = ()
    chat_template: bool = False
    batch_tokens: int | None = None
    null: int = 0
    device: str = "auto"
    dtype: str = "auto"
    revision: str | None = None
    trust_remote_code: bool = False
    device_map: str | Mapping[str, Any] | None = None
    quantization: str | None = None
    adapter: str | None = None
    endpoint: str | None = None
    tokenizer: str | None = None
    connections: int = CONNECTIONS
    plan: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", parse_rules(self.rules or ()))
        for name, least in (("batch_tokens", 1), ("null", 0), ("limit", 1), ("connections", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise SettingError(f"{name}={value} is too small: use {least} or more.")
        if self.short and self.limit is not None:
            raise SettingError("short and limit both choose samples: leave one of them out.")
        if self.chat_template and self.rules:
            raise SettingError("rules and chat_template exclude each other: leave one of them out.")
        kind, unused = ("loaded", _LOADED) if self.endpoint else ("served", _SERVED)
        for name in unused:
            if getattr(self, name) != getattr(Settings, name):
                raise SettingError(f"{name} applies to {kind} models only: leave it out.")


@dataclass(frozen=True)
class Passes:
    """The work of a run: queries, the distinct inputs that they share, and their tokens."""

    queries: int
    inputs: int
    tokens: int
    computed: int  # tokens that went through the model
    way: str = "plain"  # or "prefix": shared prefixes are computed once


@dataclass(frozen=True)
class LogProbs:
    """The values of queries, in their order; `not_finite` is the reason if one is not finite."""

    values: list[Values]
    passes: Passes
    dtype: str
    notes: tuple[str, ...]
    not_finite: str
    earlier_seconds: float = 0.0  # of interrupted processes


@dataclass(frozen=True)
class Sampling:
    """How completions are sampled: greedily at temperature 0, else `repeats` times per prompt."""

    temperature: float = 0.0
    seed: int = 0
    repeats: int = 1
    max_tokens: int = 32
    top: int = 0  # likeliest first tokens to return
    enable_thinking: bool | None = None  # None: as the model does by default
    reasoning_effort: str | None = None

    @property
    def thinks(self) -> bool:
        return bool(self.enable_thinking) or self.reasoning_effort not in (None, "none")

    def described(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def run_signature(metadata: Mapping[str, Any], **parts: Any) -> str:
    """One line that identifies a measurement, to report beside its number."""
    revision = f"@{metadata['revision']}" if metadata["revision"] else ""
    return signature(
        gest=metadata["config"],
        data=metadata["data_fingerprint"],
        measure=metadata["measure"],
        model=metadata["model"] + revision,
        **parts,
        version=metadata["gest_dataset"],
    )
