"""The table of rules for all languages: which kind of word is evidence at which anchor.

*Bola som unavená*: `past-auxiliary` finds *Bola* and `adjective-copula` *unavená*, both by the auxiliary
*som*. The kinds (`past`, `adjective`, ...) are those of the grammars, the anchors are functions of the
modules beside this one. Each grammar has an example of every rule that decides something in its language.
"""

from __future__ import annotations

from gest_dataset.gender.grammar import Grammar
from gest_dataset.gender.rules import complements, nearby, persons, subjects
from gest_dataset.gender.rules.engine import Rule

RULES = (
    # Rank 1: an auxiliary or a pronoun of the first person belongs to the word.
    Rule(1, "fused-ending", "fused", subjects.fused_ending),
    Rule(1, "past-auxiliary", "past", subjects.auxiliary),
    Rule(1, "past-pronoun", "past", subjects.pronoun),
    Rule(1, "adjective-copula", "adjective", subjects.auxiliary),
    Rule(1, "adjective-pronoun", "adjective", subjects.pronoun),
    Rule(1, "short-pronoun", "short", subjects.pronoun),
    Rule(1, "agreeing", "agreeing", nearby.spoken),
    # Rank 2: the first person is further away, or in another branch of the tree.
    Rule(2, "past-coordinated", "past", subjects.coordinated),
    Rule(2, "adjective-coordinated", "adjective", subjects.coordinated),
    Rule(2, "past-nearby", "past", nearby.nearby),
    Rule(2, "adjective-nearby", "adjective", nearby.nearby),
    Rule(2, "short-nearby", "short", nearby.nearby),
    Rule(2, "participle-lone", "participle", nearby.lone),
    Rule(2, "adjective-before-copula", "adjective", nearby.before_copula),
    Rule(2, "listed-nearby", "listed", nearby.nearby),
    Rule(2, "adjective-linking", "adjective", complements.linking),
    Rule(2, "adjective-linking-nearby", "adjective", complements.linking_nearby),
    Rule(2, "instrumental-linking", "instrumental", complements.linking),
    Rule(2, "instrumental-linking-nearby", "instrumental", complements.linking_nearby),
    Rule(2, "instrumental-object", "instrumental", complements.object_complement),
    Rule(2, "listed-linking", "listed", complements.linking_nearby),
    Rule(2, "listed-instrumental", "listed_instrumental", complements.linking_nearby),
    Rule(2, "adjective-depictive", "adjective", complements.depictive),
    Rule(2, "past-conditional", "past", subjects.conditional),
    Rule(2, "agreeing-nearby", "agreeing", nearby.around_first),
    Rule(2, "one", "one", nearby.spoken),
    Rule(2, "one-nearby", "one", nearby.around_first),
    Rule(2, "agreeing-linking", "agreeing", complements.linking_nearby),
    Rule(2, "agreeing-ending", "agreeing", nearby.ending_nearby),
    Rule(2, "dative", "dative", nearby.dative),
    Rule(2, "listed-past", "listed_past", nearby.nearby),
    Rule(2, "demonstrative", "demonstrative", nearby.lone),
    Rule(2, "glad-unclaimed", "glad", complements.unclaimed),
    Rule(2, "glad-before-ending", "glad", nearby.ending_after),
    Rule(2, "past-subordinate", "past", subjects.subordinate),
    Rule(2, "listed-subordinate", "listed", subjects.subordinate),
    Rule(2, "past-alone", "past", subjects.alone),
    Rule(2, "adjective-alone", "adjective", subjects.alone),
    Rule(2, "listed-alone", "listed", subjects.alone),
    # Words that a tagger takes for something else.
    Rule(2, "alone-second-finite", "alone_as_auxiliary", nearby.second_finite),
    Rule(2, "past-as-other", "past_as_other", nearby.lone),
    Rule(2, "past-as-noun", "past_as_noun", nearby.lone),
    Rule(2, "past-as-genitive", "past_as_genitive", nearby.lone_subject),
    Rule(2, "adjective-as-verb", "adjective_as_verb", subjects.auxiliary),
    Rule(2, "adjective-as-third-linking", "adjective_as_third", complements.linking_verb),
    Rule(2, "participle-before-copula", "participle_as_other", nearby.before_copula),
    Rule(2, "adjective-as-noun", "adjective_as_noun", nearby.nearby),
    Rule(2, "adjective-as-other", "adjective_as_other", nearby.lone),
    Rule(2, "past-as-noun-alone", "past_as_noun", subjects.verbless),
    # Rank 3: words by their ending or list alone, beside a word of the first person.
    Rule(3, "past-quoting", "past", subjects.quoting),
    Rule(3, "listed-past-quoting", "listed_past", subjects.quoting),
    Rule(3, "instrumental-made", "instrumental", complements.made),
    Rule(3, "listed-instrumental-made", "listed_instrumental", complements.made),
    Rule(3, "one-who", "one_who", nearby.who),
    Rule(3, "shape-linking", "shape", complements.linking_verb),
    Rule(3, "listed-governing", "listed", nearby.governing),
    Rule(3, "alone-initial", "alone_as_auxiliary", nearby.initial),
    Rule(3, "accusative-considered", "accusative", complements.considered),
    Rule(3, "instrumental-shape-linking", "instrumental_shape", complements.linking_last),
    Rule(3, "listed-instrumental-depicting", "listed_instrumental", complements.depicting),
    Rule(3, "one-depicting", "one", complements.depicting),
    Rule(3, "agreeing-depicting", "agreeing", complements.depicting),
    Rule(3, "past-as-other-relative", "past_as_other", subjects.relative),
    Rule(3, "adjective-joined", "adjective", complements.joined),
    Rule(3, "agreeing-opening", "agreeing", nearby.opening),
    Rule(3, "short-alone", "short", subjects.alone),
    Rule(3, "shape-copular", "shape", complements.copular),
    Rule(3, "listed-copular", "listed", complements.copular),
    Rule(3, "past-shape-copular", "past_shape", complements.copular),
    Rule(3, "listed-depicting", "listed", complements.depicting),
    Rule(3, "state-depicting", "state", complements.depicting),
    Rule(3, "listed-as", "listed", complements.as_child),
    Rule(3, "past-relative", "past", subjects.relative),
    Rule(3, "predicate-after-pronoun", "predicate", nearby.after_pronoun),
    Rule(3, "predicate-shape-after-pronoun", "predicate_shape", nearby.after_pronoun),
    Rule(3, "past-as-noun-regretted", "past_as_noun", subjects.regretted),
    Rule(3, "instrumental-shape-made", "instrumental_shape", complements.made),
    Rule(3, "participle-shape-depicting", "state_past", complements.depicting),
    Rule(3, "only-one", "only", nearby.only_one),
    Rule(3, "alone-second-auxiliary", "alone_as_auxiliary", nearby.second_auxiliary),
    Rule(3, "accusative-taken-for", "accusative", complements.taken_for),
    Rule(3, "listed-taken-for", "listed", complements.taken_for),
    Rule(3, "which", "which", subjects.antecedent),
    Rule(3, "past-regretted", "past", subjects.regretted),
    Rule(3, "listed-past-regretted", "listed_past", subjects.regretted),
    Rule(3, "past-resumed", "past", subjects.resumed),
    Rule(3, "alone-after-ending", "alone_as_auxiliary", nearby.ending_before),
    # Nouns of persons, whose masculine and feminine are both in general use.
    Rule(3, "person", "person", persons.predicative),
    Rule(3, "feminine", "feminine", persons.predicative),
    Rule(3, "person-as", "person", persons.as_person),
    Rule(3, "person-opening", "person", complements.as_opening),
    Rule(3, "feminine-as", "feminine", persons.as_person),
    Rule(3, "person-instrumental", "person_instrumental", persons.serving),
    Rule(3, "feminine-instrumental", "feminine_instrumental", persons.serving),
    Rule(3, "masculine", "masculine", persons.predicative),
    Rule(3, "masculine-as", "masculine", persons.as_person),
    Rule(3, "masculine-instrumental", "masculine_instrumental", persons.serving),
)


def rules_for(grammar: Grammar) -> list[Rule]:
    """The rules whose kind of word the grammar has."""
    return [rule for rule in RULES if rule.kind in grammar.endings or rule.kind in grammar.words]
