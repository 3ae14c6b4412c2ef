"""The gender of the first person in Slavic sentences.

>>> from gest_dataset.gender import detect, explain
>>> detect(["Bola som unavená."], language="sk", parser="udpipe", model="sk.udpipe")  # doctest: +SKIP

A parser (`parsers/`) finds the words and their relations. A rule (`rules/rules.yaml`) names a kind of
gendered word and an anchor, the reason why the word is about the speaker. The words and endings of a language
are in its grammar (`grammars/LANGUAGE.yaml`).
"""

from gest_dataset.gender.detect import Detection, detect, explain
from gest_dataset.gender.grammar import languages, write_rules
from gest_dataset.gender.parsers import PARSERS
from gest_dataset.gender.parsers.conllu import ParserError

__all__ = ["PARSERS", "Detection", "ParserError", "detect", "explain", "languages", "write_rules"]
