"""A completions server on the loopback with a tiny model of the zoo, and the capabilities of real servers.

The answers have the form of vLLM 0.32 (its real ones are in tests/models/served/test_vllm.py: the slow test
compares the two). A `Dialect` says what a server lacks, or does otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from tests.support import zoo
from tests.support.services import Answer, Request, Server, serving

MODEL = "tiny"
LONGEST = 100


@dataclass(frozen=True)
class Dialect:
    """What a server can do: see `models.served.capabilities.Capabilities`.

    `ids`: it writes tokens by their number where that is asked for. `tokenize`: it has that page.
    `name`: the model that it says it has answered for.
    """

    named: bool = True
    echo: bool = True
    likeliest: int = 20
    least: int = 0  # the tokens that it writes at least
    in_front: tuple[int, ...] = ()
    several: bool = True
    ids: bool = True
    logprobs: bool = True
    tokenize: bool = True
    completions: bool = True
    name: str = MODEL
    texts: bool = False  # prompts are texts, as in llama-cpp-python
    content: bool = False  # the log-probabilities of llama.cpp's llama-server: a list of tokens with ids
    extra: int = 0  # the tokens that it writes beyond those asked for
    sampled: bool = True  # the likeliest tokens include the one that it has written
    refuses: str = "2 validation errors: Input should be a valid string"  # of ids, if it takes texts only
    status: int = 500  # of that message
    top_p: bool = True  # takes a top_p of 1


VLLM = Dialect()
ECHO = Dialect(named=False, least=1, several=False, ids=False, tokenize=False)
TOP = Dialect(named=False, echo=False, likeliest=5, ids=False)
LLAMA_CPP = Dialect(named=False, likeliest=10**9, least=1, ids=False, tokenize=False, texts=True)
LLAMA_SERVER = replace(TOP, likeliest=10**9, content=True)
# As in the sources of SGLang (serving_completions.py), Ollama (openai.go) and TGI (validation.rs)
SGLANG = Dialect(named=False, likeliest=10**9, ids=False, extra=1, sampled=False)
OLLAMA = Dialect(
    logprobs=False,
    tokenize=False,
    texts=True,
    refuses="json: cannot unmarshal array into Go struct field CompletionRequest.prompt of type string",
    status=400,
)
TGI = Dialect(
    logprobs=False,
    tokenize=False,
    texts=True,
    refuses="Failed to deserialize the JSON body into the target type: prompt: expected a string",
    status=422,
    top_p=False,
)
TOP_P = "Input validation error: `top_p` must be > 0.0 and < 1.0"  # TGI's message


@contextmanager
def served(animal: str, dialect: Dialect = VLLM) -> Iterator[Server]:
    """A server that has one model of the zoo."""
    with serving(_answerer(animal, dialect)) as server:
        yield server


def _answerer(animal: str, dialect: Dialect) -> Callable[[Request], Answer]:
    model, tokenizer = zoo.load(animal)

    def models(body: Any) -> Answer:
        entry = {"id": MODEL, "object": "model", "root": MODEL, "max_model_len": LONGEST}
        return 200, {}, {"object": "list", "data": [entry]}

    def tokenize(body: Any) -> Answer:
        if not dialect.tokenize:
            return 404, {}, {"detail": "Not Found"}
        ids = tokenizer(body["prompt"], add_special_tokens=body["add_special_tokens"])["input_ids"]
        pieces = tokenizer.convert_ids_to_tokens(ids)
        told = {"count": len(ids), "max_model_len": LONGEST, "tokens": ids, "token_strs": pieces}
        return 200, {}, told

    def detokenize(body: Any) -> Answer:
        return 200, {}, {"prompt": tokenizer.decode(body["tokens"])}

    def written(number: int, body: Any) -> str:
        by_number = dialect.ids and body.get("return_tokens_as_token_ids")
        return f"token_id:{number}" if by_number else tokenizer.decode([number])

    @torch.inference_mode()
    def completions(body: Any) -> Answer:
        if not dialect.completions:
            return 404, {}, {"detail": "Not Found"}
        if body["model"] != MODEL:
            message = f"The model `{body['model']}` does not exist."
            return 404, {}, {"error": {"message": message, "type": "NotFoundError", "code": 404}}
        prompts = body["prompt"] if isinstance(body["prompt"][0], list) else [body["prompt"]]
        if dialect.texts and not isinstance(body["prompt"], str):
            return dialect.status, {}, {"error": {"message": dialect.refuses, "type": "an_error"}}
        if not dialect.top_p and body.get("top_p") == 1:
            return 422, {}, {"error": TOP_P, "error_type": "validation"}
        if dialect.texts:
            prompts = [tokenizer(body["prompt"], add_special_tokens=False)["input_ids"]]
        wanted = body.get("logprobs")
        if wanted is not None and wanted > dialect.likeliest:
            return 400, {}, {"error": {"message": f"max allowed: {dialect.likeliest}", "code": 400}}
        if (len(prompts) > 1 and not dialect.several) or body["max_tokens"] < dialect.least:
            return 400, {}, {"error": {"message": "not supported", "code": 400}}
        choices = [choice(index, prompt, body) for index, prompt in enumerate(prompts)]
        counted = sum(len(dialect.in_front) + len(prompt) for prompt in prompts)
        answer = {"object": "text_completion", "model": dialect.name, "choices": choices}
        return 200, {}, {**answer, "usage": {"prompt_tokens": counted}}

    def choice(index: int, prompt: list[int], body: Any) -> dict[str, Any]:
        ids = [*dialect.in_front, *prompt]
        table = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        tokens, numbers, tops = [], [], []
        if body.get("echo") and dialect.echo:
            tokens += ids
            numbers += [None, *(table[i, after].item() for i, after in enumerate(ids[1:]))]
            tops += [
                None,
                *({written(after, body): table[i, after].item()} for i, after in enumerate(ids[1:])),
            ]
        if body["max_tokens"] + dialect.extra:
            best = table[-1].argmax().item()
            named = body.get("logprob_token_ids") if dialect.named else None
            most = min(body.get("logprobs") or 0, table.shape[1])
            shown = named or table[-1].topk(most).indices.tolist()
            tokens.append(best)
            numbers.append(table[-1, best].item())
            shown = [best, *shown] if dialect.sampled else shown
            if shown:
                tops.append({written(number, body): table[-1, number].item() for number in shown})
        if dialect.texts and body.get("echo"):
            # the start token is not shown; without one, each value is read one position too late
            if ids[0] == tokenizer.bos_token_id:
                tokens, numbers, tops = tokens[1:], [None, *numbers[2:]], [None, *tops[2:]]
            else:
                numbers = [None, *(table[i, token].item() for i, token in enumerate(ids) if i), 0.0]
        told = {
            "tokens": [written(number, body) for number in tokens],
            "token_logprobs": numbers,
            "top_logprobs": tops,
        }
        if dialect.content and tops:
            rows = [(number, tokenizer.decode([number]), table[-1, number].item()) for number in shown]
            listed = [dict(zip(("id", "token", "logprob"), row, strict=True)) for row in rows]
            told = {"content": [{**listed[0], "top_logprobs": listed[1:]}]}
        has = dialect.logprobs and body.get("logprobs") is not None
        return {"index": index, "text": "", "logprobs": told if has else None, "finish_reason": "length"}

    def chat(body: Any) -> Answer:
        return 200, {}, {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}}]}

    pages = {
        "/v1/models": models,
        "/tokenize": tokenize,
        "/detokenize": detokenize,
        "/v1/completions": completions,
        "/v1/chat/completions": chat,
    }

    def answer(request: Request) -> Answer:
        page = pages.get(request.path)
        return page(request.body) if page else (404, {}, {"detail": "Not Found"})

    return answer
