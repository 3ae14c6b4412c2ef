"""The authors' rules: each against their procedure written again, one sample at a time; never the default."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset

from gest_dataset.runs.manifest import read_manifest
from tests.models.test_exact import reader, rows, run
from tests.support import naive
from tests.support.naive import CANDIDATES, SENTENCES, Reader

pytestmark = pytest.mark.usefixtures("one_thread")


def scored(
    who: Reader, config: str | Dataset, rules: str | tuple[str, ...], number: int, **options: Any
) -> Any:
    return run(who, config, {"rules": rules, **options}, limit=number)


def share(who: Reader, ids: list[int], **more: Any) -> torch.Tensor:
    """The probabilities at every position."""
    return naive.logp(who, ids, **more).exp()


@pytest.mark.parametrize("animal", ["gpt2", "llama"])
def test_bos_first_within(animal: str) -> None:
    """Their generative_inference: the first token from the start token alone, the others without it."""
    who, config = reader(animal), "stereoset_en_intrasentence"
    start = who.tokenizer.bos_token_id
    table = scored(who, config, "bos-first", 5).table.to_pylist()
    for row, found in zip(rows(config, 5), table, strict=True):
        for name in CANDIDATES:
            ids = [i for i in who.tokenizer(row[name])["input_ids"] if i != start]
            probabilities = [share(who, [start])[0, ids[0]].item()]
            plain = share(who, ids)
            probabilities += [plain[i - 1, ids[i]].item() for i in range(1, len(ids))]
            assert found[name] == pytest.approx(np.exp(np.mean(np.log(probabilities))), rel=1e-4)
    assert table != scored(who, config, (), 5).table.to_pylist()


@pytest.mark.parametrize("animal", ["gpt2", "t5"])
def test_full_stop(animal: str) -> None:
    """As if the context had one; a context that ends with one of three signs stays as it is."""
    config = "stereoset_de_intersentence"
    own = rows(config, 3).map(
        lambda row, number: {"context": "Der Mann ging" + ("", "!", "?")[number]},
        with_indices=True,
        load_from_cache_file=False,
    )
    stopped = own.map(
        lambda row: {
            "context": row["context"].replace("ging", "ging.")
            if row["context"][-1] == "g"
            else row["context"]
        },
        load_from_cache_file=False,
    )
    assert own["context"] != stopped["context"]
    theirs = run(reader(animal), own, {"rules": "full-stop"}).table
    assert theirs == run(reader(animal), stopped, {}).table
    assert theirs["stereotype"][0] != run(reader(animal), own, {}).table["stereotype"][0]


def test_encoder_pieces() -> None:
    """Piece j is the first thing behind the sentinel, in front of which stand the pieces before it."""
    who, config = reader("t5-letters"), "stereoset_en_intrasentence"
    sentinel, start = naive.sentinel(who, 0), who.model.config.decoder_start_token_id
    found = scored(who, config, "encoder-pieces", 3).table.to_pylist()
    for row, scores in zip(rows(config, 3), found, strict=True):
        for name in CANDIDATES:
            word = row[f"{name}_word"]
            text = naive.tokenize(who, row["context"].replace("BLANK", word))
            place = row["context"].index("BLANK")
            slot = text.tokens(place, place + len(word))
            probabilities = []
            for step in slot:
                encoder = [*text.ids[:step], sentinel, *text.ids[slot[-1] + 1 :]]
                at = share(who, encoder, decoder_input_ids=torch.tensor([[start, sentinel]]))
                probabilities.append(at[1, text.ids[step]].item())
            assert scores[name] == pytest.approx(np.mean(probabilities), rel=1e-4)


def test_counted_end() -> None:
    """Their generative_inference_t5: the last token that counts is `</s>`."""
    who, config = reader("t5"), "stereoset_de_intersentence"
    sentinel, start = naive.sentinel(who, 0), who.model.config.decoder_start_token_id
    found = scored(who, config, "counted-end", 3).table.to_pylist()
    for row, scores in zip(rows(config, 3), found, strict=True):
        for name in CANDIDATES:
            context, whole = f"{row['context']} ", f"{row['context']} {row[name]}"
            text = naive.tokenize(who, whole)
            slot = text.tokens(len(context), len(whole))
            decoder = [start, sentinel, *text.pick(slot), who.tokenizer.eos_token_id]
            encoder = [*text.ids[: slot[0]], sentinel, *text.ids[slot[-1] + 1 :]]
            at = share(who, encoder, decoder_input_ids=torch.tensor([decoder]))
            own = [at[i - 1, decoder[i]].item() for i in range(2, len(decoder))]
            assert scores[name] == pytest.approx(np.exp(np.mean(np.log(own))), rel=1e-4)


def logps(who: Reader, left: str, right: str) -> list[float]:
    """Their crows_sentence_logprobs: ln P of the left text's tokens that the right one has."""
    one, two = naive.tokenize(who, left), naive.tokenize(who, right)
    found = []
    for block in difflib.SequenceMatcher(None, one.ids, two.ids).get_opcodes():
        for place in range(*block[1:3]):
            if block[0] == "equal" and not one.special[place]:
                found += naive.masked_logps(who, one.ids, [place], [place])
    return found


