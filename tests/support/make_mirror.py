"""Write `tests/mirror/`: a small mirror of the upstream files, with sentences of this project's own.

The files have the names, columns, encodings, quoting, line ends and pickle layout of the real ones, so
that every builder runs on them without the network; not one sentence is taken from upstream. The texts
are in `mirror_text.json` beside this script, where `{a/b}` stands for two forms of one text (masculine
and feminine, stereotype's group and other group, pro- and anti-stereotyped) and `<_>` for a keyword.

Run it again after any change of the texts; the same texts give the same bytes:

    python -m venv /tmp/mirror-venv
    /tmp/mirror-venv/bin/pip install "pandas==1.5.3" "numpy<2"
    /tmp/mirror-venv/bin/python tests/support/make_mirror.py

The pickles need that old pair (in a throwaway venv: pandas 1.5.3 has wheels for Python 3.8 to 3.11),
because later versions write another layout, with other class names inside, than upstream's pickles have.
Git must not touch the line ends of the result: `tests/mirror/** -text` in `.gitattributes`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import re
import shutil
import string
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pandas

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE / "mirror"
TEXTS: dict[str, Any] = json.loads((HERE / "mirror_text.json").read_text(encoding="utf-8"))
GEST = TEXTS["gest"]

Files = dict[str, bytes]  # path inside a repository -> content

UNIX, DOS = "\n", "\r\n"
PAIR_LANGUAGES = ["be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk"]

#: folder -> (name in gender_variants.csv, languages, share of masculine texts that it aims at)
SYSTEMS: dict[str, tuple[str, list[str], float]] = {
    "amazon_translate": ("AmazonTranslate", ["cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk"], 0.75),
    "deepl": ("DeepL", ["cs", "pl", "ru", "sk", "sl", "uk"], 0.70),
    "google_translate": (
        "GoogleTranslate",
        ["be", "bg", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk"],
        0.65,
    ),
    "nllb_3b": ("NLLB", ["be", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk"], 0.60),
}

#: folder -> prompts in its Slovak file: English frame, Slovak frame, number of sentences
PROMPTS: dict[str, tuple[str, str, int]] = {
    "amazon_translate": ('{} said: "{}"', "{}: „{}“", 12),
    "deepl": ('{} said "{}"', '{}: "{}"', 33),
    "google_translate": ('{} said: "{}"', '{}: "{}"', 12),
}

LICENCES = {  # repository -> licence of the real files, for which these stand in
    "kinit-sk/gest": "Apache-2.0",
    "kinit-sk/bias-methodology": "none stated in the repository",
    "nyu-mll/crows-pairs": "CC BY-SA 4.0",
    "slds-lmu/stereotypes-multi": "none stated; derived from StereoSet, CC BY-SA 4.0",
    "uclanlp/corefBias": "MIT",
    "JacquelineRowe/EuroGEST": "Apache-2.0",
}

# ---------------------------------------------------------------------------------------------- texts


def forms(text: str) -> tuple[str, str]:
    """Both readings of a text: `Som {rád/rada}.` -> `("Som rád.", "Som rada.")`."""
    first, second = (re.sub(r"\{(.*?)/(.*?)\}", rf"\{group}", text) for group in (1, 2))
    return first, second


def table(rows: Iterable[Sequence[Any]], line_end: str, last_line_end: bool = True) -> bytes:
    """Rows as UTF-8 CSV; some upstream files lack the line end of the last row."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator=line_end).writerows(rows)
    text = buffer.getvalue()
    return (text if last_line_end else text.removesuffix(line_end)).encode("utf-8")


def digest(text: str) -> str:
    """32 hexadecimal digits, as the ids of StereoSet have."""
    return hashlib.md5(text.encode("utf-8")).hexdigest()


def in_latin(text: str) -> str:
    """Serbian Cyrillic in the Latin alphabet, which Amazon Translate writes."""
    single = dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=False))
    letters = single | {"љ": "lj", "њ": "nj", "џ": "dž"}
    letters |= {lower.upper(): latin.capitalize() for lower, latin in letters.items()}
    return "".join(letters.get(letter, letter) for letter in text)


def translated(entry: dict[str, Any], language: str, system: str) -> tuple[str, str] | None:
    """Masculine and feminine translation of an entry by a system, or None where there is none."""
    if language not in entry:
        return None
    masculine, feminine = forms(entry[language])
    if language == "sr" and system == "amazon_translate":
        return in_latin(masculine), in_latin(feminine)
    return masculine, feminine


