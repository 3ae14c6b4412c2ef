"""The aligner of `benchmarks/winomt.py` on planted translations."""

import random

from benchmarks.winomt import align, most_frequent


def test_a_planted_dictionary_is_learned() -> None:
    """Words are translated one by one, in nearly the same order; `ja` has no source."""
    draw = random.Random(0)
    words = [f"word{number}" for number in range(60)]
    pairs, planted = [], []
    for _ in range(400):
        source = draw.sample(words, 8)
        order = [1, 0, *range(2, 8)]
        pairs.append(
            (source, [source[j].replace("word", "slovo") for j in order] + ["ja"] * draw.randint(0, 1))
        )
        planted.append({j: [i] for i, j in enumerate(order)})
    found = align(pairs)
    right = sum(
        links.get(j) == places for links, one in zip(found, planted, strict=True) for j, places in one.items()
    )
    assert right > 0.99 * 8 * len(pairs)
    with_ja = [links for links, (_, target) in zip(found, pairs, strict=True) if len(target) == 9]
    assert sum(8 in places for links in with_ja for places in links.values()) < 0.1 * len(with_ja)


def test_the_first_of_the_most_frequent_counts() -> None:
    assert most_frequent(["neutral", "male"], "unknown") == "neutral"
    assert most_frequent(["neutral", "male", "male"], "unknown") == "male"
    assert most_frequent([], "unknown") == "unknown"
