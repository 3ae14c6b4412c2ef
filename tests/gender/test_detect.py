"""detect and explain: texts that are no sentences, the cache, parsers that fail, other scripts."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from gest_dataset.errors import ConfigError, DataError, OutputError
from gest_dataset.gender import (
    PARSERS,
    Detection,
    ParserError,
    TextWarning,
    detect,
    explain,
    languages,
)
from gest_dataset.gender.parsers import cache, conllu, table, workers
from gest_dataset.gender.parsers.parser import Parser
from gest_dataset.gender.rules import reported
from gest_dataset.gender.texts import problem, to_latin

TREE = """\
# newpar
# text = Bola som tam.
1	Bola	byť	VERB	_	Gender=Fem|Number=Sing|VerbForm=Part	0	root	_	_
2	som	byť	AUX	_	Number=Sing|Person=1|VerbForm=Fin	1	aux	_	_
3	tam	tam	ADV	_	_	1	advmod	_	SpaceAfter=No
4	.	.	PUNCT	_	_	1	punct	_	_

# text = On tam bol.
1	On	on	PRON	_	Case=Nom|Gender=Masc|Number=Sing|Person=3	3	nsubj	_	_
2	tam	tam	ADV	_	_	3	advmod	_	_
3	bol	byť	VERB	_	Gender=Masc|Number=Sing|VerbForm=Part	0	root	_	SpaceAfter=No
4	.	.	PUNCT	_	_	3	punct	_	_

"""
POLISH = """\
# text = Byłam tam.
1-2	Byłam	_	_	_	_	_	_	_	_
1	Była	być	VERB	_	Gender=Fem|Number=Sing	0	root	_	_
2	m	być	AUX	_	Number=Sing|Person=1	1	aux:clitic	_	_
2.1	x	_	_	_	_	_	_	_	_
3	tam	tam	ADV	_	_	1	advmod	_	_
4	.	.	PUNCT	_	_	1	punct	_	_