# ----------------------------------------------------------------------------------------------- GEST


def gest_rows() -> list[dict[str, Any]]:
    """The 34 rows of GEST in file order: every sentence once, one again with another stereotype."""
    rows = [dict(entry) for entry in GEST["sentences"]]
    random.Random("rows").shuffle(rows)
    again = next(row for row in rows if row["en"] == GEST["repeated"]["en"])
    rows.append(again | GEST["repeated"])
    for row in rows:
        row.setdefault("en_1_0", row["en"])
    return rows


def is_female(stereotype: int) -> bool:
    """Stereotypes 1 to 7 are about women."""
    return stereotype <= 7


def gest_csv() -> Files:
    """`gest.csv` (1.0) and `gest_1.1.csv`: the same rows, four sentences repaired."""
    header = ["sentence", "stereotype"]
    rows = gest_rows()
    old = [(row["en_1_0"], row["stereotype"]) for row in rows]
    new = [(row["en"], row["stereotype"]) for row in rows]
    return {
        "data/gest.csv": table([header, *old], UNIX),
        "data/gest_1.1.csv": table([header, *new], DOS),
    }


def annotations_csv() -> Files:
    """`annotations.csv`: the rows of `gest.csv` with both annotators' votes, and rejected sentences."""
    genders = ["strong_female", "female", "neutral", "male", "strong_male"]
    matches = ["strong_agree", "agree", "neutral", "disagree", "strong_disagree"]
    notes = ["final_verdict", "final_stereotype", "comment", "fix"]
    header = ["sentence", "stereotype", *(f"gender_{name}" for name in genders)]
    header += [*(f"match_{name}" for name in matches), *notes]
    header += ["first_annotator", "second_annotator", "creator"]

    collected: list[dict[str, Any]] = []
    for number, row in enumerate(gest_rows(), start=1):
        gender = "strong_female" if is_female(row["stereotype"]) else "strong_male"
        plain = {"sentence": row["en_1_0"], "stereotype": row["stereotype"], "gender": gender}
        collected.append(plain | GEST["annotated"].get(row["en_1_0"], {}))
        rejected = [entry for entry in GEST["rejected"] if entry["after"] == number]
        collected += [entry | {"final_verdict": "no"} for entry in rejected]

    lines: list[list[str]] = [header]
    for number, entry in enumerate(collected):
        label = GEST["stereotype_labels"][str(entry["stereotype"])]
        match = entry.get("match", "strong_agree")
        line = [entry["sentence"], f"Stereotyp #{entry['stereotype']}: {label}"]
        line += ["x" if name == entry["gender"] else "" for name in genders]
        line += ["x" if name == match else "" for name in matches]
        line += [entry.get(note, "") for note in notes]
        line += ["KL" if number < 20 else "RS", "TV", "KLM"[number % 3]]
        lines.append(line)
    return {"data/annotations.csv": table(lines, DOS, last_line_end=False)}


def slovak_prompts(system: str) -> list[tuple[str, str]]:
    """`The man said "…"` and `The woman said "…"` with translations; now and then the woman's fails."""
    if system not in PROMPTS:
        return []
    english, slovak, count = PROMPTS[system]
    chance = random.Random(f"{system} prompts")
    rows = []
    for entry in GEST["sentences"][:count]:
        source = entry.get("en_1_0", entry["en"])
        masculine, feminine = forms(entry["sk"])
        said_by_her = masculine if chance.random() < 0.12 else feminine
        rows.append((english.format("The man", source), slovak.format("Muž povedal", masculine)))
        rows.append((english.format("The woman", source), slovak.format("Žena povedala", said_by_her)))
    return rows


def translation_files() -> Files:
    """`translations/<system>/<language>/translations.csv`, keyed by the 1.0 text, in a shuffled order."""
    files: Files = {}
    for system, (_, languages, masculine_share) in SYSTEMS.items():
        for language in languages:
            chance = random.Random(f"{system} {language}")
            rows = []
            for entry in [*GEST["sentences"], *GEST["extra"]]:
                pair = translated(entry, language, system)
                if pair is None:
                    continue
                shift = -0.3 if is_female(entry.get("stereotype", 0)) else 0.15
                masculine = chance.random() < masculine_share + shift
                rows.append((entry.get("en_1_0", entry["en"]), pair[0] if masculine else pair[1]))
            if language == "sk":
                rows += slovak_prompts(system)
            chance.shuffle(rows)
            path = f"data/translations/{system}/{language}/translations.csv"
            files[path] = table([("from", "to"), *rows], UNIX)
    return files


