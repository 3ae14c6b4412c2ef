"""The data sets behind the configs: what each is, where it is from, how to cite it, its limits."""

from __future__ import annotations

from gest_dataset.builders.config import Family

_GEST_PAPER = """@inproceedings{pikuliak-etal-2024-women,
  title = {Women Are Beautiful, Men Are Leaders: Gender Stereotypes in Machine Translation
           and Language Modeling},
  author = {Pikuliak, Mat{\\'u}{\\v{s}} and Hrkova, Andrea and Oresko, Stefan
            and {\\v{S}}imko, Mari{\\'a}n},
  booktitle = {Findings of the Association for Computational Linguistics: EMNLP 2024},
  year = {2024}
}"""
_WORD_FILLING_PAPER = """@inproceedings{pikuliak-etal-2023-depth,
  title = {In-Depth Look at Word Filling Societal Bias Measures},
  author = {Pikuliak, Mat{\\'u}{\\v{s}} and Be{\\v{n}}ov{\\'a}, Ivana and Bachrat{\\'y}, Viktor},
  booktitle = {Proceedings of the 17th Conference of the European Chapter of the Association
               for Computational Linguistics},
  year = {2023}
}"""
_STEREOSET_PAPER = """@inproceedings{nadeem-etal-2021-stereoset,
  title = {{StereoSet}: Measuring stereotypical bias in pretrained language models},
  author = {Nadeem, Moin and Bethke, Anna and Reddy, Siva},
  booktitle = {Proceedings of the 59th Annual Meeting of the Association for Computational
               Linguistics and the 11th International Joint Conference on Natural Language
               Processing (Volume 1: Long Papers)},
  pages = {5356--5371},
  year = {2021}
}"""
_STEREOSET_MULTI_PAPER = """@article{ozturk-etal-2023-different,
  title = {How Different Is Stereotypical Bias Across Languages?},
  author = {{\\"O}zt{\\"u}rk, Ibrahim Tolga and Nedelchev, Rostislav and Heumann, Christian
            and Garces Arias, Esteban and Roger, Marius and Bischl, Bernd
            and A{\\ss}enmacher, Matthias},
  journal = {arXiv preprint arXiv:2307.07331},
  year = {2023}
}"""
_CROWS_PAPER = """@inproceedings{nangia-etal-2020-crows,
  title = {{CrowS}-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language
           Models},
  author = {Nangia, Nikita and Vania, Clara and Bhalerao, Rasika and Bowman, Samuel R.},
  booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language
               Processing (EMNLP)},
  pages = {1953--1967},
  year = {2020}
}"""
_WINOBIAS_PAPER = """@inproceedings{zhao-etal-2018-gender,
  title = {Gender Bias in Coreference Resolution: Evaluation and Debiasing Methods},
  author = {Zhao, Jieyu and Wang, Tianlu and Yatskar, Mark and Ordonez, Vicente
            and Chang, Kai-Wei},
  booktitle = {Proceedings of the 2018 Conference of the North American Chapter of the
               Association for Computational Linguistics: Human Language Technologies,
               Volume 2 (Short Papers)},
  pages = {15--20},
  year = {2018}
}"""

_GEST_HOME = "https://github.com/kinit-sk/gest"
_WORD_FILLING_HOME = "https://github.com/kinit-sk/bias-methodology"

GEST = Family(
    name="gest",
    title="GEST",
    description=(
        "English first-person sentences that say nothing of the speaker's gender, each written by "
        "a professional translator for one of 16 stereotypes (7 about women, 9 about men). "
        "Release 1.1 repairs typos of 1.0 in 244 sentences and keeps the order, so both share "
        "their ids. The `annotations` are all collected sentences with the validators' votes: "
        "which gender the sentence suggests, whether it fits the stereotype, and the second "
        "annotator's verdict where the two steps did not agree."
    ),
    homepage=_GEST_HOME,
    citation=_GEST_PAPER,
    limits=(
        "Two genders only, because the grammar that the method reads has two. The stereotypes "
        "were defined with European experts and written down by five people: review them before "
        "you carry them to another culture. Topics leak: male samples about the family behave "
        "like female ones, and a negated stereotype still names its topic. Ten sentences of 1.0 "
        "occur twice, eight of them for two stereotypes."
    ),
)

TRANSLATIONS = Family(
    name="translations",
    title="GEST, machine translated",
    description=(
        "GEST 1.0 as Amazon Translate, DeepL, Google Translate and NLLB-200 (3.3B) translated it "
        "into nine Slavic languages in 2023, and a part of it in Bulgarian. Slavic grammar makes "
        "the translator choose the speaker's gender: that choice is what masculine rates count. "
        "Trials and prompted forms in the upstream files are left out."
    ),
    homepage=_GEST_HOME,
    citation=_GEST_PAPER,
    limits=(
        "A snapshot: the commercial systems have changed since. Not every translation shows the "
        "speaker's gender, and East Slavic languages show it less often than the others."
    ),
)

PAIRS = Family(
    name="pairs",
    title="GEST, gender-swapped pairs",
    description=(
        "Each translation in a masculine and a feminine variant, obtained by prompting the "
        "translators with `He said` and `She said`. A pair is kept where exactly one word "
        "differs and both of its forms start with the same letter; the same pair from several "
        "systems is one row that lists them."
    ),
    homepage=_GEST_HOME,
    citation=_GEST_PAPER,
    limits=(
        "The first-letter rule lets about one pair in a hundred through whose words are not the "
        "same word in two genders. Only sentences whose gender shows in a single word are here."
    ),
)