"""


# a word by its id and its head
WORD = "{}\tBola\t_\tVERB\t_\t_\t{}\tdep\t_\t_"


@pytest.fixture
def parsed(tmp_path: Path) -> Path:
    path = tmp_path / "parsed.conllu"
    path.write_text(TREE, encoding="utf-8")
    return path


def test_conllu_file(parsed: Path) -> None:
    """A sentence, a paragraph, and a text that the file lacks."""
    texts = ["Bola som tam.", "Bola som  tam. On tam bol.", "Bol som doma."]
    with pytest.warns(TextWarning, match=r"1 of 3 texts .* 1 not parsed \(row 2\)"):
        found = detect(texts, "sk", "conllu", parsed)
    assert [d.gender for d in found] == ["female", "female", "unknown"]
    assert found[0] == Detection("female", "past-auxiliary", ("Bola",), False, ((0, 4),))
    assert found[1].spans == ((0, 4),)
    assert found[2].problem == "not parsed"


def test_multiword_tokens_are_one_piece_of_evidence(tmp_path: Path) -> None:
    path = tmp_path / "pl.conllu"
    path.write_text(POLISH, encoding="utf-8")
    found = detect(["Byłam tam."], "pl", "conllu", path)[0]
    assert (found.gender, found.evidence, found.spans) == ("female", ("Byłam",), ((0, 5),))
    tokens = conllu.parse_conllu(POLISH, "Byłam tam.")[0].tokens
    assert [(t.id, t.text, t.surface, t.start, t.end) for t in tokens] == [
        (1, "Była", "Byłam", 0, 5),
        (2, "m", "Byłam", 0, 5),
        (3, "tam", "tam", 6, 9),
        (4, ".", ".", 9, 10),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1\tBola\tbyť", "line 2: 3 columns, expected 10"),
        ("x\tBola\t_\tVERB\t_\t_\t0\troot\t_\t_", "'x' is no id"),
        ("1\tBola\t_\tVERB\t_\t_\t_\t_\t_\t_", "is the file parsed"),
        (f"1\tBola\t_\tVERB\t_\t_\t{'9' * 5000}\troot\t_\t_", "is no head"),
        ("2\tBola\t_\tVERB\t_\t_\t0\troot\t_\t_", "line 2: id '2', expected 1"),
        ("1-3\tBola" + "\t_" * 8 + "\n" + WORD.format(1, 0), "words up to 3, found 1"),
        ("2-1\tBola" + "\t_" * 8 + "\n" + WORD.format(1, 0), "line 2: id '2-1', expected 1"),
        ("1-2\tBola" + "\t_" * 8 + "\n1-2\tBola" + "\t_" * 8, "line 3: id '1-2', expected 1"),
        (WORD.format(1, 0) + "\n" + WORD.format(1, 0), "line 3: id '1', expected 2"),
        (WORD.format(1, 0) + "\n" + WORD.format(2, 3), "word 2 has the head 3, of 2 words"),
        (WORD.format(1, 1), "the heads of the words 1 go round in a circle"),
        (WORD.format(1, 2) + "\n" + WORD.format(2, 1), "the heads of the words 1, 2 go round in a circle"),
    ],
)
def test_broken_conllu(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "broken.conllu"
    path.write_text(f"# text = Bola som.\n{line}\n\n", encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        detect(["Bola som."], "sk", "conllu", path)


def test_conllu_needs_texts_and_a_path(tmp_path: Path) -> None:
    path = tmp_path / "no_text.conllu"
    path.write_text(TREE.replace("# text = Bola som tam.\n", ""), encoding="utf-8")
    with pytest.raises(DataError, match="without `# text"):
        detect(["Bola som tam."], "sk", "conllu", path)
    with pytest.raises(ConfigError, match="give its path"):
        detect(["Bola som tam."], "sk", "conllu")
    with pytest.raises(DataError, match="cannot be read"):
        detect(["Bola som tam."], "sk", "conllu", tmp_path / "nowhere.conllu")


def test_wrong_names() -> None:
    with pytest.raises(ConfigError, match=r"no rules for the language 'de'; choose one of .*sk"):
        detect(["Ich bin müde."], "de")
    with pytest.raises(ConfigError, match=r"no parser 'spacy'; choose one of udpipe, conllu"):
        detect(["Som doma."], "sk", "spacy")
    with pytest.raises(ConfigError, match="Bulgarian"):
        detect(["Som doma."], "sk", "forms")
    assert set(languages()) == {"be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk", "bg"}
    assert set(PARSERS) == {"udpipe", "conllu", "stanza", "trankit", "forms"}


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("", "sk", "empty"),
        (" … 12 !", "sk", "empty"),
        ("VÃ¡Å¾ne som unavenÃ¡.", "sk", "garbled"),
        ("Ð¯ ÑƒÑÑ‚Ð°Ð»Ð°.", "ru", "garbled"),
        ("Som unaven\ufffd.", "sk", "garbled"),
        ("I am very tired of this.", "sk", "not translated: English"),
        ("I'm tired.", "pl", "not translated: English"),
        ("I am tired.", "ru", "not translated: no Cyrillic letter"),
        ("Som unavená z toho.", "sk", ""),
        ("Wróciłam do domu, a on nie.", "pl", ""),
        ("Ja sam to i on.", "sr", ""),
        ("Я устала.", "ru", ""),
        ("Mám rád tú pieseň I Will Always Love You od Whitney.", "sk", ""),
    ],
)
def test_problems(text: str, language: str, expected: str) -> None:
    assert problem(text, language).startswith(expected)
    assert bool(problem(text, language)) == bool(expected)


def test_problems_are_listed_and_the_rest_is_done(parsed: Path) -> None:
    texts = ["", "Bola som tam.", "I am tired of the rain.", ""]
    with pytest.warns(TextWarning) as caught:
        found = detect(texts, "sk", "conllu", parsed)
    assert str(caught[0].message) == (
        "3 of 4 texts are unknown without a rule asked: 2 empty (row 0, 3); "
        "1 not translated: English (row 2)."
    )
    assert [d.gender for d in found] == ["unknown", "female", "unknown", "unknown"]


def test_serbian_letters() -> None:
    text = "Њене љубави, џез и Ђорђе."
    latin, places = to_latin(text)
    assert latin == "Njene ljubavi, džez i Đorđe."
    assert len(places) == len(latin) + 1
    for word in ("ljubavi", "džez", "Đorđe"):
        start = latin.index(word)
        assert to_latin(text[places[start] : places[start + len(word)]])[0] == word
    assert to_latin("Већ latinica.")[0] == "Već latinica."


@pytest.mark.parametrize(
    ("text", "speech"),
    [
        ("Mária povedala: „Som unavená.“", "„Som unavená.“"),
        ('Maria said "I am tired" again.', '"I am tired"'),
        ("Он сказал: «Я устал».", "«Я устал»"),
        ("— Я устала, — сказала Анна. — Пойдём.", "Я устала|— Пойдём."),
        ("„Som unavená.“", ""),
        ("Som „drsná“ žena.", ""),
        ("Je to 5' 6\" a som rada.", ""),
    ],
)
def test_reported_speech(text: str, speech: str) -> None:
    found = [text[start:end] for start, end in reported.quoted(text)]
    assert "|".join(found) == speech


def test_explain() -> None:
    detection = Detection("female", "past-auxiliary", ("Bola", "unavená"), False, ((0, 4), (9, 16)))
    assert explain("Bola som unavená.", detection) == "[Bola] som [unavená].  (female: past-auxiliary)"
    marked = explain("Bola som unavená.", detection, marks=("<b>", "</b>"))
    assert marked.startswith("<b>Bola</b> som <b>unavená</b>.")
    nothing = Detection("unknown", "", (), False)
    assert explain("Som doma.", nothing) == "Som doma.  (unknown: no evidence)"
    disagree = Detection("unknown", "glad", (), True)
    assert explain("…", disagree) == "…  (unknown, conflict: glad)"
    assert explain("", Detection("unknown", "", (), False, problem="empty")) == "  (unknown: empty)"


def test_conflict_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "mixed.conllu"
    second = TREE.split("\n\n")[0].replace("Bola", "Bol").replace("Fem", "Masc").replace("# newpar\n", "")
    path.write_text(TREE.split("\n\n")[0] + "\n\n" + second + "\n\n", encoding="utf-8")
    found = detect(["Bola som tam. Bol som tam."], "sk", "conllu", path)[0]
    assert (found.gender, found.conflict) == ("unknown", True)
    assert found.evidence == ("Bola", "Bol")


# the cache


def test_cache_keeps_by_parser_and_text(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "parses.sqlite3"
    stored = list(cache.store(path, "a", iter([("x", "1"), ("y", "2")])))
    assert stored == [("x", "1"), ("y", "2")]
    list(cache.store(path, "b", iter([("x", "3")])))
    assert cache.cached(path, "a", ["x", "y", "z"]) == {"x": "1", "y": "2"}
    assert cache.cached(path, "b", ["x", "y"]) == {"x": "3"}
    many = [str(i) for i in range(1200)]
    list(cache.store(path, "c", ((text, text * 2) for text in many)))
    assert cache.cached(path, "c", many) == {text: text * 2 for text in many}


def test_cache_keeps_what_was_parsed_before_an_error(tmp_path: Path) -> None:
    def dying() -> Iterator[tuple[str, str]]:
        yield from ((str(i), "tree") for i in range(300))
        raise RuntimeError("died")

    path = tmp_path / "parses.sqlite3"
    with pytest.raises(RuntimeError, match="died"):
        list(cache.store(path, "a", dying()))
    assert len(cache.cached(path, "a", [str(i) for i in range(300)])) == 300


def test_broken_cache(tmp_path: Path) -> None:
    path = tmp_path / "parses.sqlite3"
    path.write_text("no database at all, but long enough to be looked at", encoding="utf-8")
    with pytest.raises(OutputError, match="delete the file"):
        cache.cached(path, "a", ["x"])
    with pytest.raises(OutputError, match="cannot be used"):
        cache.cached(tmp_path / "parses.sqlite3" / "below", "a", ["x"])


def test_a_torn_parse_is_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "parses.sqlite3"
    list(cache.store(path, "a", iter([("x", "1"), ("y", "2")])))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE checked SET document = ? WHERE rowid = 1", (b"torn",))
    assert cache.cached(path, "a", ["x", "y"]) == {"y": "2"}
    assert "1 parses in" in caplog.text
    list(cache.store(path, "a", iter([("x", "1")])))
    caplog.clear()
    assert cache.cached(path, "a", ["x", "y"]) == {"x": "1", "y": "2"}
    assert not caplog.text


def test_no_flipped_bit_gives_the_parse_of_another_text(tmp_path: Path) -> None:
    """Of 1,500 bits of a real cache, each flipped alone: an error, or no parse, or the right one."""
    path = tmp_path / "parses.sqlite3"
    parses = {f"text {number}": f"{number}\t" * 20 for number in range(300)}
    list(cache.store(path, "a", iter(parses.items())))
    whole = path.read_bytes()
    draw = random.Random(11)
    refused = 0
    for bit in draw.sample(range(len(whole) * 8), 1500):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            kept = cache.cached(path, "a", list(parses))
        except OutputError:
            refused += 1
            continue
        assert kept.items() <= parses.items(), bit
    assert refused < 1500


def test_a_parse_that_cannot_be_read_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "parses.sqlite3"
    answers = {"Bola som tam.": TREE.split("\n\n")[0] + "\n\n", "On tam bol.": "1\tOn\n\n"}
    parser = Parser("a", lambda texts: ((text, answers[text]) for text in texts))
    monkeypatch.setattr(table, "open_parser", lambda *arguments: parser)
    with pytest.raises(ParserError, match=r"2 columns, expected 10(?s:.*)1 of 2 texts are parsed and kept"):
        detect(list(answers), "sk", cache=path)
    assert set(cache.cached(path, "a", list(answers))) == {"Bola som tam."}
    answers["On tam bol."] = TREE.split("\n\n")[1] + "\n\n"
    assert [found.gender for found in detect(list(answers), "sk", cache=path)] == ["female", "unknown"]


def test_a_text_that_is_too_long_is_a_problem_of_that_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def parse(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
        asked.extend(texts)
        return ((text, TREE.split("\n\n")[0] + "\n\n") for text in texts)

    monkeypatch.setattr(table, "open_parser", lambda *arguments: Parser("a", parse))
    texts = ["Bola som tam.", "Bola som " + "veľmi " * 10_000 + "tam."]
    with pytest.warns(TextWarning, match="too long"):
        found = detect(texts, "sk", cache=tmp_path / "parses")
    assert [each.gender for each in found] == ["female", "unknown"]
    assert found[1].problem == "too long: more than 10,000 characters"
    assert asked == texts[:1]


def test_a_cache_that_cannot_keep_does_not_say_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser did its work: what failed is the disk."""
    path = tmp_path / "parses.sqlite3"
    cache.cached(path, "a", [])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON checked BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    parser = Parser("a", lambda texts: ((text, "1\tSom" + "\t0" * 8 + "\n\n") for text in texts))
    monkeypatch.setattr(table, "open_parser", lambda *arguments: parser)
    with pytest.raises(OutputError, match="cannot be used: full") as raised:
        detect(["Bola som tam."], "sk", cache=path)
    assert "are parsed and kept" not in str(raised.value)