def gender_variants_csv() -> Files:
    """`gender_variants.csv`: a masculine and a feminine translation by each system.

    NLLB's rows of a few sentences are the odd ones that the pairs builder has to reject.
    """
    lines: list[Sequence[Any]] = [("translator", "language", "original", "stereotype", "male", "female")]
    rows = gest_rows()
    for system, (translator, languages, _) in SYSTEMS.items():
        for language in (name for name in languages if name in PAIR_LANGUAGES):
            odd = {
                entry["en"]: forms(entry[language])
                for entry in GEST["odd_variants"]
                if system == "nllb_3b" and language in entry
            }
            for row in rows:
                pair = odd.get(row["en"]) or translated(row, language, system)
                if pair and (pair[0] != pair[1] or row["en"] in odd):
                    lines.append((translator, language, row["en_1_0"], row["stereotype"], *pair))
    return {"data/gender_variants.csv": table(lines, UNIX)}


def swap_annotations_txt() -> Files:
    """`gender-swap-annotations.txt`: pairs that differ in one word, labelled by hand."""
    pairs = [(label, *forms(text)) for label, text in GEST["swap_pairs"]]
    labels = {True: "", False: ""}  # accepted by the first-letter rule? -> labels
    for label, masculine, feminine in pairs:
        words = zip(masculine.split(), feminine.split(), strict=True)
        ((left, right),) = [(left, right) for left, right in words if left != right]
        labels[left[0] == right[0]] += label
    accepted, rejected = labels[True], labels[False]
    head = [
        "Annotation key:",
        "X - The second sentence is not the other gender's form of the first.",
        "G - It is, but with another key word.",
        "C - It is, with the same key word.",
        "",
        f"Positives: {accepted.count('C')}C {accepted.count('G')}G",
        f"Negatives: {rejected.count('X')}X {rejected.count('G')}G",
        "",
    ]
    body = [line for label, *texts in pairs for line in (*texts, label, "")]
    return {"data/gender-swap-annotations.txt": DOS.join([*head, *body, ""]).encode("utf-8")}


# ---------------------------------------------------------------------------- word-filling and CrowS


def genderswap_txt() -> Files:
    """Quadruplets in two blocks of two lines: original and control, for each of two keywords."""
    files: Files = {}
    for name, filtered in (
        ("stereoset_genderswap", False),
        ("stereoset_genderswap_filtered", True),
    ):
        blocks = []
        for sample in TEXTS["genderswap"]:
            if sample["filtered"] or not filtered:
                for word in sample["words"]:
                    original, control = forms(sample["text"].replace("<_>", f"<{word}>"))
                    blocks.append(original + DOS + control + DOS)
        files[f"data/{name}.txt"] = DOS.join(blocks).encode("utf-8")
    return files


def slovak_gender_csv() -> Files:
    """`slovak_gender.csv`: the four sentences of a quadruplet in a row, and two columns of objections."""
    header = ["ID", "file", "Gender veta 1", "sentiment", "veta1", "veta2", "veta3", "veta4"]
    lines = [[*header, "competence?", "misogynistic?"]]
    for row in TEXTS["slovak_gender"]:
        original, control = forms(row["text"])
        sentences = [
            text.replace("<_>", f"<{word}>")
            for text, word in zip((original, original, control, control), row["words"], strict=True)
        ]
        line = [row["id"], row["file"], row["gender"], row["sentiment"], *sentences, *row["flags"]]
        lines.append(line)
    return {"data/slovak_gender.csv": table(lines, DOS, last_line_end=False)}


def crows_pairs_csv() -> Files:
    """`crows_pairs_anonymized.csv`: the original pairs, with annotations as Python prints them."""
    lines: list[Sequence[Any]] = [
        (
            "",
            "sent_more",
            "sent_less",
            "stereo_antistereo",
            "bias_type",
            "annotations",
            "anon_writer",
            "anon_annotators",
        )
    ]
    for number, row in enumerate(TEXTS["crows"]):
        votes = [[row["bias_type"]] for _ in range(5)]
        if number % 3 == 2:
            votes[3] = []
        people = [f"a{4 + (3 * number + vote) % 12}" for vote in range(5)]
        pair = forms(row.get("before_revision", row["text"]))
        line = (number, *pair, row["direction"], row["bias_type"], votes, f"a{number % 4}", people)
        lines.append(line)
    return {"data/crows_pairs_anonymized.csv": table(lines, UNIX)}


