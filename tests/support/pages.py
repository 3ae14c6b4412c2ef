"""What the pages of the documentation speak about, small and offline.

Models lie under their names on the Hub, and files, servers and the Hub itself are made for the page.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from datasets import Dataset, load_dataset
from huggingface_hub import constants
from matplotlib.figure import Figure

import gest_dataset
from gest_dataset.builders import CONFIGS
from gest_dataset.data.build import build_config
from gest_dataset.data.card import write_card
from gest_dataset.data.rows import rows_of
from gest_dataset.gender import parsers
from gest_dataset.gender.parsers.conllu import Parser, normalized, read_file
from tests.conftest import MIRROR, ROOT
from tests.studies import corpora
from tests.support import chats, completions, new_language, planted, services, translators, zoo
from tests.support.hub import pointed_at, running

MODELS = {
    "FacebookAI/roberta-base": "roberta",
    "FacebookAI/xlm-roberta-base": "gpt2",
    "distilbert/distilroberta-base": "bert",
    "bert-base-cased": "bert",
    "bert-base-uncased": "distilbert",
    "roberta-base": "roberta",
    "xlm-roberta-base": "xlm-roberta",
    "xlm-roberta-large": "xlm-roberta",
    "gerulata/slovakbert": "xlm-roberta",
    "gpt2": "gpt2",
    "meta-llama/Llama-2-7b-hf": "llama",
    "Qwen/Qwen2.5-0.5B": "qwen2",
    "google/mt5-base": "mt5",
    "my-model": "bert",
    "my-gpt": "gpt2",
    "mt5-nsp": "bert-nsp",
    "tuned": "bert",
}
TRANSLATORS = {"facebook/nllb-200-distilled-600M": "nllb", "Helsinki-NLP/opus-mt-en-sk": "marian-sk"}
TOKEN = "hf_token_of_the_page"
GENDERS = ("male", "female", "unknown")
UNAVENA = """# text = Bola som unavená.
1\tBola\tbyť\tAUX\t_\tGender=Fem|Number=Sing|Tense=Past|VerbForm=Part\t3\tcop\t_\t_
2\tsom\tbyť\tAUX\t_\tMood=Ind|Number=Sing|Person=1|Tense=Pres|VerbForm=Fin\t3\taux\t_\t_
3\tunavená\tunavený\tADJ\t_\tCase=Nom|Gender=Fem|Number=Sing\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_

"""
SLOVAK = ROOT / "tests" / "mirror_sk.conllu"


def put_models(text: str, folder: Path) -> None:
    """Each model that a text names, as a folder with that name."""
    for directory, names in ((zoo.directory, MODELS), (translators.directory, TRANSLATORS)):
        for name, small in names.items():
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w.-])", text):
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).symlink_to(directory(small))


def skip_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures become empty files: tests/report draws them."""

    def save(figure: Figure, file: Any, **_: Any) -> None:
        empty = b'<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
        if isinstance(file, str):
            Path(file).write_bytes(empty)
        else:
            file.write(empty)

    monkeypatch.setattr(Figure, "savefig", save)
    monkeypatch.setattr("gest_dataset.report.page.fit_figure", lambda _: None)


def use_small_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """In UDPipe's place: the parses of the test mirror, and single words without tags for other texts."""
    known = read_file(SLOVAK) | {"Bola som unavená.": UNAVENA}

    def parse(texts: Sequence[str]) -> Iterator[Mapping[str, str]]:
        yield {text: known.get(normalized(text)) or _words(text) for text in texts}

    def open_parser(language: str, model: Path | None) -> Parser:
        return Parser("small", parse, cached=False)

    monkeypatch.setitem(parsers.PARSERS, "udpipe", open_parser)


def _words(text: str) -> str:
    lines = [
        f"{number}\t{word}\t{word}\tX\t_\t_\t{min(number - 1, 1)}\tdep\t_\t_"
        for number, word in enumerate(text.split(), 1)
    ]
    return "\n".join([f"# text = {text}", *lines]) + "\n\n"


def _answer(prompt: str) -> str:
    """What the chat model says: the first option, or a text whose speaker or character shows a gender."""
    if "(a)" in prompt:
        return "(a)"
    return "He was tired." if prompt.isascii() else "Chorému kolegovi som priniesla polievku."


