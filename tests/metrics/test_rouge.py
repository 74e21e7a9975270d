"""ROUGE against numbers of rouge_score 0.1.2 and a plain version, stems against NLTK."""

import random
import re
from collections import Counter
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.metrics.rouge import MEASURES, VARIANTS
from evalstats.text import levenshtein, porter
from evalstats.text.tokenization import alphanumeric
from tests.conftest import nasty_corpora
from tests.helpers import refuses

#: Means of F, precision and recall by variant, then of stems, of rouge_score 0.1.2: the system
#: `baseline` of the sample, and JDExploreAcademy of WMT22
#: English-German, of which every eighth segment. Every comma ended a line.
SAMPLE = {
    "1": ((0.6471748246792349, 0.6900971735309152, 0.6234681838174148),
          (0.6612452270881792, 0.7050794214771481, 0.6370821381071624)),
    "2": ((0.41252498375655977, 0.44133909535393945, 0.39743802808046574),
          (0.4270125131412642, 0.4567413741499942, 0.41138940564150855)),
    "4": ((0.1762007517652123, 0.1898726362438628, 0.16929674255501476),
          (0.1869187333679722, 0.20191125145005498, 0.17949239203089715)),
    "L": ((0.6018726306280227, 0.6416539955759019, 0.579510029052612),
          (0.6137211319564221, 0.6548261554620468, 0.5905104946334278)),
    "Lsum": ((0.6219688699495307, 0.6633293833968323, 0.598686238446216),
             (0.6340951157968744, 0.6768369890871732, 0.6099351167662533)),
}  # fmt: skip
WMT = {
    "1": ((0.7518546447992821, 0.7550759327795442, 0.7531349136121468),
          (0.7576689992119713, 0.7613576085474567, 0.7585709207497434)),
    "2": ((0.5668427595038997, 0.5688696703585818, 0.5694262673501312),
          (0.5709644100475704, 0.5729680219852281, 0.5736266471922352)),
    "4": ((0.35084759416716865, 0.35113122752310183, 0.3538835269295021),
          (0.35287041262161095, 0.3531608498295407, 0.35595949820051975)),
    "L": ((0.7246197017431384, 0.7282566859612452, 0.7255044700559167),
          (0.7288788508395292, 0.7326097957607038, 0.7297484770455807)),
    "Lsum": ((0.7321601557520949, 0.7351108912543034, 0.7338411797784031),
             (0.7371373370114487, 0.7400751052558378, 0.7389084352575558)),
}  # fmt: skip


def by_line(texts):
    return [text.replace(", ", "\n") for text in texts]


def scored(texts, references, variant, **options):
    """Return segment scores, (N,)."""
    return es.ROUGE(variant, **options).statistics(texts, references)[:, 0]


def means(texts, references, variant, stemmer):
    found = [scored(texts, references, variant, stemmer=stemmer, measure=m) for m in MEASURES]
    return [float(scores.mean()) for scores in found]


@pytest.mark.parametrize("variant", SAMPLE)
def test_the_sample_scores_as_in_rouge_score(sample, variant):
    references = es.References([by_line(row) for row in sample.references])
    texts = by_line(sample.systems["baseline"])
    for stemmer in (False, True):
        found = means(texts, references, variant, stemmer)
        assert found == pytest.approx(SAMPLE[variant][stemmer], abs=1e-12)
    assert es.estimate(texts, references, es.ROUGE(variant), n_resamples=99).score == (
        pytest.approx(SAMPLE[variant][False][0], abs=1e-12)
    )


@pytest.mark.parametrize("variant", WMT)
def test_wmt_texts_score_as_in_rouge_score(en_de, variant):
    references = es.References(
        es.from_streams(*(by_line(en_de.references[label][::8]) for label in "BA"))
    )
    texts = by_line(en_de.systems["JDExploreAcademy"][::8])
    for stemmer in (False, True):
        found = means(texts, references, variant, stemmer)
        assert found == pytest.approx(WMT[variant][stemmer], abs=1e-12)


