"""A worker process of Trankit: texts in, CoNLL-U out (see workers.py). It runs in Trankit's environment."""

import sys

sys.path.pop(0)  # this folder: its modules are named like the parsers

import contextlib
import json
import os
from typing import Any


def main(language: str, directory: str, embedding: str) -> None:
    # Trankit prints what it does: that goes to the messages, the answers to the real output
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers, contextlib.redirect_stdout(sys.stderr):
        os.dup2(2, 1)

        def answer(what: Any) -> None:
            answers.write(json.dumps(what) + "\n")
            answers.flush()

        try:
            import trankit  # type: ignore[import-not-found]

            pipeline = trankit.Pipeline(language, cache_dir=directory, gpu=True, embedding=embedding)
        except Exception as error:  # no network, no model, wrong versions: the caller tells the user
            answer({"error": f"Trankit cannot load {language} from {directory}: {error!r}"})
            return
        answer({"ready": True})
        for line in sys.stdin:
            documents = [trankit.trankit2conllu(pipeline.posdep(text)) for text in json.loads(line)]
            answer({"documents": documents})


if __name__ == "__main__":
    main(*sys.argv[1:])