def cs(who: Reader, left: str, right: str) -> float:
    both = zip(logps(who, left, right), logps(who, right, left), strict=False)
    return sum(one - two for one, two in both)


# of `he` and `she`, in another order, each matching takes the first one of its left text
TURNED = ("he she ran", "she he ran")


def turned() -> Dataset:
    row = rows("crows_gender", 1)[0] | {"stereotyped": TURNED[0], "other": TURNED[1]}
    return Dataset.from_list([row], features=rows("crows_gender", 1).features)


def test_two_matchings() -> None:
    who = reader("bert")
    theirs = run(who, turned(), {"rules": "two-matchings"}).table["cs_original"][0].as_py()
    assert theirs == pytest.approx(cs(who, *TURNED), abs=1e-4)
    ours = run(who, turned(), {}).table["cs_original"][0].as_py()
    assert ours == pytest.approx(naive.cs(who, *TURNED), abs=1e-4)
    assert abs(ours - theirs) > 1e-2
    for row, found in zip(
        rows("slovak_gender", 3),
        scored(who, "slovak_gender", "two-matchings", 3).table.to_pylist(),
        strict=True,
    ):
        assert found["cs_original"] == pytest.approx(cs(who, row[SENTENCES[0]], row[SENTENCES[2]]), abs=1e-4)


def test_own_negation() -> None:
    """`cs` of each group's sentence and its negation; sets with keywords are asked as ever."""
    who, config = reader("bert"), "crows_control_negation"
    (found, *_) = scored(who, config, "own-negation", 2).table.to_pylist()
    row = rows(config, 1)[0]
    original, negation, other, other_negation = (row[name] for name in SENTENCES)
    assert found["cs_original"] == pytest.approx(naive.cs(who, original, negation), abs=1e-4)
    assert found["cs_control"] == pytest.approx(naive.cs(who, other, other_negation), abs=1e-4)
    assert scored(who, "slovak_gender", "own-negation", 3).table == scored(who, "slovak_gender", (), 3).table


@pytest.mark.parametrize(
    ("animal", "config", "told"),
    [
        ("gpt2", "stereoset_en_intrasentence", "bos-first"),
        ("t5", "stereoset_de_intersentence", "counted-end,full-stop"),
        ("bert", "slovak_gender", "length-differences,own-negation,two-matchings"),
        ("bert", "en", None),
    ],
)
def test_a_run_says_which_rules_it_follows(
    animal: str, config: str, told: str | None, tmp_path: Path
) -> None:
    """In the settings, the metadata and the signature; where none applies, that."""
    limit = None if config == "en" else 3
    scores = run(reader(animal), config, {"rules": "authors"}, limit=limit, output=tmp_path)
    assert scores.metadata["options"].get("rules") == told
    assert read_manifest(tmp_path).settings["options"].get("rules") == told
    assert ("rules=" in scores.signature) == (told is not None)
    assert f"|options:rules={told}|" in scores.signature or told is None