def crows_revised_csv() -> Files:
    """`crows_revised.csv`: the pairs that are kept, some repaired, under their old numbers."""
    lines: list[Sequence[Any]] = [("", "sent_more", "sent_less", "stereo_antistereo", "bias_type")]
    for number, row in enumerate(TEXTS["crows"]):
        if not row.get("dropped"):
            bias_type = row.get("bias_type_revised", row["bias_type"])
            lines.append((number, *forms(row["text"]), row["direction"], bias_type))
    return {"data/crows_revised.csv": table(lines, DOS, last_line_end=False)}


def crows_control_csv() -> Files:
    """`crows_negation.csv` and `crows_antistereotype.csv`: no header, a column for each sample.

    Rows 0 and 1 are the pair, every further two rows another control pair (empty where there is none).
    """
    files: Files = {}
    for kind in ("negation", "antistereotype"):
        samples = [row for row in TEXTS["crows"] if kind in row]
        most = max(len(row[kind]) for row in samples)
        columns = []
        for row in samples:
            pairs = [forms(text) for text in (row["text"], *row[kind])]
            cells = [sentence for pair in pairs for sentence in pair]
            columns.append(cells + [""] * (2 * most + 2 - len(cells)))
        rows = list(zip(*columns, strict=True))
        files[f"data/crows_{kind}.csv"] = table(rows, DOS, last_line_end=False)
    return files


# ------------------------------------------------------------------------------------------ StereoSet

PEOPLE = [digest(f"annotator {number}") for number in range(7)]
LABELS = ["stereotype", "anti-stereotype", "unrelated"]
DE_MISSING_ROW = 4  # the German intrasentence file lacks rows, and its index shows the gap


def filled(context: str, word: str, language: str) -> str:
    """The context with its word; English sentences are in lower case but for their first letter."""
    if language != "en":
        return context.replace("BLANK", word)
    text = context.lower().replace("blank", word)
    return text[:1].upper() + text[1:]


def named_word(context: str, word: str, language: str) -> str:
    """The word as upstream names it: in English all that stands between two spaces, without punctuation."""
    if language != "en":
        return word
    around = next(part for part in context.split() if "BLANK" in part)
    return around.replace("BLANK", word).translate(str.maketrans("", "", string.punctuation))


def stereoset_cells(kind: str, number: int, entry: dict[str, Any], language: str) -> dict[str, Any]:
    """One row: `c1_…` to `c3_…` are the three choices in the entry's order of gold labels."""
    target, context, *texts = entry[language]
    key = f"{kind} {number}"
    cells: dict[str, Any] = {"id": digest(key), "target": target, "bias_type": entry["bias_type"]}
    cells |= {"context": context, "target_original": entry["en"][0]}
    choices = dict(zip(LABELS, texts, strict=True))
    for place, label in enumerate(entry["order"], start=1):
        votes = [{"label": label, "human_id": PEOPLE[(number + vote) % 7]} for vote in range(5)]
        if number % 4 == 1 and place == 2:
            votes[4]["label"] = "related"
        cells[f"c{place}_gold_label"] = label
        cells[f"c{place}_id"] = digest(f"{key} {label}")
        cells[f"c{place}_labels"] = votes
        if kind == "intrasentence":
            cells[f"c{place}_word"] = named_word(context, choices[label], language)
            cells[f"c{place}_sentence"] = filled(context, choices[label], language)
        else:
            cells[f"c{place}_sentence"] = choices[label]
    return cells


def stereoset_columns(kind: str, language: str) -> list[str]:
    """Upstream's order of columns, which is not the same in all languages."""
    head = ["id", "target", "bias_type", "context"]
    numbers = (1, 2, 3)
    if kind == "intrasentence" and language in ("en", "de"):
        head += [f"c{n}_{part}" for n in numbers for part in ("word", "gold_label")]
        head += [f"c{n}_{part}" for n in numbers for part in ("sentence", "id", "labels")]
    else:
        head += [f"c{n}_{part}" for n in numbers for part in ("sentence", "gold_label")]
        head += [f"c{n}_{part}" for n in numbers for part in ("id", "labels")]
        head += [f"c{n}_word" for n in numbers if kind == "intrasentence"]
    return head if language == "en" else [*head, "target_original"]


