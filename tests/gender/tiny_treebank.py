"""A treebank of a few sentences, on which the tests train tiny parsers; it needs nothing but Python."""

from __future__ import annotations

import itertools

_WORDS = {  # form: UPOS, features
    "Bola": ("AUX", "Gender=Fem|Number=Sing|Tense=Past|VerbForm=Part"),
    "Bol": ("AUX", "Gender=Masc|Number=Sing|Tense=Past|VerbForm=Part"),
    "som": ("AUX", "Mood=Ind|Number=Sing|Person=1|Tense=Pres|VerbForm=Fin"),
    ".": ("PUNCT", "_"),
}
_ADJECTIVES = [("unavená", "unavený"), ("smutná", "smutný"), ("pekná", "pekný"), ("silná", "silný")]
_ADVERBS = ["veľmi", "vždy", "doma", "vtedy"]


def conllu() -> tuple[str, str]:
    """Sentences such as *Bola som veľmi unavená.*, as plain text and as CoNLL-U."""
    texts, trees = [], []
    for (female, male), adverb, is_female in itertools.product(_ADJECTIVES, _ADVERBS, (True, False)):
        cop, adjective = ("Bola", female) if is_female else ("Bol", male)
        gender = "Fem" if is_female else "Masc"
        rows = [
            (cop, *_WORDS[cop], 4, "cop"),
            ("som", *_WORDS["som"], 4, "aux"),
            (adverb, "ADV", "Degree=Pos", 4, "advmod"),
            (adjective, "ADJ", f"Case=Nom|Gender={gender}|Number=Sing", 0, "root"),
            (".", *_WORDS["."], 4, "punct"),
        ]
        text = f"{cop} som {adverb} {adjective}."
        lines = [f"# text = {text}"]
        for number, (form, upos, feats, head, relation) in enumerate(rows, start=1):
            space = "SpaceAfter=No" if number == 4 else "_"
            lines.append(
                f"{number}\t{form}\t{form.lower()}\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t{space}"
            )
        texts.append(text)
        trees.append("\n".join(lines) + "\n\n")
    return "\n\n".join(texts) + "\n", "".join(trees)