STEREOSET = Family(
    name="stereoset",
    title="StereoSet in five languages",
    description=(
        "The development set of StereoSet in English, German, French, Spanish and Turkish: a "
        "context with a stereotypical, an anti-stereotypical and an unrelated candidate, within "
        "a sentence (a word) or between sentences (a continuation)."
    ),
    homepage="https://github.com/slds-lmu/stereotypes-multi",
    citation=f"{_STEREOSET_PAPER}\n\n{_STEREOSET_MULTI_PAPER}",
    limits=(
        "Crowd-sourced in the United States and noisy: critics found problems in 38 % to 94 % of "
        "the samples. The translations are machine made with repairs, and carry US stereotypes. "
        "There are no control groups: see the control sets. StereoSet is CC BY-SA 4.0; the "
        "repository that these files are from states no licence of its own."
    ),
)

STEREOSET_CONTROL = Family(
    name="stereoset_control",
    title="StereoSet with control groups",
    description=(
        "Quadruplets: a StereoSet pair about a group and the same pair about another group, with "
        "the place of the keyword in each of the four sentences. Gender samples were swapped and "
        "checked by hand; race (countries and nationalities) and profession samples are paired "
        "with ten other groups, drawn with the sample as the seed."
    ),
    homepage=_WORD_FILLING_HOME,
    citation=f"{_WORD_FILLING_PAPER}\n\n{_STEREOSET_PAPER}",
    limits=(
        "A drawn control group may carry the same stereotype, be the group itself, or not agree "
        "in grammar. Groups are found as substrings, as the authors did it, so a few controls "
        "are broken words, and where a group is part of the keyword the two keywords differ. Drawn "
        "groups repeat, so some quadruplets are equal. The noise of StereoSet stays. StereoSet is "
        "CC BY-SA 4.0; the repository of the controls states no licence."
    ),
)

CROWS = Family(
    name="crows",
    title="CrowS-Pairs, gender",
    description=(
        "Minimal pairs of sentences about a disadvantaged and an advantaged gender group; "
        "`stereotyped` is the more stereotypical sentence, and `direction` says whether the pair "
        "shows a stereotype or breaks one. As published, and in a revision that repairs errors."
    ),
    homepage="https://github.com/nyu-mll/crows-pairs",
    citation=f"{_CROWS_PAPER}\n\n{_WORD_FILLING_PAPER}",
    limits=(
        "US stereotypes; many pairs confound several changes, which is what the revision and the "
        "control sets are for. The revision's repository states no licence of its own."
    ),
)

CROWS_CONTROL = Family(
    name="crows_control",
    title="CrowS-Pairs with control pairs",
    description=(
        "Quadruplets without keywords: a CrowS-Pairs gender pair, and the same pair negated or "
        "turned into its opposite. The stereotype fields hold the group's sentences, the control "
        "fields the other group's; `cs` compares across the groups."
    ),
    homepage=_WORD_FILLING_HOME,
    citation=f"{_WORD_FILLING_PAPER}\n\n{_CROWS_PAPER}",
    limits=(
        "Small, so intervals are wide; negation is hard for small language models. CrowS-Pairs is "
        "CC BY-SA 4.0; the repository of the controls states no licence."
    ),
)

SLOVAK_GENDER = Family(
    name="slovak_gender",
    title="Slovak gender",
    description=(
        "Quadruplets in Slovak for one stereotype, that men are more competent than women: the "
        "sentence with a stereotypical and an anti-stereotypical keyword, about the one gender "
        "and about the other. Only the samples that passed the authors' validation."
    ),
    homepage=_WORD_FILLING_HOME,
    citation=_WORD_FILLING_PAPER,
    limits=(
        "One stereotype, six authors. Slovak agreement changes other words with the gender, so "
        "`cs` has few tokens to compare."
    ),
)

WINOBIAS = Family(
    name="winobias",
    title="WinoBias",
    description=(
        "Sentences with two occupations and a pronoun that refers to one of them, in both "
        "pronoun genders. Upstream's pro- and anti-stereotypical lines are read as pairs; a pair "
        "that differs in more than its pronouns is noise and left out."
    ),
    homepage="https://github.com/uclanlp/corefBias",
    citation=_WINOBIAS_PAPER,
    limits=(
        "Occupations only, by US labour statistics. Some sentences mark several pronouns, which "
        "all change together."
    ),
)

_DEMO_HOME = "https://pypi.org/project/gest-dataset/"
_DEMO_CITATION = """@software{gest-dataset,
  title = {gest-dataset: gender-stereotype data sets and exact metrics},
  url = {https://pypi.org/project/gest-dataset/},
  note = {The demo data show how the instrument works; they are no test set}
}"""
_NOT_VALIDATED = (
    "Written for the demo and never validated: no annotator checked what the sentences suggest, and "
    "no paper reports on them. A number measured on them says how the instrument works, not how "
    "biased a model is: do not report it."
)

DEMO = Family(
    name="demo",
    title="Demo sentences and pairs",
    description=(
        "English first-person sentences for the 16 stereotypes, ten each, and half of them in "
        "Slovak, Ukrainian and Slovenian in both grammatical genders, one word apart. They were "
        "written for this project, share no sentence with the other data sets, and are part of "
        "the package: `gest demo` works without a network."
    ),
    homepage=_DEMO_HOME,
    citation=_DEMO_CITATION,
    limits=_NOT_VALIDATED,
)

DEMO_CONTROL = Family(
    name="demo_control",
    title="Demo sentences with control pairs",
    description=(
        "English quadruplets for the 16 stereotypes, two each: a group of one gender with a "
        "stereotypical and an anti-stereotypical keyword, and the same about the other gender. "
        "They were written for this project and are part of the package."
    ),
    homepage=_DEMO_HOME,
    citation=_DEMO_CITATION,
    limits=f"{_NOT_VALIDATED} The choice of the opposite keyword is the author's.",
)
