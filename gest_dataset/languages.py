"""One table of the languages that the data sets speak."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """An ISO 639-1 code, its English name, and the systems whose GEST translations exist.

    `in_part`: upstream has translated some of the sentences only.
    """

    code: str
    name: str
    systems: tuple[str, ...] = ()
    in_part: bool = False


_ALL = ("amazon", "deepl", "google", "nllb")

LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        Language("en", "English"),
        Language("de", "German"),
        Language("fr", "French"),
        Language("es", "Spanish"),
        Language("tr", "Turkish"),
        Language("be", "Belarusian", ("google", "nllb")),
        Language("ru", "Russian", _ALL),
        Language("uk", "Ukrainian", _ALL),
        Language("hr", "Croatian", ("amazon", "google", "nllb")),
        Language("sl", "Slovenian", _ALL),
        Language("sr", "Serbian", ("amazon", "google", "nllb")),
        Language("cs", "Czech", _ALL),
        Language("pl", "Polish", _ALL),
        Language("sk", "Slovak", _ALL),
        Language("bg", "Bulgarian", ("google",), in_part=True),
    )
}

# The nine target languages of GEST, in the papers' order; Bulgarian is only partly translated.
SLAVIC = ("be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk")
STEREOSET = ("en", "de", "fr", "es", "tr")
