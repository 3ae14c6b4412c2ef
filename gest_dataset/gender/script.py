"""Serbian in Cyrillic, written in Latin letters for a parser that knows only those, and back."""

from __future__ import annotations

_CYRILLIC = "а б в г д ђ е ж з и ј к л љ м н њ о п р с т ћ у ф х ц ч џ ш"
_LATIN = "a b v g d đ e ž z i j k l lj m n nj o p r s t ć u f h c č dž š"
SERBIAN = dict(zip(_CYRILLIC.split(), _LATIN.split(), strict=True))


def to_latin(text: str) -> tuple[str, list[int]]:
    """The text in Latin letters, and for every position in it (and its end) the one in the text.

    >>> to_latin("Љубав")
    ('Ljubav', [0, 0, 1, 2, 3, 4, 5])
    """
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        latin = SERBIAN.get(letter.lower(), letter)
        if latin is not letter and letter.isupper():
            latin = latin.capitalize()
        letters.append(latin)
        places.extend([place] * len(latin))
    return "".join(letters), [*places, len(text)]