def test_the_signature_of_parses_is_their_content(tmp_path: Path) -> None:
    """And a mark of the byte order before the first comment is none of it."""
    path = tmp_path / "parsed.conllu"
    tree = "# text = Som.\n1\tSom\tbyť\tAUX\t_\t_\t0\troot\t_\t_\n\n"
    path.write_text(tree, encoding="utf-8-sig")
    first = conllu.open_parser("sk", path)
    assert dict(first.parse(["Som."]))
    path.write_text(tree.replace("AUX", "VERB"), encoding="utf-8")
    assert conllu.open_parser("sk", path).signature != first.signature


def test_two_writers(tmp_path: Path) -> None:
    """Another connection that is open and has written does no harm."""
    path = tmp_path / "parses.sqlite3"
    list(cache.store(path, "a", iter([("x", "1")])))
    other = sqlite3.connect(path)
    list(cache.store(path, "a", iter([("x", "other"), ("y", "2")])))
    assert cache.cached(path, "a", ["x", "y"]) == {"x": "other", "y": "2"}
    other.close()


# worker processes

WORKER = """
import json, os, sys
print(json.dumps({ready}), flush=True)
for number, line in enumerate(sys.stdin):
    if number == {dies}:
        print("out of breath", file=sys.stderr, flush=True)
        os._exit(7)
    print(json.dumps({{"documents": [text.upper() for text in json.loads(line)]}}), flush=True)
"""


