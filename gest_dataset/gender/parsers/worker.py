"""A parser in a process of its own, perhaps with another Python: it imports nothing of this package.

It reads a JSON list of texts from each line of the standard input and prints `{"documents": [CoNLL-U, ...]}`.
The last answer may be `{"error": "..."}` instead.
"""

import sys

sys.path.pop(0)  # this folder: its modules are named like the parsers

import contextlib
import json
import os
from collections.abc import Callable
from typing import Any


def load_udpipe(path: str) -> Callable[[str], str]:
    from ufal.udpipe import Model, Pipeline, ProcessingError  # the other parsers do not need it

    model = Model.load(path)
    if model is None:
        raise ValueError(f"{path} is not a UDPipe model.")
    pipeline = Pipeline(model, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")

    def parse(text: str, model: object = model) -> str:  # the pipeline does not keep the model alive
        error = ProcessingError()
        document: str = pipeline.process(" ".join(text.split()), error)
        if error.occurred():
            raise ValueError(f"UDPipe: {error.message}: {text[:100]}")
        return document

    return parse


def load_trankit(language: str, directory: str, embedding: str) -> Callable[[str], str]:
    try:
        import trankit  # type: ignore[import-not-found]

        pipeline = trankit.Pipeline(language, cache_dir=directory, gpu=True, embedding=embedding)
    except Exception as error:  # no network, no model, wrong versions
        raise ValueError(f"Trankit cannot load {language} from {directory}: {error!r}") from error
    return lambda text: str(trankit.trankit2conllu(pipeline.posdep(text)))


def main(load: Callable[..., Callable[[str], str]], *arguments: str) -> None:
    # Trankit prints its progress: that goes to the standard error, the answers to the real output
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output, contextlib.redirect_stdout(sys.stderr):
        os.dup2(2, 1)

        def answer(content: Any) -> None:
            output.write(json.dumps(content) + "\n")
            output.flush()

        try:
            parse = load(*arguments)
            for line in sys.stdin:
                answer({"documents": [parse(text) for text in json.loads(line)]})
        except ValueError as error:
            answer({"error": str(error)})


if __name__ == "__main__":
    main(load_udpipe if sys.argv[1] == "udpipe" else load_trankit, *sys.argv[2:])
