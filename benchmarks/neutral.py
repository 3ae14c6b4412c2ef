"""Which translations of GEST show no gender: writes `builders/neutral.json`, which a builder cannot work out.

    python benchmarks/neutral.py --models DIR_WITH_LANGUAGE.udpipe --mirror DIR

A text is neutral where the detector finds nothing (a conflict or a text that no rule was asked about is no
finding of nothing), and where besides no word could be a gendered form of a person: none that the grammar of
the language reads as one, whoever it is about, no adjective that the parser gives a gender in a case in which
it could be the speaker's, and no masculine noun for a person that is said of somebody. The second half loses
neutral texts, about 40 % of them, and keeps out most of what the detector misses: a masculine sentence in a
masculine frame would look like a stereotype. The test mirror's texts are asked as well.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from datasets import disable_progress_bars
from printing import show

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.translations import TABLE, text_hash
from gest_dataset.gender import detect
from gest_dataset.gender.grammar import load_grammar
from gest_dataset.gender.parsers import open_parser
from gest_dataset.gender.parsing import DEFAULT_CACHE, parse_texts
from gest_dataset.gender.tokens import Token, Tree
from gest_dataset.languages import LANGUAGES
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import write_json
from gest_dataset.version import __version__

TEST_MIRROR = Path(__file__).resolve().parents[1] / "tests" / "mirror"


def could_be_gendered(token: Token, tree: Tree, language: str) -> bool:
    """Whether a word could be a gendered form of the first person, by its letters or by its tag."""
    grammar = load_grammar(language)
    if any(grammar.gender(token, kind) for kind in (*grammar.endings, *grammar.words)):
        return True
    gender, case = (token.feats.get(feature, "") for feature in ("Gender", "Case"))
    if token.feats.get("Number", "Sing") != "Sing":
        return False
    if token.upos == "ADJ":
        return gender in {"Masc", "Fem"} and case in {"", "Nom", "Ins"}
    governed = token.relation == "nsubj" or any(child.upos == "ADP" for child in tree.children(token))
    person = token.upos == "NOUN" and gender == "Masc" and token.feats.get("Animacy") != "Inan"
    return person and case in {"Nom", "Ins"} and not governed  # *som profesionál*, *jsem manažerem*


def neutral(texts: Sequence[str], language: str, model: Path, cache: Path | None) -> set[str]:
    """The texts in which nothing shows a gender, or could."""
    found = zip(texts, detect(texts, language, "udpipe", model, cache=cache), strict=True)
    unknown = [text for text, d in found if d.gender == "unknown" and not d.conflict and not d.problem]
    return {
        parse.text
        for parse in parse_texts(
            unknown, language, open_parser("udpipe", language, model), cache or DEFAULT_CACHE
        )
        if not any(
            could_be_gendered(token, sentence, language)
            for sentence in parse.sentences
            for token in sentence.tokens
        )
    }


def translations(language: str, mirror: Path) -> dict[str, int]:
    """Each translation in a mirror, with a stereotype that it is for."""
    config = CONFIGS[f"{language}_translations"]
    rows = config.read({key: mirror / key for key in config.sources}, Counter())
    return {row["translation"]: row["stereotype"] for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, required=True, help="directory of LANGUAGE.udpipe")
    parser.add_argument("--mirror", type=Path, required=True, help="mirror of the upstream files")
    parser.add_argument("--cache", type=Path, help="file of parses (default: the package's own)")
    asked = parser.parse_args()
    disable_progress_bars()
    models, texts = {}, {}
    for language in (code for code, each in LANGUAGES.items() if each.systems):
        model = asked.models / f"{language}.udpipe"
        known: set[bytes] = set()
        for mirror in (asked.mirror, TEST_MIRROR):
            stereotypes = translations(language, mirror)
            found = neutral(list(stereotypes), language, model, asked.cache)
            known |= {text_hash(language, text) for text in found}
            others = {text_hash(language, text) for text in stereotypes.keys() - found}
            if known & others:
                raise SystemExit(
                    f"{language}: a neutral and a gendered text have one digest: make it longer."
                )
            if mirror == asked.mirror:
                counts = Counter(stereotypes[text] for text in found)
                show(
                    f"{language}: {len(found)} of {len(stereotypes)} texts",
                    {f"stereotype {i}": counts[i] for i in STEREOTYPES},
                )
        models[language] = hashlib.sha256(model.read_bytes()).hexdigest()[:12]
        texts[language] = base64.b64encode(b"".join(sorted(known))).decode("ascii")
    content = {"detector": __version__, "parser": "UDPipe 1", "models": models, "texts": texts}
    write_json(TABLE, content)


if __name__ == "__main__":
    main()
