"""What `make fuzz` damages: for every reader of foreign bytes real small files, and what must hold after it.

A reader's value is judged beside the value of the whole files: where the package can know that a file is
not the one that was written, nothing but an error or the same value is right; elsewhere the value must be
sound in itself.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, List
from hypothesis import Phase

import gest_dataset
from gest_dataset import builders
from gest_dataset.builders import CONFIGS, added
from gest_dataset.builders.builder import tables
from gest_dataset.builders.config import Family, Field
from gest_dataset.builders.frames import Frame
from gest_dataset.builders.keeping import keep
from gest_dataset.builders.unpickle import read_frame
from gest_dataset.custom import eurogest
from gest_dataset.data import sources
from gest_dataset.data.build import build_config, built_before
from gest_dataset.data.tables import is_table, read_lines, read_table
from gest_dataset.gender import write_rules
from gest_dataset.gender.grammar import Grammar, read_grammar
from gest_dataset.gender.parsers.conllu import parse_conllu, read_file
from gest_dataset.home import FACTS, HOME_VARIABLE, read_facts
from gest_dataset.models.batching import Pass, State
from gest_dataset.models.own_data import read_own
from gest_dataset.models.shards import Shards
from gest_dataset.probes import templates
from gest_dataset.probes.query import Ask, Input
from gest_dataset.runs.reading import read_run
from gest_dataset.translation import store
from gest_dataset.translation.file import read_translations
from gest_dataset.translation.translator import Translation, Translator
from tests.conftest import MANIFEST as MIRROR_TABLE
from tests.conftest import MIRROR
from tests.fuzz.apart import apart
from tests.fuzz.damage import BYTES, JSON, TABLE
from tests.fuzz.gguf import write_gguf
from tests.support import zoo

MODEL = "gpt2"
_SLOW = (Phase.generate,)


@dataclass(frozen=True)
class Target:
    """A reader: `make` writes real files into a folder, one of `files` is damaged, `read` reads it.

    `judge` is given the value of the whole files and that of the damaged ones. `examples` are tried between
    two looks at the clock; what takes a second is not shrunk.
    """

    name: str
    make: Callable[[Path], None]
    files: tuple[str, ...]
    acts: Sequence[str]
    read: Callable[[Path], Any]
    judge: Callable[[Any, Any], None]
    examples: int = 20
    phases: tuple[Phase, ...] = (Phase.generate, Phase.shrink)
    marks: tuple[pytest.MarkDecorator, ...] = ()


def _same(whole: Any, found: Any) -> None:
    assert found == whole


def _among(whole: Any, found: Any) -> None:
    """What is lost is computed again; what is there is what was written."""
    assert found.items() <= whole.items()


# Runs -----------------------------------------------------------------------------------------------


@cache
def _run() -> Path:
    """A real run, made once."""
    folder = zoo.directory(MODEL).parent / "fuzzed-run"
    gest_dataset.score(str(zoo.directory(MODEL)), "en", device="cpu", limit=4, output=folder)
    return folder


def _make_run(folder: Path) -> None:
    shutil.copytree(_run(), folder, dirs_exist_ok=True)


def _read_run(folder: Path) -> Any:
    run = read_run(folder)
    return asdict(run.manifest), run.table.to_pydict(), run.result


def _sound_run(whole: Any, found: Any) -> None:
    """run.json is text that its owner may change; what it is of may differ, the numbers may not.

    JSON has one kind of number: 5 is a float as well as 5.0.
    """
    (manifest, *numbers), (there, *expected) = found, whole
    assert numbers == expected
    assert manifest.keys() == there.keys()
    for name, value in there.items():
        assert type(manifest[name]) in ((int, float) if isinstance(value, float) else (type(value),))


# Files of users -------------------------------------------------------------------------------------


def _make_templates(folder: Path) -> None:
    told = [asdict(template) | {"id": 4 + template.id} for template in templates.TEMPLATES.values()]
    (folder / "templates.json").write_text(json.dumps(told), encoding="utf-8")


def _sound_templates(_: Any, found: list[templates.Template]) -> None:
    for template in found:
        assert type(template.id) is int
        for word in (template.masculine, template.feminine):
            text, start, end = template.around("I cook.", word)
            assert text[start:end] == word
            assert "I cook." in text.encode().decode()
    assert len({template.id for template in found}) == len(found)


_ROWS = {
    "source": ["I am sad.", 'I, the cook, said "no".', "Two\nlines.", "", "Čučoriedka 😀"],
    "translation": ["Som smutný.", "", "Dva\nriadky.", "nič", "Čučoriedka"],
    "language": ["sk", "sk", "sk", "cs", "sk"],
    "number": ["1", "2", "3", "4", "5"],
}


def _make_table(folder: Path, name: str) -> None:
    table, path = pa.table(_ROWS), folder / name
    if name.endswith(".parquet"):
        pq.write_table(table, path)
    elif name.endswith(".jsonl"):
        lines = (json.dumps(row, ensure_ascii=False) for row in table.to_pylist())
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        table.to_pandas().to_csv(path, index=False, sep="\t" if name.endswith(".tsv") else ",")


def _read_user_file(folder: Path, name: str) -> Mapping[str, Sequence[Any]]:
    """All that commands take of a file: its columns as texts, or its lines."""
    path = folder / name
    if not is_table(path):
        return {"": read_lines(path)}
    table = read_table(path)
    for column in table.columns:
        table.texts(column)
    return table.columns


def _sound_table(_: Any, found: Mapping[str, Sequence[Any]]) -> None:
    assert found
    assert len({len(column) for column in found.values()}) == 1
    for column in found.values():
        "".join(text for text in column if text is not None).encode()


def _sound_translations(_: Any, found: Mapping[str, list[tuple[int, str]]]) -> None:
    rows = [row for made in found.values() for row, _ in made]
    assert len(set(rows)) == len(rows)
    for source, made in found.items():
        assert all(isinstance(translation, str) for _, translation in made)
        source.encode()


_CONLLU = "parsed.conllu"


def _make_conllu(folder: Path) -> None:
    blocks = (MIRROR.parent / "mirror_sk.conllu").read_text(encoding="utf-8").split("\n\n")
    (folder / _CONLLU).write_text("\n\n".join(blocks[:12]) + "\n\n", encoding="utf-8")


def _read_conllu(folder: Path) -> Any:
    return {text: parse_conllu(document, text) for text, document in read_file(folder / _CONLLU).items()}


def _sound_trees(_: Any, found: Any) -> None:
    for text, trees in found.items():
        for tree in trees:
            ids = [token.id for token in tree.tokens]
            assert ids == sorted(set(ids))
            for token in tree.tokens:
                assert token.head == 0 or token.head in ids
                assert token.head != token.id
                assert text[token.start : token.end] in ("", token.surface)


_EUROGEST = ("Slovak.csv", "Slovak.parquet")
_EUROGEST_ROWS = {
    "GEST_ID": ["0", "1", "2", "3"],
    "Source": ["I was tired.", "I sing.", 'I said "no".', "I lead."],
    "Stereotype_ID": ["6", "5.0", "8", "13"],
    "Masculine": ["Bol som unavený.", "", "Povedal som „nie“.", ""],
    "Feminine": ["Bola som unavená.", "", "Povedala som „nie“.", ""],
    "Neutral": ["", "Spievam.", "", "Vediem\nich."],
}
_FRAMES = [Frame("„", ",“", "povedal", "povedala")]


def _make_eurogest(folder: Path) -> None:
    table = pa.table(_EUROGEST_ROWS)
    table.to_pandas().to_csv(folder / _EUROGEST[0], index=False)
    pq.write_table(table, folder / _EUROGEST[1])


def _read_eurogest(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows that an import would keep."""
    lines = list(eurogest.read_lines([folder / name]))
    pairs = eurogest.pair_rows("sk", lines, first_letter=True, dropped=Counter())
    return [*pairs, *eurogest.neutral_rows("sk", lines, _FRAMES, Counter())]