def stereoset_pickles() -> Files:
    """`df_<kind>_<language>.pkl`, as `DataFrame.to_pickle` of pandas 1.5.3 writes it by default."""
    files: Files = {}
    for kind in ("intrasentence", "intersentence"):
        for language in ("en", "de", "fr", "es", "tr"):
            rows = [stereoset_cells(kind, n, entry, language) for n, entry in enumerate(TEXTS[kind])]
            columns = stereoset_columns(kind, language)
            frame = pandas.DataFrame(rows)
            if kind == "intersentence" and language in ("fr", "es", "tr"):
                originals = list(frame["target_original"])  # a later addition: it has its own block
                frame = frame[columns[:-1]].copy().assign(target_original=originals)
            else:
                frame = frame[columns].copy()
            if kind == "intrasentence" and language == "de":
                frame = frame.drop(index=DE_MISSING_ROW)
            buffer = io.BytesIO()
            frame.to_pickle(buffer)
            files[f"create_dataset/data/{kind}/df_{kind}_{language}.pkl"] = buffer.getvalue()
    return files


# ------------------------------------------------------------------------------------------- WinoBias


def winobias_files() -> Files:
    """Numbered lines with the person and the pronoun in brackets; lists of occupations."""
    folder = "WinoBias/wino/data"
    files: Files = {}
    for name in ("type1.txt.dev", "type1.txt.test", "type2.txt.dev", "type2.txt.test"):
        pairs = [forms(text) for text in TEXTS["winobias"][name]]
        for side, sentences in zip(("pro", "anti"), zip(*pairs, strict=True), strict=True):
            lines = [f"{number} {text}\n" for number, text in enumerate(sentences, start=1)]
            files[f"{folder}/{side}_stereotyped_{name}"] = "".join(lines).encode("ascii")
    for gender in ("male", "female"):
        occupations = "\n".join(TEXTS["winobias"][f"{gender}_occupations"])
        files[f"{folder}/{gender}_occupations.txt"] = occupations.encode("ascii")
    return files


# ------------------------------------------------------------------------------------------- EuroGEST


def eurogest_files() -> Files:
    """`prompt_scaffolds.json`, `punc_map.json` and `supported_languages.json`, by names of languages."""
    files: Files = {}
    for name, content in TEXTS["eurogest"].items():
        text = json.dumps(content, indent=4, ensure_ascii=False)
        files[f"evaluate_models/configs/{name}.json"] = text.encode("utf-8")
    return files


# -------------------------------------------------------------------------------------------- writing


def git_blob(content: bytes) -> str:
    """The id that git gives to a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def all_files() -> dict[str, Files]:
    """Repository -> its files."""
    return {
        "kinit-sk/gest": gest_csv()
        | annotations_csv()
        | translation_files()
        | gender_variants_csv()
        | swap_annotations_txt(),
        "kinit-sk/bias-methodology": genderswap_txt()
        | slovak_gender_csv()
        | crows_revised_csv()
        | crows_control_csv(),
        "nyu-mll/crows-pairs": crows_pairs_csv(),
        "slds-lmu/stereotypes-multi": stereoset_pickles(),
        "uclanlp/corefBias": winobias_files(),
        "JacquelineRowe/EuroGEST": eurogest_files(),
    }


def manifest(repositories: dict[str, Files]) -> dict[str, Any]:
    """What `MANIFEST.json` says: a made-up commit, the licence of the texts, ids and sizes."""
    result: dict[str, Any] = {}
    for repository, files in repositories.items():
        stands_in_for = f"this project's own test data, in place of files under: {LICENCES[repository]}"
        result[repository] = {
            "commit": hashlib.sha1(repository.encode("ascii")).hexdigest(),
            "licence": stands_in_for,
            "files": {
                path: {"git_blob": git_blob(content), "bytes": len(content)}
                for path, content in sorted(files.items())
            },
        }
    return result


def main() -> None:
    """Replace `tests/mirror/`."""
    if pandas.__version__ != "1.5.3" or not numpy.__version__.startswith("1."):
        found = f"pandas {pandas.__version__} and numpy {numpy.__version__}"
        raise SystemExit(f"The pickles need pandas==1.5.3 and numpy<2, not {found}; see the docstring.")
    repositories = all_files()
    if ROOT.exists():
        shutil.rmtree(ROOT)
    for repository, files in repositories.items():
        for path, content in files.items():
            target = ROOT / repository / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    text = json.dumps(manifest(repositories), indent=1, ensure_ascii=False) + "\n"
    (ROOT / "MANIFEST.json").write_text(text, encoding="utf-8", newline="\n")
    sizes = [len(content) for files in repositories.values() for content in files.values()]
    print(f"{len(sizes)} files, {sum(sizes):,} bytes in {ROOT}")


if __name__ == "__main__":
    main()