class Page:
    """The surroundings of one page."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.stack = stack
        self.stands_for: dict[str, str] = {}  # placeholders of the page, and what is meant here
        self.names: dict[str, Any] = {}  # variables that the Python blocks use without defining them

    def filled(self, text: str) -> str:
        """A text of the page with what its placeholders stand for."""
        for placeholder, meant in self.stands_for.items():
            text = re.sub(rf"(?<![\w-]){re.escape(placeholder)}(?!\w)", lambda _, meant=meant: meant, text)
        return text

    def serve(self) -> None:
        """A model behind completions and chat."""
        model = self.stack.enter_context(completions.served("gpt2"))
        complete = model.translate

        def answer(request: services.Request) -> services.Answer:
            if request.path == "/v1/chat/completions":
                return chats.said(_answer(request.body["messages"][0]["content"]), completions.MODEL)
            return complete(request)

        model.translate = answer
        address = {"http://127.0.0.1:8000": model.url, "URL": model.url}
        tokenizer = str(zoo.directory("gpt2"))
        self.stands_for |= address | {
            "--tokenizer NAME_OR_FOLDER": f"--tokenizer {tokenizer}",
            "--tokenizer NAME": f"--tokenizer {tokenizer}",
            "NAME_OR_FOLDER": tokenizer,
            "NAME": completions.MODEL,
        }

    def translate(self) -> None:
        """DeepL and Google on the loopback, with their keys."""
        for variable, service in (
            ("DEEPL_SERVER_URL", services.deepl),
            ("GOOGLE_TRANSLATE_ENDPOINT", services.google),
        ):
            server = self.stack.enter_context(services.serving(service))
            self.monkeypatch.setenv(variable, server.url)
        self.monkeypatch.setenv("DEEPL_AUTH_KEY", "key:fx")
        self.monkeypatch.setenv("GOOGLE_API_KEY", "key")

    def hub(self) -> None:
        """A Hub where `your-name` is logged in."""
        hub = self.stack.enter_context(running())
        patch = self.stack.enter_context(pointed_at(hub.url, TOKEN))
        patch.setattr(constants, "HF_HUB_CACHE", str(self.folder / "hub"))
        patch.setattr("datasets.config.USE_PARQUET_EXPORT", False)
        hub.add_account("your-name", TOKEN)
        hub.add("model", "FacebookAI/xlm-roberta-base", {"README.md": b"# A model"})
        self.stands_for["ORG/gest"] = "your-name/gest"

    def label_sheet(self) -> None:
        """As people would fill in the sheet of a study: here all translations are masculine."""
        path = self.folder / "sheet.csv"
        if path.exists():
            pd.read_csv(path).assign(label="M").to_csv(path, index=False)

    def score(self, *runs: tuple[str, str, str]) -> None:
        """Finished runs of small models: folder, name of the model, config."""
        for run, model, config in runs:
            gest_dataset.score(str(zoo.directory(MODELS[model])), config, output=self.folder / run)


def _add_a_language(page: Page) -> None:
    page.hub()
    new_language.translations_file(page.folder / "lt.csv", "lt")
    variants = new_language.variants_file(page.folder / "lt_variants.csv", "lt")
    (page.folder / "szl.csv").write_bytes(variants.read_bytes())
    texts = [text for _, *both in new_language.variants_of("lt") for text in both]
    (page.folder / "szl.conllu").write_text("".join(map(_words, dict.fromkeys(texts))), encoding="utf-8")
    (page.folder / "EuroGEST").mkdir()
    for path in ("EuroGEST/Slovak.csv", "Hungarian.csv"):
        rows = [
            {
                "GEST_ID": str(number),
                "Source": row["source"],
                "Stereotype_ID": row["stereotype"],
                "Masculine": "" if number % 3 == 0 else row["masculine"],
                "Feminine": "" if number % 3 == 0 else row["feminine"],
                "Neutral": "Prší." if number % 3 == 0 else "",
            }
            for number, row in enumerate(load_dataset("gest", "sk_pairs", split="test"))
        ]
        pd.DataFrame(rows).to_csv(page.folder / path, index=False)


def _gender(page: Page) -> None:
    (page.folder / "sentences.txt").write_text("Byłam zmęczona.\nJestem lekarzem.\n", encoding="utf-8")
    new_language.write_csv(page.folder / "data.csv", ["translation"], [("Byla jsem unavená.",)])


def _masculine_rates(page: Page) -> None:
    page.translate()
    new_language.translations_file(page.folder / "mine.csv", "lt")
    page.stands_for["FILE"] = "mine.csv"
    lines = (masculine for _, masculine, _ in new_language.variants_of("lt"))
    (page.folder / "mt.txt").write_text("\n".join(lines), encoding="utf-8")


def _metrics(page: Page) -> None:
    page.names |= {"log_ratios": [0.1 * number for number in range(32)], "stereotypes": [*range(1, 17)] * 2}


def _next_sentence(page: Page) -> None:
    corpora.write(page.folder / "articles.txt", corpora.documents(40))
    rows = {"body": [" ".join(document) for document in corpora.documents(40)]}
    Dataset.from_dict(rows).to_parquet(page.folder / "more.parquet")


def _own_sentences(page: Page) -> None:
    rows = [(number, f"I ran {number} miles.", number % 16 + 1) for number in range(32)]
    new_language.write_csv(page.folder / "mine.csv", ["id", "sentence", "stereotype"], rows)


def _python(page: Page) -> None:
    # the pairs of the test mirror are too few for a comparison; those of the demo name no systems
    page.stands_for |= {'"sk_pairs"': '"demo_sk_pairs"', '"deepl" in row["systems"]': "True"}


def _quickstart(page: Page) -> None:
    _own_sentences(page)
    new_language.translations_file(page.folder / "translated.csv", "lt")
    page.score(("runs/base", "roberta-base", "en"), ("runs/tuned", "tuned", "en"))


def _report(page: Page) -> None:
    page.score(
        ("gest-runs/bert-base-uncased/en", "bert-base-uncased", "en"),
        ("gest-runs/gpt2/en", "gpt2", "en"),
    )
    page.stands_for["RUN RUN"] = "gest-runs/bert-base-uncased/en gest-runs/gpt2/en"


def _runs(page: Page) -> None:
    page.score(("gest-runs/roberta-base/en", "roberta-base", "en"))


def _score_a_model(page: Page) -> None:
    _quickstart(page)
    demo = {"sk": "sk", "cs": "uk", "pl": "sl"}  # the pairs of the test mirror have few sources in common
    page.score(*((f"runs/{code}_pairs", "gpt2", f"demo_{other}_pairs") for code, other in demo.items()))


def _studies(page: Page) -> None:
    rows = [
        {
            "id": f"{language}-{gender}-{number}",
            "stereotype": number % 16 + 1,
            "source": f"{gender} source {number}",
            "translation": f"{language} {gender} {number}",
            "gender": gender,
            "problem": "",
        }
        for language in ("cs", "sk")
        for gender in GENDERS
        for number in range(30)
    ]
    for language in ("cs", "sk"):
        run = page.folder / "gest-runs" / "published-google" / language
        planted.translated(run, language, [row for row in rows if row["id"].startswith(language)])
    models = ("roberta-base", "bert-base-cased", "gpt2")
    configs = ("en", "winobias_type1_test")
    page.score(*((f"gest-runs/{model}/{config}", model, config) for model in models for config in configs))
    new_language.variants_file(page.folder / "variants.csv", "lt")
    labels = MIRROR / "kinit-sk" / "gest" / "data" / "gender-swap-annotations.txt"
    shutil.copy(labels, page.folder)


def _stereoset(page: Page) -> None:
    page.translate()
    columns = ["test", "id", "field", "correction"]
    new_language.write_csv(page.folder / "filled.csv", columns, [])


def _pairs(page: Page) -> None:
    build_config(CONFIGS["sk_pairs"], page.folder / "my-pairs")
    write_card(page.folder / "my-pairs")


def _sweep(page: Page) -> None:
    suite = "title: A small suite\nconfigs: [demo_en]\nlimit: 32\nmodels: [roberta-base]\n"
    (page.folder / "suite.yaml").write_text(suite, encoding="utf-8")


def _translation(page: Page) -> None:
    page.translate()
    (page.folder / "mine.txt").write_text("I am tired.\nI ran home.\n", encoding="utf-8")
    (page.folder / "hu.csv").write_text("id,sentence\na,Fáradt vagyok.\nb,Hazafutottam.\n", encoding="utf-8")


def _entity_gender(page: Page) -> None:
    page.translate()
    translations = "Lekárka povedala, že je unavená.\n" * len(rows_of("winomt"))
    (page.folder / "FILE").write_text(translations, encoding="utf-8")


SURROUNDINGS: Mapping[str, Callable[[Page], None]] = {
    "add-a-language.md": _add_a_language,
    "ask.md": Page.serve,
    "endpoints.md": Page.serve,
    "entity-gender.md": _entity_gender,
    "gender.md": _gender,
    "masculine-rates.md": _masculine_rates,
    "metrics.md": _metrics,
    "next-sentence.md": _next_sentence,
    "pairs.md": _pairs,
    "publish.md": Page.hub,
    "python.md": _python,
    "quickstart.md": _quickstart,
    "report.md": _report,
    "runs.md": _runs,
    "score-a-model.md": _score_a_model,
    "stereoset-languages.md": _stereoset,
    "studies.md": _studies,
    "sweep.md": _sweep,
    "translation.md": _translation,
}
