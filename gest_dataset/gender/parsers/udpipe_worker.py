"""A worker process of UDPipe: texts in, CoNLL-U out (see workers.py). It imports nothing else of ours."""

import sys

sys.path.pop(0)  # this folder: its modules are named like the parsers

import json

from ufal.udpipe import Model, Pipeline, ProcessingError


def main(path: str) -> None:
    model = Model.load(path)
    if model is None:
        print(json.dumps({"error": f"{path} is no UDPipe model."}), flush=True)  # noqa: T201
        return
    pipeline = Pipeline(model, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    print(json.dumps({"ready": True}), flush=True)  # noqa: T201
    for line in sys.stdin:
        documents = []
        for text in json.loads(line):
            error = ProcessingError()
            documents.append(pipeline.process(" ".join(text.split()), error))
            if error.occurred():
                print(json.dumps({"error": f"UDPipe: {error.message}: {text[:100]}"}), flush=True)  # noqa: T201
                return
        print(json.dumps({"documents": documents}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
