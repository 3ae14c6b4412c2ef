"""The tokenisers of the calibration's models: whole words, or words in pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import transformers as hf
from tokenizers import AddedToken, Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordLevel, WordPiece

from gest_dataset.calibration.corpus import Gap

PAD, UNKNOWN, START, END, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SENTINELS = ("<extra_id_0>", "<extra_id_1>")
_SYLLABLES = re.compile(r"((?:[^aeiou]+[aeiou]){2})(?=.*[aeiou])(.*)")
# What the tokeniser puts around a text, by the kind of model; a causal one without a start has nothing
_AROUND = {"masked": f"{START} $A {END}", "causal": f"{START} $A", "seq2seq": f"$A {END}"}


def pieces_of(word: str) -> list[str]:
    """A made-up word in pieces: two syllables, then what is left, in which each `l` stands alone.

    So a masculine word, on -l, is the beginning of the feminine one, on -la. Words that are not made up
    are shorter, and whole.

    >>> pieces_of("nabrofed"), pieces_of("banidol"), pieces_of("banidola"), pieces_of("woman")
    (['nabro', 'fed'], ['bani', 'do', 'l'], ['bani', 'do', 'l', 'a'], ['woman'])
    """
    cut = _SYLLABLES.fullmatch(word)
    return [word] if cut is None else [cut[1], *re.findall(r"l|[^l]+", cut[2])]


def make_tokenizer(
    gaps: Sequence[Gap], kind: str, pieces: bool = False, start: bool = True
) -> hf.PreTrainedTokenizerFast:
    """Words, or their pieces, and single punctuation marks; those of a corpus, and nothing else.

    Without a `start` a causal model's tokeniser has an end token alone, and puts nothing in front.
    """
    splitter = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    special = (PAD, UNKNOWN, START, END, MASK, *(SENTINELS if kind == "seq2seq" else ()))
    vocabulary = {token: i for i, token in enumerate(special)}
    for gap in gaps:
        for text in (gap.before, *gap.counts, gap.after):
            for word, _ in splitter.pre_tokenize_str(text):
                first, *others = pieces_of(word) if pieces else [word]
                for token in (first, *(f"##{piece}" for piece in others)):
                    vocabulary.setdefault(token, len(vocabulary))
    model = WordPiece if pieces else WordLevel
    tokenizer = Tokenizer(model(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = splitter
    if start:
        ends = [(token, vocabulary[token]) for token in (START, END)]
        tokenizer.post_processor = processors.TemplateProcessing(single=_AROUND[kind], special_tokens=ends)
    names: dict[str, dict[str, Any]] = {
        "masked": {"cls_token": START, "sep_token": END, "mask_token": AddedToken(MASK, special=True)},
        "causal": {"bos_token": START, "eos_token": START} if start else {"eos_token": END},
        "seq2seq": {"eos_token": END, "additional_special_tokens": list(SENTINELS)},
    }
    return hf.PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        unk_token=UNKNOWN,
        pad_token=PAD,
        model_input_names=["input_ids", "attention_mask"],
        **names[kind],
    )