#: What the tests of rouge_score expect of a target and a prediction: P, R and F.
ITS_TESTS = [
    ("1", "testing one two", "testing", 1, 1 / 3, 1 / 2),
    ("2", "testing one two", "testing one", 1, 1 / 2, 2 / 3),
    ("L", "testing one two", "testing two", 1, 2 / 3, 4 / 5),
    ("9", "testing one two", "testing", 0, 0, 0),
    # The example of Lin (2004), section 3.2.
    ("Lsum", "w1 w2 w3 w4 w5", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", 0.4, 0.8, 8 / 15),
    ("Lsum", "w1 w2 w3 w4 w5", "/", 0, 0, 0),
    ("Lsum", "", "w1", 0, 0, 0),
    ("Lsum", "First sentence.\nSecond Sentence.", "Second sentence.\nFirst Sentence.", 1, 1, 1),
    ("Lsum", "First sentence. Second Sentence.", "Second sentence. First Sentence.", *[0.5] * 3),
]


@pytest.mark.parametrize("variant, target, prediction, p, r, f", ITS_TESTS)
def test_what_rouge_score_tests(variant, target, prediction, p, r, f):
    for measure, value in {"precision": p, "recall": r, "fmeasure": f}.items():
        assert scored([prediction], [target], variant, measure=measure) == pytest.approx([value])


def plain_union(hyp, ref):
    """Count common tokens by tables of lengths, and go back through them as rouge_score does."""
    common, left = 0, [token for line in hyp for token in line]
    for line in ref:
        marked = set()
        for other in hyp:
            table = [[0] * (len(other) + 1) for _ in range(len(line) + 1)]
            for i, a in enumerate(line, 1):
                for j, b in enumerate(other, 1):
                    longest = max(table[i - 1][j], table[i][j - 1])
                    table[i][j] = table[i - 1][j - 1] + 1 if a == b else longest
            i, j = len(line), len(other)
            while i and j:
                if line[i - 1] == other[j - 1]:
                    i, j = i - 1, j - 1
                    marked.add(i)
                elif table[i][j - 1] > table[i - 1][j]:
                    j -= 1
                else:
                    i -= 1
        for i in marked:
            if line[i] in left:
                left.remove(line[i])
                common += 1
    return common


def plain_counts(text, reference, variant, stemmer):
    """Return hits, and the tokens or n-grams that the output and the reference have."""
    whole = variant != "Lsum"
    lines = [[side] if whole else side.split("\n") for side in (text, reference)]
    hyp, ref = ([alphanumeric(line, stemmer) for line in side if line] for side in lines)
    if not variant.isdigit():
        return plain_union(hyp, ref), sum(map(len, hyp)), sum(map(len, ref))
    n = int(variant)
    grams = [
        Counter(tuple(tokens[i : i + n]) for tokens in side for i in range(len(tokens) - n + 1))
        for side in (hyp, ref)
    ]
    return tuple(count.total() for count in (grams[0] & grams[1], *grams))


@settings(max_examples=30)
@given(nasty_corpora, st.sampled_from(VARIANTS), st.booleans())
def test_arrays_and_single_texts_agree_to_the_last_bit(corpus, variant, stemmer):
    """A plain version that shares the tokeniser, on texts of many lines and several references."""
    texts, references = corpus
    lined = es.References(
        [[t.replace(" ", "\n", 3) for t in row] for row in es.References(references)]
    )
    expected = []
    for row, text in zip(lined, texts, strict=True):
        scores = []
        for reference in row:
            hits, hyp, ref = plain_counts(text, reference, variant, stemmer)
            precision, recall = hits / max(hyp, 1), hits / max(ref, 1)
            both = precision + recall
            fmeasure = 2 * precision * recall / both if both else 0.0
            scores.append({"fmeasure": fmeasure, "precision": precision, "recall": recall})
        expected.append(max(scores, key=itemgetter("fmeasure")))
    for measure in MEASURES:
        values = scored(texts, lined, variant, stemmer=stemmer, measure=measure)
        assert values.tolist() == [score[measure] for score in expected]


@pytest.mark.parametrize("limits", [{}, {"_BLOCK_ENTRIES": 50, "_BLOCK_LINES": 20}], ids=str)
def test_unions_of_lines_are_those_of_tables(monkeypatch, limits):
    for name, value in limits.items():
        monkeypatch.setattr(levenshtein, name, value)
    rng = random.Random(4)

    def text():
        return [
            [rng.choice("abc") for _ in range(rng.randint(0, 7))] for _ in range(rng.randint(1, 4))
        ]

    pairs = [(text(), text()) for _ in range(150)]
    written = [["\n".join(map(" ".join, side)) for side in pair] for pair in pairs]
    hyps, refs = zip(*written, strict=True)
    recall = scored(hyps, refs, "Lsum", measure="recall")
    sizes = [sum(map(len, ref)) for _, ref in pairs]
    assert (recall * sizes).round(9).tolist() == [plain_union(*pair) for pair in pairs]


def test_stems_are_nltks(sample):
    """Those of the sample, and of made-up words with every suffix of the rules."""
    nltk = pytest.importorskip("nltk.stem.porter", reason="NLTK is a test extra")
    rng = random.Random(0)
    ends = [end for rules in (porter._STEP_2, porter._STEP_3, porter._STEP_4) for end, _ in rules]
    ends += ["ed", "eed", "ied", "ing", "y", "e", "ll", "ies", "sses", "s", "ally", "fully"]
    words = {*re.findall("[a-z0-9]+", " ".join(sample.systems["baseline"]).lower())}
    words |= {*porter._IRREGULAR, "dies", "died", "flies", "spy", "enjoy", "at", "a1"}
    for _ in range(1000):
        start = "".join(rng.choices("aeiouybcdlmnstzwxk1", k=rng.randint(1, 5)))
        words.add(start + "".join(rng.choices(ends, k=rng.randint(0, 3))))
    stemmer = nltk.PorterStemmer()
    assert {w: porter.stem(w) for w in words} == {w: stemmer.stem(w) for w in words}


def test_only_words_of_four_letters_are_stemmed():
    assert scored(["was his dogs"], ["wa hi dog"], 1, stemmer=True) == pytest.approx([1 / 3])
    assert scored(["ponies"], ["poni"], 1, stemmer=True) == [1.0]


def test_the_best_reference_counts_and_the_first_of_equals():
    # F is 2/3 against both; precision and recall change places.
    text, references = "a b", [["a b c d", "a"]]
    found = [scored([text], references, 1, measure=m)[0] for m in MEASURES]
    assert found == pytest.approx([2 / 3, 1, 1 / 2])
    assert scored([text], [["a", "a b c d"]], 1, measure="precision") == pytest.approx([1 / 2])


def test_names_and_what_cannot_be(sample):
    texts, references = sample.systems["baseline"][:20], sample.references[:20]
    for name in ("rougeL", "rougel", "ROUGE-L", es.ROUGE("L"), es.ROUGE()):
        assert es.estimate(texts, references, name, n_resamples=99).metric == "ROUGE-L"
    assert es.ROUGE(1) == es.ROUGE("1") == es.ROUGE(np.int64(1))
    assert es.ROUGE("2", measure="recall").name == "ROUGE-2 recall"
    assert es.ROUGE("L", stemmer=True).signature == "rouge:L|stem:yes|score:fmeasure"
    for wrong in ("rougeL", 0, 10, True, None, "l"):
        refuses(r"variant must be one of 1, 2, .*L, Lsum, got", es.ROUGE, wrong)
    refuses("measure must be one of fmeasure, precision, recall", es.ROUGE, "L", measure="f1")
    refuses("has a score above 1", es.SegmentStatistics, [[[2.0, 1.0]]], ["A"], es.ROUGE())


def test_a_long_line_takes_memory_by_its_own_size():
    text = " ".join(map(str, np.arange(3000) % 700))
    assert scored([text + "\nx"], [text + "\ny"], "Lsum") == pytest.approx([3000 / 3001])
