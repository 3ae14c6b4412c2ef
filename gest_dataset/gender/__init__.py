"""The gender of the first person in Slavic sentences: parsers, rules, and `detect`.

>>> from gest_dataset.gender import detect, explain
>>> detect(["Bola som unavená."], language="sk", parser="udpipe", model="sk.udpipe")  # doctest: +SKIP
"""

from gest_dataset.gender.detect import Detection, TextWarning, detect, explain, languages
from gest_dataset.gender.own import write_rules
from gest_dataset.gender.parsers.parser import ParserError
from gest_dataset.gender.parsers.table import PARSERS

__all__ = [
    "PARSERS",
    "Detection",
    "ParserError",
    "TextWarning",
    "detect",
    "explain",
    "languages",
    "write_rules",
]