# Upstream -------------------------------------------------------------------------------------------

# One config of every reader of upstream files
UPSTREAM = (
    "en",
    "annotations",
    "bg_translations",
    "sk_pairs",
    "stereoset_en_intrasentence",
    "stereoset_de_intersentence",
    "stereoset_control_gender",
    "crows_gender",
    "crows_gender_revised",
    "crows_control_negation",
    "slovak_gender",
    "winobias_type1_test",
)


def _make_upstream(folder: Path, name: str) -> None:
    for number, key in enumerate(CONFIGS[name].sources):
        shutil.copyfile(MIRROR / key, folder / str(number))


def _read_upstream(folder: Path, name: str) -> list[dict[str, Any]]:
    config = CONFIGS[name]
    files = {key: folder / str(number) for number, key in enumerate(config.sources)}
    return [row for table in tables(config, files, Counter()) for row in table.to_pylist()]


def _sound_rows(_: Any, found: list[dict[str, Any]]) -> None:
    """No row twice, and every span within its text."""
    ids = [row["id"] for row in found]
    assert len(set(ids)) == len(ids)
    for row in found:
        for name, value in row.items():
            if name.endswith("span"):
                assert 0 <= value[0] < value[1]


def _read_sources(folder: Path) -> Any:
    """Tables are read once, so each damaged one has a name of its own."""
    sources._read_table.cache_clear()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(sources.TABLE_VARIABLE, str(folder / MIRROR_TABLE))
        return sources.table()


