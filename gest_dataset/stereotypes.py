"""The 16 gender stereotypes of GEST (Table 1 of Pikuliak et al., 2024)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Stereotype:
    """A stereotype: its number in the papers, its name, and the gender that it is about."""

    id: int
    name: str
    gender: str


_FEMALE = (
    "Emotional and irrational",
    "Gentle, kind, and submissive",
    "Empathetic and caring",
    "Neat and diligent",
    "Social",
    "Weak",
    "Beautiful",
)
_MALE = (
    "Tough and rough",
    "Self-confident",
    "Professional",
    "Rational",
    "Providers",
    "Leaders",
    "Childish",
    "Sexual",
    "Strong",
)

GENDERS = ("female", "male")
STEREOTYPES: dict[int, Stereotype] = {
    number: Stereotype(number, name, "female" if name in _FEMALE else "male")
    for number, name in enumerate(_FEMALE + _MALE, start=1)
}