def worker(tmp_path: Path, ready: str = '{"ready": True}', dies: int = -1) -> list[str]:
    path = tmp_path / "worker.py"
    path.write_text(WORKER.format(ready=ready, dies=dies), encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.mark.parametrize("number", [1, 2])
def test_workers_answer_for_every_text(tmp_path: Path, number: int) -> None:
    texts = [f"text {i} š" for i in range(30)]
    found = dict(workers.parse_with_workers(worker(tmp_path), texts, number, chunk=4))
    assert found == {text: text.upper() for text in texts}


def test_dead_worker(tmp_path: Path) -> None:
    found = workers.parse_with_workers(worker(tmp_path, dies=2), [str(i) for i in range(20)], 1, chunk=4)
    assert [next(found)[0] for _ in range(8)] == [str(i) for i in range(8)]
    with pytest.raises(ParserError, match=r"ended with code 7, saying:\nout of breath"):
        next(found)


def test_worker_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(ParserError, match="no model here"):
        list(workers.parse_with_workers(worker(tmp_path, ready='{"error": "no model here"}'), ["x"], 1))
    with pytest.raises(ParserError, match="ended with code"):
        list(workers.parse_with_workers([sys.executable, str(tmp_path / "nowhere.py")], ["x"], 1))


def test_worker_that_dies_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "worker.py"
    path.write_text(
        'print(\'{"ready": true}\', flush=True); input(); print(\'{"documents": ["\', end="")',
        encoding="utf-8",
    )
    with pytest.raises(ParserError, match="ended with code 0"):
        list(workers.parse_with_workers([sys.executable, str(path)], ["x"], 1))


def test_reader_that_stops_early_leaves_no_worker(tmp_path: Path) -> None:
    """Ctrl-C in the middle: the workers end with the generator."""
    before = set(threading.enumerate())
    found = workers.parse_with_workers(worker(tmp_path), [str(i) for i in range(40)], 2, chunk=4)
    next(found)
    found.close()
    assert set(threading.enumerate()) == before


HUNG = """
import json, subprocess, sys, time
print(json.dumps({"ready": True}), flush=True)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
open(sys.argv[1], "a").write(f"{child.pid}\\n")
for line in sys.stdin:
    time.sleep(3600)
"""


def hung(tmp_path: Path) -> list[str]:
    """A worker that never answers, and has a process of its own that holds its output open."""
    path = tmp_path / "hung.py"
    path.write_text(HUNG, encoding="utf-8")
    return [sys.executable, str(path), str(tmp_path / "children")]


def gone(tmp_path: Path) -> bool:
    """Whether all that the workers have started ends."""
    for pid in map(int, (tmp_path / "children").read_text().split()):
        try:
            while Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
                time.sleep(0.01)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return True


def test_worker_that_gives_no_answer_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 0.5)
    before = set(threading.enumerate())
    # more than the pipe to it takes, so that writing to it waits as well
    with pytest.raises(ParserError, match=r"gave no answer for \d seconds, and was ended"):
        list(workers.parse_with_workers(hung(tmp_path), ["x" * 1_000_000], 1))
    assert set(threading.enumerate()) == before
    assert gone(tmp_path)


