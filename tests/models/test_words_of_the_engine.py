"""Own data, devices, choices of configs and names: what is taken, and what is said of the rest."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset

import gest_dataset
from gest_dataset.builders.controls import FIELDS
from gest_dataset.data.folder import write_config
from gest_dataset.errors import ConfigError, DataError, ModelError, SettingError
from gest_dataset.models import names
from gest_dataset.models.damage import check_whole, damaged_file, tensors_in
from gest_dataset.models.device import pick_device, pick_dtype
from gest_dataset.models.loading import load_model, name_and_kind
from gest_dataset.models.own_data import name_of, read_own
from gest_dataset.models.request import NUMBERED, prepare
from gest_dataset.models.selection import split
from gest_dataset.probes.options import effective_options, unused_options
from gest_dataset.probes.probe import Options
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")


# Data of one's own ----------------------------------------------------------------------------------


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


SENTENCE = {"id": 7, "sentence": "I am.", "stereotype": 16}
PAIR = {"masculine": "a b", "feminine": "a c", "stereotype": 1, "word_index": 0}
PRONOUNS = {"masculine": "He.", "feminine": "She.", "occupation_gender": "male"}
SENTENCES = {"masculine": "a b", "feminine": "a c", "stereotype": 1, "masculine_span": [2, 3]}
SENTENCES["feminine_span"] = [0, 1]
QUADRUPLET = {"bias_type": "age", **dict.fromkeys(FIELDS, "a b")}


def test_what_is_read_of_a_file(tmp_path: Path) -> None:
    rows = read_own(lines(tmp_path / "mine.jsonl", SENTENCE, {**SENTENCE, "id": "x", "more": 1}))
    assert rows.to_list() == [
        {"id": "7", "sentence": "I am.", "stereotype": 16},
        {"id": "x", "sentence": "I am.", "stereotype": 16},
    ]
    assert rows.info.config_name == "mine"
    assert [rows.features[name].dtype for name in rows.column_names] == ["string", "string", "int32"]
    without = read_own(lines(tmp_path / "mine.jsonl", {"sentence": "I am.", "stereotype": 1.0}))
    assert without.to_list() == [{"sentence": "I am.", "stereotype": 1}], "ids are no duty"


def test_a_file_of_text_writes_numbers_and_places_down(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("masculine,feminine,stereotype,word_index\na b,a c,16,1\n", encoding="utf-8")
    rows = read_own(path)
    assert rows.to_list() == [{"masculine": "a b", "feminine": "a c", "stereotype": 16, "word_index": 1}]
    assert {rows.features[name].dtype for name in ("stereotype", "word_index")} == {"int32"}
    spans = [[0, 1], [2, 3], [0, 1], [1, 2]]
    for keywords, read in ((spans, spans), (json.dumps(spans), spans), ("", None), (None, None)):
        lines(tmp_path / "q.jsonl", {**QUADRUPLET, "keywords": spans}, {**QUADRUPLET, "keywords": keywords})
        if isinstance(keywords, str):  # a column of one type
            lines(tmp_path / "q.jsonl", {**QUADRUPLET, "keywords": keywords})
        assert read_own(tmp_path / "q.jsonl")["keywords"][-1] == read
    for span in ([0, 3], "[0, 3]"):
        read = read_own(lines(tmp_path / "n.jsonl", {**SENTENCES, "masculine_span": span}))
        assert (read["masculine_span"][0], read["feminine_span"][0]) == ([0, 3], [0, 1])


def test_the_row_that_is_wrong_is_counted_from_one(tmp_path: Path) -> None:
    path = lines(tmp_path / "mine.jsonl", SENTENCE, {**SENTENCE, "stereotype": 17})
    with pytest.raises(DataError, match=r"mine\.jsonl, row 2: "):
        read_own(path)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**SENTENCE, "stereotype": 0}, "`stereotype` is 0, not the number of a stereotype, 1 to 16"),
        ({**SENTENCE, "stereotype": 17}, "`stereotype` is 17, not the number of a stereotype, 1 to 16"),
        ({**SENTENCE, "stereotype": None}, "`stereotype` is empty, not the number of a stereotype"),
        ({**SENTENCE, "stereotype": "1.5"}, "`stereotype` is '1.5', not the number"),
        ({**SENTENCE, "sentence": ""}, "`sentence` is empty, not a text"),
        ({**SENTENCE, "sentence": None}, "`sentence` is empty, not a text"),
        ({**SENTENCE, "id": ""}, "`id` is empty, not the name of a sample"),
        ({**PAIR, "word_index": 0.5}, "`word_index` is 0.5, not the number of a word, from 0"),
        ({**PAIR, "word_index": -1}, "`word_index` is -1, not the number of a word, from 0"),
        ({**PRONOUNS, "occupation_gender": ""}, "`occupation_gender` is empty, not one of female, male"),
        ({**QUADRUPLET, "keywords": [[0, 1]] * 3}, "not 4 pairs [start, end] of characters"),
        ({**QUADRUPLET, "keywords": [[0, 1]] * 5}, "not 4 pairs [start, end] of characters"),
        ({**QUADRUPLET, "keywords": [[0, 1]] * 3 + [[1, 1]]}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": [[-1, 1]] + [[0, 1]] * 3}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": [[0, 1, 2]] * 4}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": [[0, 1.5]] * 4}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": "[["}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": 3}, "`keywords` is 3, not 4 pairs [start, end] of characters"),
        ({**SENTENCES, "masculine_span": "[0"}, "`masculine_span` is '[0', not [start, end] in characters"),
        ({**SENTENCES, "masculine_span": None}, "`masculine_span` is empty, not [start, end] in characters"),
        ({**SENTENCES, "masculine_span": [-1, 2]}, "`masculine_span` is [-1, 2], not [start, end] in"),
        ({**SENTENCES, "feminine_span": [2, 2]}, "`feminine_span` is [2, 2], not [start, end] in characters"),
        ({**SENTENCES, "feminine_span": [0, 1, 2]}, "`feminine_span` is [0, 1, 2], not [start, end] in"),
        ({**SENTENCES, "feminine_span": [0, 1.5]}, "`feminine_span` is [0, 1.5], not [start, end] in"),
    ],
)
def test_a_cell_that_is_wrong_is_named(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "mine.jsonl", row)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path}, row 1: ')}.*{re.escape(said)}"):
        read_own(path)


def test_a_file_or_a_folder_that_is_none_of_data(tmp_path: Path) -> None:
    path = lines(tmp_path / "mine.jsonl", SENTENCE)
    with pytest.raises(ConfigError, match=f"{re.escape(str(path))} is one table: --config"):
        read_own(path, "en")
    with pytest.raises(ConfigError, match=r"holds no SHA256SUMS of configs: .*gest build"):
        read_own(tmp_path)
    with pytest.raises(ConfigError, match=f"No probe reads {re.escape(str(path))}: its fields are sentence"):
        read_own(lines(path, {"sentence": "I am."}))
    (tmp_path / "header.csv").write_text("sentence,stereotype\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"header\.csv has no rows\."):
        read_own(tmp_path / "header.csv")


def folder_of(path: Path, *configs: str) -> Path:
    """A data set as `gest build` writes it."""
    for name in configs:
        rows = Dataset.from_list([{**SENTENCE, "id": f"{name}-1"}])
        write_config(path, name, rows.data.table)
    return path


def test_configs_of_a_folder(tmp_path: Path) -> None:
    single, several = folder_of(tmp_path / "single", "first"), folder_of(tmp_path / "several", "one", "two")
    rows = read_own(single)
    assert (rows["id"][0], rows.info.config_name) == ("first-1", "single")
    rows = read_own(several, "two")
    assert (rows["id"][0], rows.info.config_name) == ("two-1", "several-two")
    with pytest.raises(ConfigError, match="several has several configs, choose one with --config: one, two"):
        read_own(several)
    with pytest.raises(ConfigError, match="several has no config 'three', only one, two"):
        read_own(several, "three")


def test_names_of_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gest-data.v1").mkdir()
    for path, config, name in (
        ("data/mine.csv", None, "mine"),
        ("gest-data.v1", None, "gest-data.v1"),
        ("gest-data.v1", "en", "gest-data.v1-en"),
        ("gest-data.v2", "en", "gest-data.v2-en"),
        ("gest-data.v1/.", "en", "gest-data.v1-en"),
        ("en.jsonl", None, "own-en"),
    ):
        assert name_of(Path(path), config) == name


# What is asked --------------------------------------------------------------------------------------


def test_rows_of_a_request(tmp_path: Path) -> None:
    whole = prepare("en", None, Options(), None)
    assert (whole.name, whole.measure.name, whole.probe.name) == ("en", "templates", "templates")
    assert (whole.limit, whole.batch_tokens, whole.notes, whole.language) == (None, None, (), "en")
    few = prepare("en", 3, Options(), 77)
    assert few.rows["id"][:] == whole.rows["id"][:3]
    assert few.fingerprint == whole.fingerprint, "of all the data, whatever is asked of them"
    assert (few.limit, few.batch_tokens) == (3, 77)
    assert len(prepare("en", 10**6, Options(), None).rows) == len(whole.rows)
    assert prepare("en", 1, Options(), 1).batch_tokens == 1
    for limit, tokens, said in ((0, None, "limit=0"), (-1, None, "limit=-1"), (None, 0, "batch_tokens=0")):
        with pytest.raises(SettingError, match=said):
            prepare("en", limit, Options(), tokens)
    with pytest.raises(SettingError, match="A dict cannot be scored: give the name of a config"):
        gest_dataset.score((), {})  # type: ignore[call-overload]


def test_rows_of_ones_own_in_a_request() -> None:
    rows = [{"sentence": f"I am {i}.", "stereotype": 1} for i in range(3)]
    numbered = prepare(Dataset.from_list(rows), None, Options(), None)
    assert numbered.rows["id"][:] == ["0", "1", "2"]
    assert numbered.notes == (NUMBERED,)
    assert (numbered.name, numbered.language) == ("data", "")
    named = prepare(Dataset.from_list([{"id": 5, **row} for row in rows]), 2, Options(), None)
    assert named.rows["id"][:] == ["5", "5"]
    assert named.notes == ()
    assert named.fingerprint != numbered.fingerprint
    data = Dataset.from_list(rows)
    for name, language in (("sk_mine", "sk"), ("mine_sk", ""), ("sk", "sk"), ("slovak_gender", "sk")):
        data.info.config_name = name
        request = prepare(data, None, Options(), None)
        assert (request.name, request.language) == (name, language)


def test_budget_and_settings_of_a_request(tmp_path: Path) -> None:
    loaded = load_model(str(zoo.directory("bert")), "cpu", "auto")
    words = [{"id": 7, "text": '{word} said: "{sentence}"', "masculine": "man", "feminine": "woman"}]
    (tmp_path / "words.json").write_text(json.dumps(words), encoding="utf-8")
    settings = prepare("en", 3, Options(), None).settings(loaded)
    assert list(settings) == [
        *("revision", "kind", "weights", "model_settings", "tokenizer", "tokenizer_behaviour"),
        *("device", "dtype", "batch_tokens", "templates", "options", "start", "limit"),
    ]
    assert settings["batch_tokens"] == 512
    assert (settings["kind"], settings["device"], settings["dtype"]) == ("masked", "cpu", "float32")
    assert (settings["templates"], settings["options"], settings["limit"]) == ([1, 2, 3, 4], {}, 3)
    assert prepare("en", None, Options(), 9).settings(loaded)["batch_tokens"] == 9
    told = prepare("en", None, Options(templates=tmp_path / "words.json"), None)
    assert told.settings(loaded)["templates"] == [7]
    options = told.settings(loaded)["options"]
    assert list(options) == ["templates"]
    assert re.fullmatch(r"words\.json#[0-9a-f]{8}", options["templates"])
    assert prepare("en", None, Options(templates=[2, 1]), None).settings(loaded)["options"] == {}


def test_options_that_mean_nothing_are_said() -> None:
    scores = gest_dataset.score(zoo.load("bert"), "sk_pairs", limit=20, cs=True, device="cpu")
    assert scores.metadata["notes"] == ["cs means nothing to the probe pairs and was not used"]
    assert scores.metadata["options"] == {}
    assert scores.metadata["asked_revision"] is None


def test_rules_that_change_nothing_are_said() -> None:
    """A probe without rules, one whose rule is for other models, and one that it changes."""
    pairs, within = (
        prepare(name, 1, Options(), None).probe for name in ("sk_pairs", "stereoset_en_intrasentence")
    )
    rules = Options(rules=("bos-first",), cs=True)
    for probe, kind, unused in (
        (pairs, "causal", ["cs", "rules"]),
        (within, "masked", ["cs", "rules"]),
        (within, "causal", ["cs"]),
    ):
        said = [f"{name} means nothing to the probe {probe.name} and was not used" for name in unused]
        assert sorted(unused_options(rules, probe, kind)) == said
    assert unused_options(Options(), pairs, "masked") == []
    assert effective_options(rules, within, "causal")["rules"] == "bos-first"
    assert "rules" not in effective_options(rules, within, "masked")
    for animal, told in (("gpt2", {"rules": "bos-first"}), ("bert", {})):
        loaded = load_model(str(zoo.directory(animal)), "cpu", "auto")
        request = prepare("stereoset_en_intrasentence", 1, Options(rules=("bos-first",)), None)
        assert request.settings(loaded)["options"] == told


# Which configs --------------------------------------------------------------------------------------


def test_what_is_left_out_says_which_model_it_needs() -> None:
    asked = dict.fromkeys(("en", "crows_gender", "crows_control_negation", "sk_translations"), False)
    chosen, left_out = split({**asked, "en": True}, "causal", "m")
    assert chosen == ["en"]
    assert list(left_out) == ["crows_gender", "crows_control_negation", "sk_translations"]
    for name in ("crows_gender", "crows_control_negation"):
        assert left_out[name].startswith("needs a masked")
        assert left_out[name].endswith("model, and this one is causal")
    assert left_out["sk_translations"] == "data only, no model is asked about it"
    _, seq2seq = split(asked, "seq2seq", "m")
    assert seq2seq["crows_control_negation"].startswith("has no keywords")
    assert seq2seq["crows_control_negation"].endswith("needs a masked model, and this one is seq2seq")
    assert split(asked, "masked", "m")[0] == ["en", "crows_gender", "crows_control_negation"]
    with pytest.raises(SettingError, match="No config is left for the-model, a causal model: needs a"):
        split({"crows_gender": False, "crows_control_negation": False}, "causal", "the-model")
    with pytest.raises(SettingError, match=r"crows_control_negation has no keywords.*: the-model"):
        split({"crows_control_negation": True}, "seq2seq", "the-model")


# Devices --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cuda", "mps", "device"), [(2, True, "cuda"), (2, False, "cuda"), (0, True, "mps"), (0, False, "cpu")]
)
def test_the_best_device_that_is_at_hand(
    monkeypatch: pytest.MonkeyPatch, cuda: int, mps: bool, device: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert pick_device("auto") == torch.device(device)
    assert pick_device("cpu") == torch.device("cpu")
    for asked, there in (("cuda", cuda), ("cuda:1", cuda), ("cuda:2", False), ("mps", mps), ("meta", True)):
        if there:
            assert pick_device(asked) == torch.device(asked)
        else:
            with pytest.raises(SettingError, match=f"The device '{asked}' is not at hand"):
                pick_device(asked)
    with pytest.raises(SettingError, match="There is no device 'abacus'"):
        pick_device("abacus")


def test_number_types(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pick_dtype("auto", torch.device("mps")) == torch.float16
    assert pick_dtype("float16", torch.device("cpu")) == torch.float16
    assert pick_dtype("float32", torch.device("cuda")) == torch.float32
    with pytest.raises(SettingError, match=r"no dtype 'int8'\. Use one of auto, float32, float16, bfloat16"):
        pick_dtype("int8", torch.device("cpu"))


# Names of models ------------------------------------------------------------------------------------


def test_a_path_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    assert names.written_once("./model//") == "model"
    assert names.written_once("org//model/") == "org//model/", "nothing on this disk"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("/nowhere/at/all", "there is no such folder"),
        ("./nowhere", "there is no such folder"),
        ("~/nowhere", "there is no such folder"),
        ("a/b/c", "there is no such folder"),
    ],
)
def test_a_path_that_is_not_there(name: str, said: str) -> None:
    assert names.advice(name, OSError("no")).startswith(said)


def test_advice_on_a_name(tmp_path: Path) -> None:
    said = names.advice("smolm2", OSError("it is not there.\nand more"))
    assert said.splitlines()[0] == "it is not there"
    assert "Did you mean smollm2" in said.splitlines()[1]
    assert "(./NAME) that holds config.json" in said.splitlines()[-1]
    assert "tokenizer.json" in said.splitlines()[-1]
    assert "Did you mean" not in names.advice("smollm2", OSError("no"))
    assert "Did you mean" not in names.advice("zzzzzzzzzzzz", OSError("no"))
    assert names.advice(str(tmp_path), OSError("no weights")).splitlines()[0] == "no weights"
    assert "config.json, weights and tokenizer.json" in names.advice(str(tmp_path), OSError("no weights"))


def test_a_hub_that_cannot_be_reached_is_said() -> None:
    from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

    for unreachable in (LocalEntryNotFoundError("x"), OfflineModeIsEnabled("x")):
        for outer in (unreachable, OSError("outer")):
            if outer is not unreachable:
                outer.__cause__ = unreachable
            said = names.advice("org/model", outer)
            assert said.startswith("the Hub cannot be reached")
            assert "`smollm2`" in said
    handled = OSError("outer")
    handled.__context__ = OfflineModeIsEnabled("x")
    assert names.advice("org/model", handled).startswith("the Hub cannot be reached")
    other = OSError("outer")
    other.__cause__ = ValueError("x")
    assert names.advice("org/model", other).startswith("outer\n")


def test_candidates_are_each_named_once() -> None:
    found = names.candidates()
    assert found[0] == "smollm2"
    assert len(found) == len(set(found)) > 5
    assert any("/" in name for name in found)


# Files of models ------------------------------------------------------------------------------------


def test_the_first_damaged_file_of_a_folder(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model"))
    (folder / "notes.txt").touch()
    (folder / "deep.json").mkdir()
    assert damaged_file(folder) is None
    (folder / "tokenizer.json").write_text("{")
    assert f"{folder / 'tokenizer.json'} is damaged: Expecting" in str(damaged_file(folder))
    (folder / "model.safetensors").write_bytes(b"0123456789")
    assert f"{folder / 'model.safetensors'} is damaged: " in str(damaged_file(folder))
    (folder / "config.json").write_bytes(b"")
    assert damaged_file(folder) == f"{folder / 'config.json'} is empty: copy or download it again."


def gguf(
    tensors: Sequence[tuple[int, ...]], entries: bytes = b"", number: int = 0, version: int = 3
) -> bytes:
    """The header of a file by hand, as its format says."""
    named = [struct.pack(f"<Q1sI{len(sizes)}QIQ", 1, b"t", len(sizes), *sizes, 0, 0) for sizes in tensors]
    return struct.pack("<4sIQQ", b"GGUF", version, len(tensors), number) + entries + b"".join(named)


def entry(kind: int, value: bytes) -> bytes:
    return struct.pack("<Q3sI", 3, b"key", kind) + value


MORE = "its header claims more than the file holds"
STRING = struct.pack("<Q2s", 2, b"ab")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (gguf([(7,)]), (1, 7)),
        (gguf([(2, 3), (1, 1, 1, 5), (4,)], version=2), (3, 15)),
        (gguf([(7,)], entry(8, STRING) + entry(10, bytes(8)), 2), (1, 7)),
        (gguf([(7,)], entry(9, struct.pack("<IQ", 8, 2) + STRING + STRING) + entry(0, b"x"), 2), (1, 7)),
        (gguf([(7,)], entry(9, struct.pack("<IQ", 3, 3) + bytes(6)), 1), (1, 7)),
        (gguf([()]), "a tensor in its header has 0 dimensions"),
        (gguf([(1, 1, 1, 1, 1)]), "a tensor in its header has 5 dimensions"),
        (gguf([(7,)])[:-1], MORE),
        (gguf([(7,)], entry(8, STRING)[:-1], 1)[:-24], MORE),
        (gguf([]), "it holds no weights, only a vocabulary or settings"),
        (gguf([(7,)], version=4), "it is of version 4, and (2, 3) are read"),
        (b"GGUX", "it does not begin as one"),
        (b"GGU", MORE),
        (gguf([(7,)], entry(9, struct.pack("<IQ", 9, 1)), 1), "an array in its header is of the type 9"),
        (gguf([(7,)], entry(13, b""), 1), "a value in its header is of the type 13, which there is not"),
    ],
    ids=lambda value: "header" if isinstance(value, bytes) else str(value),
)
def test_what_a_header_says(content: bytes, found: tuple[int, int] | str, tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(content)
    if isinstance(found, str):
        with pytest.raises(ValueError, match=f"^{re.escape(found)}$"):
            tensors_in(path)
    else:
        assert tensors_in(path) == found


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12])
def test_the_size_of_a_value_by_its_type(kind: int, tmp_path: Path) -> None:
    """As the writer of the `gguf` package makes them."""
    package = pytest.importorskip("gguf")
    writer = package.GGUFWriter(tmp_path / "small.gguf", "llama")
    writer.add_key_value("key", 1, package.GGUFValueType(kind))
    writer.add_array("keys", [True, False] if kind == 7 else [1.0, 2.0] if kind in (6, 12) else [1, 2])
    writer.add_tensor("t", np.zeros((2, 3), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert tensors_in(tmp_path / "small.gguf") == (1, 6)


def test_a_file_with_content_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    check_whole(path)
    path.write_bytes(b"version https://git-lf")
    check_whole(path)
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(ModelError, match=f"{re.escape(str(path))} is a pointer of Git LFS.*git lfs pull"):
        check_whole(path)


@pytest.mark.parametrize(("animal", "kind"), [("bert", "masked"), ("gpt2", "causal"), ("t5", "seq2seq")])
def test_the_kind_of_a_model_is_in_its_settings(animal: str, kind: str) -> None:
    assert name_and_kind(zoo.directory(animal))[1] == kind
    loaded = load_model(zoo.directory(animal), "cpu", "auto")
    assert (loaded.kind, loaded.name, loaded.revision) == (kind, str(zoo.directory(animal)), None)
    assert (loaded.owned, loaded.from_hub, loaded.asked_revision) == (True, False, None)
    assert not loaded.model.training


def test_a_pair_of_objects_stays_as_it_is() -> None:
    pair = zoo.load("bert")
    same = load_model(pair, "auto", "auto")
    assert same.model is pair[0]
    assert (same.owned, same.kind, same.from_hub) == (False, "masked", False)
    assert load_model(pair, "cpu", "float32").model is pair[0]
    other = load_model(pair, "cpu", "bfloat16").model
    assert (other.dtype, pair[0].dtype) == (torch.bfloat16, torch.float32)
    for wrong in ((pair[0],), (*pair, None), (pair[0], 3), (3, pair[1])):
        with pytest.raises(ModelError, match=r"a pair \(model, tokenizer\)"):
            load_model(wrong, "auto", "auto")
    with pytest.raises(ModelError, match="A int is no name of a model"):
        load_model(3, "auto", "auto")


def test_names_that_have_no_revision(tmp_path: Path) -> None:
    for name in ("smollm2", str(zoo.directory("bert"))):
        with pytest.raises(SettingError, match="is on this disk and has no revision 'main'"):
            name_and_kind(name, "main")
    with pytest.raises(SettingError, match=r"There is no file .*no\.gguf"):
        name_and_kind(tmp_path / "no.gguf")


def test_architectures_that_are_no_list_of_names(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for architectures, kind in ((["BertForMaskedLM"], "masked"), ([], "masked"), (["Nobody"], "masked")):
        (folder / "config.json").write_text(json.dumps({**config, "architectures": architectures}))
        assert name_and_kind(folder)[1] == kind, "what its type can be, where nothing else says it"
    (folder / "config.json").write_text(
        json.dumps({**config, "architectures": ["BertForNextSentencePrediction"]})
    )
    assert name_and_kind(folder)[1] == "nsp"
