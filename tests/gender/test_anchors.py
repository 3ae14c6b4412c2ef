"""Reasons to take a word for the speaker's where it stands by itself or hangs elsewhere, on minimal pairs."""

from __future__ import annotations

import pytest

from gest_dataset.gender.rules.anchors import (
    alone,
    around_first,
    before_copula,
    before_ending,
    coordinated,
    dative,
    ending,
    lone,
    lone_subject,
    nearby,
    second_finite,
    spoken,
    subordinate,
    verbless,
)
from tests.gender.minimal import Pairs, answer, cases

SHARED = (
    Pairs(
        coordinated,
        "sk",
        "Prišla/VERB/root som/AUX/aux<Prišla a/CCONJ/cc<zaspala *zaspala/VERB/conj<Prišla hneď/ADV/dep",
        turns={
            "another's auxiliary": ("som/AUX", "si/AUX"),
            "hangs otherwise": ("conj", "advcl"),
            "hangs on nothing": ("conj<Prišla", "conj"),
            "a subject of its own": ("hneď/ADV/dep", "Eva/PROPN/nsubj<zaspala"),
            "a clause of its own": ("hneď/ADV/dep", "hneď/ADV/mark<zaspala"),
            "another's auxiliary further off": (
                "hneď/ADV/dep",
                ",/PUNCT/punct je/AUX/aux<zaspala/Person=3|VerbForm=Fin",
            ),
            "another person beside it": ("hneď/ADV/dep", "on/PRON/dep"),
        },
        stays={
            "another person in the first clause": ("som/", "ona/PRON/dep som/"),
            "an object of its own": ("hneď/ADV/dep", "Eva/PROPN/obj<zaspala"),
        },
    ),
    Pairs(
        coordinated,
        "sk",
        "Prišla/VERB/root som/AUX/aux<Prišla ,/PUNCT/p vraj/PART/dep<sadla sadla/VERB/conj<Prišla"
        " a/CCONJ/cc<zaspala *zaspala/VERB/conj<sadla",
        turns={
            "a subject between": ("vraj/PART/dep", "Eva/PROPN/nsubj"),
            "an expletive between": ("vraj/PART/dep", "vraj/PART/expl"),
            "the chain breaks": ("conj<Prišla", "ccomp<Prišla"),
        },
        stays={
            "the auxiliary is the second's": ("som/AUX/aux<Prišla ,/PUNCT/p", ",/PUNCT/p som/AUX/aux<sadla")
        },
    ),
    Pairs(
        coordinated,
        "sk",
        "Som/AUX/cop<lenivá lenivá/ADJ/root a/CCONJ/cc<dobrá *dobrá/ADJ/conj<lenivá/Case=Nom|Gender=Fem"
        " už/ADV/dep",
        turns={"the attribute of a noun": ("už/ADV/dep", "žena/NOUN/dep/Case=Nom|Gender=Fem")},
    ),
    Pairs(
        coordinated,
        "sk",
        "Idem/VERB/root/Person=1 a/CCONJ/cc<unavená *bola/AUX/cop<unavená unavená/ADJ/conj<Idem",
        turns={
            "another's ending": ("Idem", "Ide", "Person=1", "Person=3"),
            "its predicate hangs otherwise": ("conj", "advcl"),
        },
    ),
    Pairs(
        coordinated,
        "ru",
        "Я/PRON/nsubj<пришла пришла/VERB/root и/CCONJ/cc<заснула *заснула/VERB/conj<пришла",
        turns={"another subject": ("Я", "Анна")},
    ),
    Pairs(
        subordinate,
        "ru",
        "Жалею/VERB/root/Person=1 ,/PUNCT/p что/SCONJ/mark вчера/ADV/dep *ходила/VERB/ccomp<Жалею/Gender=Fem"
        " туда/ADV/advmod",
        turns={
            "hangs otherwise": ("ccomp", "xcomp"),
            "hangs on nothing": ("ccomp<Жалею", "ccomp"),
            "another's regret": ("Person=1", "Person=3"),
            "another person": ("туда/ADV/advmod", "она/PRON/dep"),
            "*у меня был*": ("туда/ADV/advmod", "меня/PRON/obl"),
            "a subject of its own": ("туда/ADV/advmod", "—/PUNCT/p всё/DET/nsubj<ходила"),
            "another subject around": ("туда/ADV/advmod", "всё/DET/nsubj<Жалею"),
            "a noun that agrees": ("туда/ADV/advmod", "мама/NOUN/dep<ходила/Case=Nom|Gender=Fem"),
            "a name that agrees": ("туда/ADV/advmod", "Анна/PROPN/dep<ходила/Case=Nom|Gender=Fem"),
            "a name before it": ("вчера/ADV/dep", "Анна/PROPN/dep"),
            "an unknown word before it": ("вчера/ADV/dep", "вчера/X/dep"),
            "a nominative before it": ("вчера/ADV/dep", "день/NOUN/dep/Case=Nom"),
            "an impersonal": ("ходила/VERB/ccomp<Жалею/Gender=Fem", "хотелося/VERB/ccomp<Жалею/Gender=Neut"),
        },
        stays={
            "an adverbial clause": ("ccomp", "advcl"),
            "a conjunct": ("ccomp", "conj"),
            "a loose clause": ("ccomp", "parataxis"),
            "an object": ("туда/ADV/advmod", "маму/NOUN/obj<ходила/Case=Acc|Gender=Fem"),
            "a noun that does not agree": ("туда/ADV/advmod", "день/NOUN/dep<ходила/Case=Nom|Gender=Masc"),
            "an adjective": ("туда/ADV/advmod", "первая/ADJ/dep<ходила/Case=Nom|Gender=Fem"),
            "an object before it": ("вчера/ADV/dep", "маму/NOUN/dep/Case=Acc"),
            "*весь день*": ("вчера/ADV/dep", "весь/DET/det<день/Case=Acc день/NOUN/dep/Case=Nom|Gender=Masc"),
            "a name after it without a case": ("туда/ADV/advmod", "Анна/PROPN/dep"),
            "a neuter": ("Gender=Fem", "Gender=Neut"),
            "a reflexive": ("ходила/VERB/ccomp<Жалею/Gender=Fem", "боялася/VERB/ccomp<Жалею/Gender=Fem"),
        },
    ),
    Pairs(
        subordinate,
        "ru",
        "Я/PRON/nsubj<рад рад/ADJ/root ,/PUNCT/p что/SCONJ/mark<ходила *ходила/VERB/ccomp<рад/Gender=Fem",
        turns={"another subject above": ("Я", "Он"), "no subject above": ("nsubj", "obj")},
    ),
)

