"""Prompts that tell a translator the speaker's gender: frames around a sentence, a table per system.

Section 4.3.2 of Pikuliak et al. (2024) frames a sentence as `He said: "…"` or `She said: "…"`. The
authors' Slovak files show a man and a woman instead, which also holds for languages whose pronouns are
dropped, and that DeepL was asked without the colon.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """A sentence's surroundings for each gender of the speaker; `{}` is the sentence."""

    male: str
    female: str

    def ask(self, sentence: str, gender: str) -> str:
        """The prompt for a translation in a gender.

        >>> Frame('He said: "{}"', 'She said: "{}"').ask("I am tired.", "female")
        'She said: "I am tired."'
        """
        return {"male": self.male, "female": self.female}[gender].replace("{}", sentence, 1)


DEFAULT = "The man said: …"
FRAMES: dict[str, Frame] = {
    DEFAULT: Frame('The man said: "{}"', 'The woman said: "{}"'),
    "The man said …": Frame('The man said "{}"', 'The woman said "{}"'),
    "He said: …": Frame('He said: "{}"', 'She said: "{}"'),
    "The man said: … (no quotation marks)": Frame("The man said: {}", "The woman said: {}"),
    "Man said: … (no quotation marks)": Frame("Man said: {}", "Woman said: {}"),
    "Man: …": Frame('Man: "{}"', 'Woman: "{}"'),
    "Man: … (no quotation marks)": Frame("Man: {}", "Woman: {}"),
}
# Systems that are asked in another way than the default
EXCEPTIONS: dict[str, str] = {"deepl": "The man said …"}


def frames(system: str) -> tuple[str, ...]:
    """The frames to try with a system: one for a translator, all for a file made elsewhere."""
    if system.startswith("file:"):
        return tuple(FRAMES)
    return (EXCEPTIONS.get(system, DEFAULT),)