def _sound_sources(_: Any, found: Mapping[str, sources.Source]) -> None:
    for source in found.values():
        assert all(isinstance(value, str) for value in asdict(source).values())


def _sound_frame(_: Any, found: Mapping[Any, list[Any]]) -> None:
    assert len({len(column) for column in found.values()}) <= 1
    assert all(isinstance(name, str) for name in found)


def _make_built(folder: Path) -> None:
    build_config(CONFIGS["en"], folder)


_BUILT = ("en/test-00000-of-00001.parquet", "SHA256SUMS")


def _read_built_rows(folder: Path) -> list[dict[str, Any]]:
    """What `gest score --data` is given; plain `load_dataset` is not judged, for it looks at no checksum."""
    rows: list[dict[str, Any]] = read_own(folder, "en").to_list()
    return rows


def _read_built(folder: Path) -> Any:
    """What the next `gest build` takes for built."""
    built = built_before(CONFIGS["en"], folder)
    return built and (built.rows, built.dropped, built.fingerprint)


def _make_added(folder: Path) -> None:
    fields = {"id": Field("a name"), "systems": Field("who", List(ClassLabel(names=["a", "b"])))}
    new = added.NewConfig("x", Family("x", "X", "", "", "", ""), "", ("sk",), "MIT", fields, {"same": 1})
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(HOME_VARIABLE, str(folder))
        keep(new, [{"id": "1", "systems": [1]}, {"id": "2", "systems": []}])
    builders.refresh()


def _read_added(folder: Path) -> Any:
    facts = read_facts(folder / added.FOLDER / "x" / FACTS)
    config = added.config_of((), "x", facts)
    return [row for table in tables(config, {}, Counter()) for row in table.to_pylist()]


def _make_rules(folder: Path) -> None:
    write_rules("sk", folder / "rules.yaml")


def _sound_rules(_: Any, found: Grammar) -> None:
    """Every expression of it can be asked."""
    text, document = next(iter(read_file(MIRROR.parent / "mirror_sk.conllu").items()))
    token = parse_conllu(document, text)[0].tokens[0]
    for kind in found.endings:
        assert found.gender(token, kind) in (None, "male", "female")


def _same_or_none(whole: Any, found: Any) -> None:
    assert found in (None, whole)


# Models ---------------------------------------------------------------------------------------------


def _make_model(folder: Path) -> None:
    shutil.copytree(zoo.directory(MODEL), folder, dirs_exist_ok=True)


def _score(folder: Path, name: str) -> Any:
    """What a run says that it is of, and its numbers."""
    output = folder / "run"
    shutil.rmtree(output, ignore_errors=True)
    gest_dataset.score(str(folder / name), "en", device="cpu", dtype="float32", limit=3, output=output)
    run = read_run(output)
    return run.manifest.identity(), run.table.to_pydict()


def _no_namesake(whole: Any, found: Any) -> None:
    """Another model has another identity: equal ones have equal numbers."""
    identity, numbers = found
    assert identity != whole[0] or repr(numbers) == repr(whole[1])


# What is kept on the way ----------------------------------------------------------------------------

_WORK: list[Pass] = [
    (Input(tuple(range(start, start + 5)), (), ()), [Ask(1, 7, True), Ask(2, start, False)])
    for start in range(12)
]
_BUDGET = 40


def _make_shards(folder: Path) -> None:
    shards = Shards(folder)
    state = shards.load(_WORK, _BUDGET)
    for batch in range(3):
        state.values += [np.array([batch, place]) / 7 for place in range(4)]
        state.batches, state.turns = batch + 1, [(0, batch + 1)]
        shards.keep(state, at_once=True)


def _read_shards(folder: Path) -> State:
    return Shards(folder).load(_WORK, _BUDGET)


def _beginning(whole: State, found: State) -> None:
    assert len(found.values) == 4 * found.batches
    for there, here in zip(whole.values, found.values, strict=False):
        assert there.tolist() == here.tolist()
    assert found.turns == ([(0, found.batches)] if found.batches else [])
    assert found.budget == _BUDGET


_SYSTEM = Translator("fuzzed", "1", "beams=1", lambda texts: iter(()), "texts")  # type: ignore[arg-type,return-value]


def _make_store(folder: Path) -> None:
    pairs = zip(_ROWS["source"], _ROWS["translation"], strict=True)
    store.add(folder / "sk.sqlite3", _SYSTEM, [Translation(*pair) for pair in pairs])