NEAR = (
    Pairs(
        nearby,
        "pl",
        "Jestem/AUX/dep dziś/ADV/dep *gotowa/ADJ/dep/Case=Nom|Gender=Fem tam/ADV/dep",
        turns={
            "another's": ("Jestem", "Jest"),
            "in another clause": ("dziś/ADV", ",/PUNCT"),
            "another past": ("dziś/ADV", "była/VERB"),
            "another person": ("dziś/ADV", "on/PRON"),
            "the attribute of a noun": ("tam/ADV/dep", "żona/NOUN/dep/Case=Nom|Gender=Fem"),
            "after a preposition": ("dziś/ADV", "do/ADP"),
        },
        stays={
            "the pronoun": ("Jestem/AUX", "Ja/PRON"),
            "*za stara*": ("dziś/ADV", "za/ADP"),
            "the past of another clause": ("tam/ADV/dep", ",/PUNCT/p była/VERB/dep"),
            "a preposition after it": ("tam/ADV", "do/ADP"),
            "a preposition before another word": ("Jestem/", "Do/ADP/case jestem/"),
        },
    ),
    Pairs(
        nearby,
        "sk",
        "*Bola/VERB/root som/AUX/dep",
        turns={"two of them": ("som/AUX", "som/AUX/dep mala/VERB")},
    ),
    Pairs(
        lone,
        "ru",
        "Я/PRON/dep очень/ADV/dep *скромная/NOUN/root завтра/ADV/dep",
        turns={
            "another's": ("Я", "Она"),
            "a verb beside it": ("завтра/ADV", "пишу/VERB"),
            "an auxiliary beside it": ("завтра/ADV", "буду/AUX"),
            "a finite verb beside it": ("завтра/ADV/dep", "пишу/VERB/dep/VerbForm=Fin"),
        },
        stays={
            "an infinitive": ("завтра/ADV/dep", "писать/VERB/dep/VerbForm=Fin"),
            "a converb": ("завтра/ADV/dep", "пиша/VERB/dep/VerbForm=Conv"),
            "an adverb that is finite for the tagger": ("завтра/ADV/dep", "завтра/ADV/dep/VerbForm=Fin"),
            "a verb in another clause": ("завтра/ADV/dep", ",/PUNCT/p пишу/VERB/dep"),
            "a verb itself": ("*скромная/NOUN", "*скромная/VERB"),
        },
    ),
    Pairs(
        lone,
        "hr",
        "Ja/PRON/dep sam/AUX/dep *umorna/NOUN/root",
        turns={"another auxiliary": ("sam", "jesu")},
        stays={"a clitic": ("sam", "si")},
    ),
    Pairs(
        lone_subject,
        "be",
        "Я/PRON/nsubj<шукаў *шукаў/NOUN/root заўтра/ADV/dep",
        turns={"no subject": ("nsubj", "dep"), "a verb beside it": ("заўтра/ADV", "пішу/VERB")},
    ),
    Pairs(
        before_copula,
        "sl",
        "*Utrujena/ADJ/amod<dama/Case=Nom|Gender=Fem sem/AUX/dep dama/X/root/Case=Nom|Gender=Fem",
        turns={
            "another's copula": ("sem", "je"),
            "no first word": ("*Utrujena", "Zelo/ADV/advmod *Utrujena"),
            "no next word": ("sem/", "zelo/ADV/advmod sem/"),
            "a past beside it": ("sem/AUX/dep", "sem/AUX/dep šla/VERB/dep"),
            "the attribute of a noun": ("dama/X", "dama/NOUN"),
        },
        stays={"after a comma": ("*Utrujena", "Danes/ADV/dep ,/PUNCT/p *Utrujena")},
    ),
    Pairs(
        before_copula,
        "sl",
        "*Utrujena/ADJ/root sem/AUX/dep",
        turns={"nothing follows": (" sem/AUX/dep", ""), "in another clause": ("sem/", ",/PUNCT/p sem/")},
    ),
    Pairs(
        ending,
        "sl",
        "Odločam/NOUN/root *sam/ADJ/dep",
        turns={
            "no such ending but its own": ("Odločam", "Odloča"),
            "another person": ("*sam", "on/PRON/dep *sam"),
            "in another clause": ("*sam", ",/PUNCT/p *sam"),
        },
    ),
    Pairs(
        before_ending,
        "sk",
        "Dnes/ADV/dep *rada/ADJ/root si/PRON/expl čítam/VERB/dep",
        turns={
            "another's ending": ("čítam", "číta"),
            "another's verb": ("čítam", "číta", "VERB/dep", "VERB/dep/Person=3"),
            "no next word": ("si/PRON", "to/PRON"),
            "nothing follows": (" si/PRON/expl čítam/VERB/dep", ""),
        },
        stays={
            "no reflexive": ("si/PRON/expl ", ""),
            "another word later": ("čítam/VERB/dep", "čítam/VERB/dep to/DET/obj"),
        },
    ),
    Pairs(
        around_first,
        "cs",
        "Zvládnu/VERB/root/Person=1 to/DET/obj *sama/ADJ/dep",
        turns={
            "another's verb": ("Person=1", "Person=3"),
            "another person": ("to/DET", "ona/PRON"),
            "in another clause": ("to/DET", ",/PUNCT"),
        },
        stays={"the pronoun": ("Zvládnu/VERB/root/Person=1", "Já/PRON/root")},
    ),
    Pairs(
        dative,
        "ru",
        "Мне/PRON/iobj пришлось/VERB/root *одному/ADJ/xcomp/Case=Dat|Gender=Masc быстро/ADV/dep",
        turns={
            "to somebody else": ("Мне", "Им"),
            "in another clause": ("пришлось/VERB", ",/PUNCT"),
            "the attribute of a noun": ("быстро/ADV/dep", "другу/NOUN/dep/Case=Dat|Gender=Masc"),
        },
    ),
)

