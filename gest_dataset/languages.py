"""One table of the languages that the data sets speak."""

from dataclasses import dataclass

from gest_dataset.errors import ConfigError


@dataclass(frozen=True)
class Language:
    """An ISO 639-1 code, its English name, and the systems whose GEST translations exist.

    `in_part`: upstream has translated some of the sentences only. `iso3` is the code of ISO 639-3,
    `script` that of ISO 15924; together, `slk_Latn`, they are the language's code in FLORES-200 and
    NLLB (whose only Serbian is Cyrillic). DeepL, Google and Amazon take the code of ISO 639-1.
    """

    code: str
    name: str
    iso3: str
    systems: tuple[str, ...] = ()
    in_part: bool = False
    script: str = "Latn"


_ALL = ("amazon", "deepl", "google", "nllb")

LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        Language("en", "English", "eng"),
        Language("de", "German", "deu"),
        Language("fr", "French", "fra"),
        Language("es", "Spanish", "spa"),
        Language("tr", "Turkish", "tur"),
        Language("be", "Belarusian", "bel", ("google", "nllb"), script="Cyrl"),
        Language("ru", "Russian", "rus", _ALL, script="Cyrl"),
        Language("uk", "Ukrainian", "ukr", _ALL, script="Cyrl"),
        Language("hr", "Croatian", "hrv", ("amazon", "google", "nllb")),
        Language("sl", "Slovenian", "slv", _ALL),
        Language("sr", "Serbian", "srp", ("amazon", "google", "nllb"), script="Cyrl"),
        Language("cs", "Czech", "ces", _ALL),
        Language("pl", "Polish", "pol", _ALL),
        Language("sk", "Slovak", "slk", _ALL),
        Language("bg", "Bulgarian", "bul", ("google",), in_part=True, script="Cyrl"),
    )
}

# The nine target languages of GEST, in the papers' order; Bulgarian is only partly translated.
SLAVIC = ("be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk")
STEREOSET = ("en", "de", "fr", "es", "tr")
SOURCE = "en"  # what is translated


def target_languages(names: str) -> list[str]:
    """The codes of a list with commas; `slavic` stands for the nine of GEST.

    >>> target_languages("bg,slavic")
    ['bg', 'be', 'ru', 'uk', 'hr', 'sl', 'sr', 'cs', 'pl', 'sk']
    """
    codes = [code for name in names.split(",") for code in (SLAVIC if name == "slavic" else [name.strip()])]
    for code in codes:
        if code not in LANGUAGES or code == SOURCE:
            offered = ", ".join(["slavic", *(code for code in LANGUAGES if code != SOURCE)])
            raise ConfigError(f"There is no target language {code!r}. Choose from {offered}.")
    return list(dict.fromkeys(codes))