def test_ctrl_c_ends_a_hung_worker(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, threading\n"
        "from pathlib import Path\n"
        "from gest_dataset.gender.parsers import workers\n"
        # a parent in the background would hand down that it does not listen
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def interrupt():\n"
        "    while len(Path(sys.argv[-1]).read_text().split() if Path(sys.argv[-1]).exists() else []) < 2:\n"
        "        pass\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        "try:\n"
        "    list(workers.parse_with_workers(sys.argv[1:], ['x', 'y'], 2, chunk=1))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    command = [sys.executable, "-c", code, *hung(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr
    assert gone(tmp_path)


@pytest.mark.parametrize(
    "answer", ["nonsense", "[1]", "[" * 100_000, '{"documents": [7]}', '{"documents": "x"}']
)
def test_worker_that_answers_in_another_form(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "worker.py"
    path.write_text(f"print('{{\"ready\": true}}', flush=True); input(); print({answer!r})", encoding="utf-8")
    with pytest.raises(ParserError, match=r"is no JSON|of another form|no parse for each"):
        list(workers.parse_with_workers([sys.executable, str(path)], ["x"], 1))


def test_bulgarian_by_its_forms() -> None:
    """No parser, no model: closed classes and endings."""
    texts = textwrap.dedent("""\
        Не съм я виждала от години.
        Тя беше уморена, но аз не съм забравил.
        Аз съм добър учител.
        Петър беше ядосан.""").splitlines()
    found = detect(texts, "bg", "forms")
    assert [d.gender for d in found] == ["female", "male", "unknown", "unknown"]
    assert found[1].evidence == ("забравил",)
    quoted = detect(["— Не съм я виждала."], "bg", "forms")[0]
    assert (quoted.gender, quoted.evidence) == ("female", ("виждала",))