def _read_store(folder: Path) -> Mapping[str, Translation]:
    _without_journal(folder)
    return store.read(folder / "sk.sqlite3", _SYSTEM)


def _without_journal(folder: Path) -> None:
    for path in (*folder.glob("*-journal"), *folder.glob("*-wal")):
        path.unlink()


# The table ------------------------------------------------------------------------------------------


# Faults that are known; a target is taken out of here when its reader is mended
_KNOWN: dict[str, str] = {}


def marks_of(target: Target) -> tuple[pytest.MarkDecorator, ...]:
    """The marks of a target, and that it is known to fail where it is."""
    reason = _KNOWN.get(target.name)
    return (*target.marks, pytest.mark.xfail(strict=False, reason=reason)) if reason else target.marks


_PICKLE = "intrasentence/df_intrasentence_de.pkl"
TARGETS: tuple[Target, ...] = (
    Target("manifest", _make_run, ("run.json",), JSON, _read_run, _sound_run),
    Target("result", _make_run, ("result.json",), JSON, _read_run, _same),
    Target("scores", _make_run, ("scores.parquet",), BYTES, _read_run, _same),
    Target(
        "templates",
        _make_templates,
        ("templates.json",),
        JSON,
        lambda folder: templates.choose(folder / "templates.json", "masked"),
        _sound_templates,
    ),
    *(
        Target(
            f"table-{name.partition('.')[2]}",
            partial(_make_table, name=name),
            (name,),
            JSON if name.endswith("jsonl") else BYTES if name.endswith("parquet") else TABLE,
            partial(_read_user_file, name=name),
            _sound_table,
        )
        for name in ("rows.csv", "rows.tsv", "rows.jsonl", "rows.parquet", "rows.txt")
    ),
    Target(
        "translations",
        partial(_make_table, name="made.csv"),
        ("made.csv",),
        TABLE,
        lambda folder: read_translations(folder / "made.csv", "sk"),
        _sound_translations,
    ),
    *(
        Target(
            f"eurogest-{name.partition('.')[2]}",
            _make_eurogest,
            (name,),
            acts,
            partial(_read_eurogest, name=name),
            _sound_rows,
        )
        for name, acts in zip(_EUROGEST, (TABLE, BYTES), strict=True)
    ),
    Target("conllu", _make_conllu, (_CONLLU,), TABLE, _read_conllu, _sound_trees),
    *(
        Target(
            f"upstream-{name}",
            partial(_make_upstream, name=name),
            tuple(str(number) for number in range(len(CONFIGS[name].sources))),
            TABLE,
            apart(partial(_read_upstream, name=name)),
            _sound_rows,
        )
        for name in UPSTREAM
    ),
    Target(
        "pickle",
        lambda folder: shutil.copyfile(next(MIRROR.rglob(_PICKLE)), folder / "frame.pkl") and None,
        ("frame.pkl",),
        BYTES,
        apart(lambda folder: read_frame(folder / "frame.pkl")),
        _sound_frame,
    ),
    Target(
        "sources",
        lambda folder: shutil.copyfile(MIRROR / MIRROR_TABLE, folder / MIRROR_TABLE) and None,
        (MIRROR_TABLE,),
        JSON,
        _read_sources,
        _sound_sources,
    ),
    Target("added", _make_added, (f"{added.FOLDER}/x/{FACTS}",), BYTES, _read_added, _same),
    Target("added-json", _make_added, (f"{added.FOLDER}/x/{FACTS}",), JSON, _read_added, _same),
    Target(
        "rules",
        _make_rules,
        ("rules.yaml",),
        BYTES,
        lambda folder: read_grammar(folder / "rules.yaml"),
        _sound_rules,
    ),
    Target("built", _make_built, _BUILT, BYTES, _read_built, _same_or_none),
    Target("built-rows", _make_built, _BUILT, BYTES, _read_built_rows, _same),
    Target("shards", _make_shards, tuple(f"{n:06d}.npz" for n in range(3)), BYTES, _read_shards, _beginning),
    Target("store", _make_store, ("sk.sqlite3",), BYTES, _read_store, _among),
    *(
        Target(f"model-{name}", _make_model, (name,), acts, partial(_score, name=""), _no_namesake, 5, _SLOW)
        for name, acts in (
            ("config.json", JSON),
            ("tokenizer.json", JSON),
            ("tokenizer_config.json", JSON),
            ("model.safetensors", BYTES),
        )
    ),
    Target(
        "gguf",
        write_gguf,
        ("small.gguf",),
        BYTES,
        partial(_score, name="small.gguf"),
        _no_namesake,
        5,
        _SLOW,
        (pytest.mark.skipif(not find_spec("gguf"), reason="reading GGUF takes `gguf`"),),
    ),
)