BY_ITSELF = (
    Pairs(
        alone,
        "ru",
        "Всю/DET/det<ночь ночь/NOUN/obl/Case=Acc|Gender=Fem *работала/VERB/root/Gender=Fem дома/ADV/dep",
        turns={
            "no main clause": ("VERB/root", "VERB/advcl"),
            "the speaker is named elsewhere": ("дома/ADV/dep", ",/PUNCT/p я/PRON/dep"),
            "an impersonal": ("работала/VERB/root/Gender=Fem", "хотелося/VERB/root/Gender=Neut"),
            "a name before it": ("Всю/DET/det<ночь ночь/NOUN/obl/Case=Acc|", "Анна/PROPN/nsubj/Case=Nom|"),
            "an unknown word before it": ("ночь/NOUN", "ночь/X"),
            "a conjunction opens it": ("Всю/DET/det<ночь", "если/SCONJ/mark"),
            "a clause for a subject": ("дома/ADV/dep", "дома/ADV/csubj<работала"),
            "an expletive": ("дома/ADV/dep", "дома/ADV/expl<работала"),
            "another person": ("дома/ADV", "она/PRON"),
            "*мне*": ("дома/ADV", "мне/PRON"),
            "*меня*": ("дома/ADV", "меня/PRON"),
            "a noun that agrees": ("дома/ADV/dep", "мама/NOUN/dep<работала/Case=Nom|Gender=Fem"),
            "a name that agrees": ("дома/ADV/dep", "Анна/PROPN/dep<работала/Case=Nom|Gender=Fem"),
            "a verb in the plural": ("дома/ADV/dep", "идут/VERB/dep/Number=Plur|VerbForm=Fin"),
        },
        stays={
            "a comma opens it": ("Всю/DET/det<ночь", "Да/INTJ/dep ,/PUNCT/p"),
            "an adjective that agrees": ("дома/ADV/dep", "первая/ADJ/dep<работала/Case=Nom|Gender=Fem"),
            "a noun that does not agree": ("дома/ADV/dep", "день/NOUN/dep<работала/Case=Nom|Gender=Masc"),
            "a noun in the plural": ("дома/ADV/dep", "друзей/NOUN/obl/Number=Plur"),
            "a finite singular": ("дома/ADV/dep", "надо/VERB/dep/Number=Sing|VerbForm=Fin"),
            "an object": ("дома/ADV/dep", "дома/ADV/obj<работала"),
            "a person of another clause": ("дома/ADV/dep", ",/PUNCT/p она/PRON/dep"),
        },
    ),
    Pairs(
        alone,
        "ru",
        "*Видела/VERB/root/Gender=Fem ,/PUNCT/p что/SCONJ/mark<идут идут/VERB/ccomp<Видела/Person=3",
        turns={"a verb of saying may report": ("Видела", "Сказала")},
        stays={"a loose clause": ("ccomp", "parataxis")},
    ),
    Pairs(
        alone,
        "ru",
        "*Сказала/VERB/root/Gender=Fem ,/PUNCT/p когда/SCONJ/mark<идут идут/VERB/advcl<Сказала/Person=3",
        turns={"it governs a clause": ("advcl", "ccomp"), "a loose clause": ("advcl", "parataxis")},
    ),
    Pairs(
        verbless,
        "ru",
        "С/ADP/case<детства детства/NOUN/root/Case=Gen *мечтала/NOUN/nmod<детства о/ADP/case<сцене"
        " сцене/NOUN/nmod<мечтала/Case=Loc",
        turns={
            "a short noun": ("мечтала", "школа"),
            "no preposition at the root": ("case<детства", "amod<детства"),
            "no root": ("root", "dep"),
            "the word itself is the root": ("root", "dep<мечтала"),
            "a verb": ("сцене/NOUN", "сцене/VERB"),
            "an auxiliary": ("сцене/NOUN", "сцене/AUX"),
            "a pronoun": ("сцене/NOUN", "сцене/PRON"),
            "a nominative": ("Case=Loc", "Case=Nom"),
        },
        stays={
            "six letters": ("мечтала", "думала"),
            "its own nominative": ("nmod<детства", "nmod<детства/Case=Nom"),
            "its own tag": ("мечтала/NOUN", "мечтала/VERB"),
        },
    ),
    Pairs(
        verbless,
        "ru",
        "С/ADP/case<детства детства/NOUN/root/Case=Gen *мечтала/NOUN/nmod<детства",
        turns={
            "the root stands behind": ("root/Case=Gen *мечтала/NOUN/nmod<детства", "dep *мечтала/NOUN/root")
        },
    ),
    Pairs(
        spoken,
        "sk",
        "Spím/VERB/root/Person=1 doma/ADV/advmod<Spím *sama/ADJ/advcl<Spím dnes/ADV/dep",
        turns={
            "another's verb": ("Spím", "Spí", "Person=1", "Person=3"),
            "*tá sama*": ("doma/ADV", "tá/DET"),
            "*seba sama*": ("doma/ADV", "seba/PRON"),
            "*ju sama*": ("doma/ADV/advmod<Spím", "ju/PRON/obj<Spím/Person=3"),
            "another's copula": ("dnes/ADV/dep", "je/AUX/cop<sama/Person=3|VerbForm=Fin"),
            "another's copula that hangs elsewhere": ("dnes/ADV/dep", "je/AUX/aux<Spím/Person=3"),
            "hangs on nothing": ("advcl<Spím", "advcl"),
        },
        stays={
            "*mňa sama*": ("doma/ADV/advmod<Spím", "mňa/PRON/obj<Spím/Person=1"),
            "another's noun": ("doma/ADV/advmod<Spím", "doma/NOUN/obj<Spím/Person=3"),
            "a determiner further off": ("doma/", "to/DET/obj<Spím doma/"),
            "a determiner after it": ("dnes/ADV", "tá/DET"),
        },
    ),
    Pairs(
        spoken,
        "sk",
        "Chcem/VERB/root/Person=1 zostať/VERB/xcomp<Chcem *sama/ADJ/advmod<zostať dnes/ADV/dep",
        turns={
            "a clause between": ("xcomp", "ccomp"),
            "an adverbial clause between": ("xcomp", "advcl"),
            "an attribute clause between": ("xcomp", "acl"),
            "a subject clause between": ("xcomp", "csubj"),
            "a loose clause between": ("xcomp", "parataxis"),
            "a subject between": ("dnes/ADV/dep", "Eva/PROPN/nsubj<zostať"),
        },
        stays={
            "itself taken for the subject": ("advmod", "nsubj"),
            "an object between": ("dnes/ADV/dep", "Eva/PROPN/obj<zostať"),
        },
    ),
    Pairs(
        second_finite,
        "hr",
        "Večeram/VERB/root/Person=1 *sam/AUX/aux<Večeram danas/ADV/dep",
        turns={
            "another's verb": ("Večeram", "Večera", "Person=1", "Person=3"),
            "in another clause": ("*sam", ",/PUNCT/p *sam"),
            "a past": ("danas/ADV", "došla/VERB"),
            "an auxiliary beside it": ("danas/ADV", "bih/AUX"),
            "the pronoun": ("danas/ADV", "ja/PRON"),
            "another person": ("danas/ADV", "on/PRON"),
            "an adjective": ("danas/ADV", "umoran/ADJ"),
        },
        stays={
            "a verb of the closed list": (
                "Večeram/VERB/root/Person=1 *sam/AUX/aux<Večeram",
                "Mogu/VERB/root *sam/AUX/aux<Mogu",
            )
        },
    ),
)


@pytest.mark.parametrize(("asked", "line", "expected"), cases(*SHARED, *NEAR, *BY_ITSELF))
def test_pairs(asked: Pairs, line: str, expected: bool) -> None:
    assert answer(asked, line) is expected
