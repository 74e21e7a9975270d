"""What is not what it is taken for is refused or said, and good data are left alone."""

import unicodedata
from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from evalstats.data import load_sample
from evalstats.results.records import CAUTION
from evalstats.statistics import guards
from tests.helpers import cases, refuses

REFERENCES = ["the cat sat on the mat", "a dog barked at the moon"] * 10
OUTPUTS = ["the cat sits on the mat", "a dog barked at the sun"] * 10


def words(texts):
    return [text.split() for text in texts]


def alone(texts):
    return [[text] for text in texts]


@cases(
    (OUTPUTS, words(REFERENCES), r"references\[0\] is a list of words"),
    (words(OUTPUTS), words(REFERENCES), r"system 'system': hypotheses\[0\] is a list of 6"),
    (words(OUTPUTS), REFERENCES, r"\[0\] is a list of 6 strings. Pass one string per segment"),
    (alone(OUTPUTS), alone(REFERENCES), r"\[0\] is a list of one output; pass the outputs"),
    (alone(OUTPUTS), REFERENCES, r"\[0\] is a list of one output; pass the outputs"),
)
def test_lists_of_words_and_of_one_text_are_refused(outputs, references, message):
    for metric in ("bleu", "chrf", "wer"):
        refuses(message, es.estimate, outputs, references, metric)


GOOD_REFERENCES = {
    "aliases": ([f"The answer is {i}." for i in range(20)],
                [[str(i), f"#{i}", "none"] for i in range(20)]),
    "aliases that the output names": (["It is Paris, I think"] * 20,
                                      [["Paris", "paris", "PARIS", "Paname"]] * 20),
    "labels of ten people": (["yes it is"] * 20, [["yes"] * 6 + ["no"] * 4] * 20),
    "one word": (["yes"] * 20, [["yes"]] * 20),
    "sentences": (OUTPUTS, [[text, f"{text} now"] for text in REFERENCES]),
    "an absent one": (OUTPUTS, [[text, None] for text in REFERENCES]),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD_REFERENCES)
def test_several_references_are_left_alone(name):
    assert es.estimate(*GOOD_REFERENCES[name], "chrf").score > 0


def test_words_can_be_references_if_they_are_meant():
    meant = es.References(words(REFERENCES))
    assert es.estimate(OUTPUTS, meant, "chrf").score > 0


def test_answers_to_items_are_not_runs():
    answers = np.random.default_rng(0).integers(0, 2, (200, 3))
    for given in (answers, answers.tolist()):
        refuses(r"200 lists of 3, .*PassAll", es.estimate, given, metric=es.Mean("accuracy"))
    assert es.estimate(answers.T, metric=es.Mean("accuracy")).score == answers.mean()
    found = es.estimate(answers.tolist(), metric=es.PassAll(1))
    assert found.score == pytest.approx(answers.mean())


# Texts in scripts that metrics read, with the words of the last one that has no spaces.
SCRIPTS = {
    "Russian": ["Сегодня хорошая погода", "Мы идём в парк"],
    "Arabic": ["الطقس جميل اليوم", "نحن ذاهبون إلى الحديقة"],
    "Hindi": ["आज मौसम अच्छा है", "हम पार्क जा रहे हैं"],
    "Hebrew": ["מזג האוויר יפה היום", "אנחנו הולכים לפארק"],
    "Amharic": ["ዛሬ የአየር ሁኔታ ጥሩ ነው", "ወደ መናፈሻ እንሄዳለን"],
    "Tamil": ["இன்று வானிலை நன்றாக இருக்கிறது", "நாங்கள் பூங்காவிற்குச் செல்கிறோம்"],
    "Georgian": ["დღეს კარგი ამინდია", "ჩვენ პარკში მივდივართ"],
    "Finnish": ["Tänään on kaunis ilma", "Lentokonesuihkuturbiinimoottoriapumekaanikko"],
    "Korean words": ["날씨", "공원"],
    "Arabic words": ["نعم", "لا"],
}
UNSPACED = {
    "Khmer": ["ថ្ងៃនេះអាកាសធាតុល្អណាស់", "យើងទៅសួនច្បារជាមួយគ្នា"],
    "Lao": ["ມື້ນີ້ອາກາດດີຫຼາຍ", "ພວກເຮົາໄປສວນສາທາລະນະ"],
    "Burmese": ["ယနေ့ရာသီဥတုသာယာပါသည်", "ကျွန်ုပ်တို့ပန်းခြံသို့သွားကြသည်"],
    "Tibetan": ["དེ་རིང་གནམ་གཤིས་ཡག་པོ་འདུག", "ང་ཚོ་གླིང་ཁར་འགྲོ་གི་ཡོད"],
}


@pytest.mark.parametrize("script", UNSPACED)
@pytest.mark.parametrize("metric", [es.BLEU(), es.WER(), es.TER()])
def test_lines_that_are_one_token_are_said(script, metric):
    said = metric.unread(UNSPACED[script])
    assert "so they are not words. Use" in said
    assert not es.BLEU(tokenize="char").unread(UNSPACED[script])


@pytest.mark.parametrize("script", SCRIPTS)
def test_words_between_spaces_are_read(script):
    for metric in (es.BLEU(), es.WER(), es.CHRF(), es.CER()):
        assert not metric.unread(SCRIPTS[script])


@cases(
    (SCRIPTS["Russian"], "100%"), (SCRIPTS["Hindi"], "100%"), (UNSPACED["Lao"], "100%"),
    (["Сегодня BLEU", "погода"], "76%"), (["Schöne Grüße", "Tänään on kaunis ilma"], ""),
    (["x = 1 + 2", "∀x∃y"], ""), (["42", "3.14"], ""),
)  # fmt: skip
def test_rouge_says_which_share_of_the_letters_it_drops(texts, share):
    said = es.ROUGE("1").unread(texts)
    assert bool(said) == bool(share)
    assert f"so {share} of the letters of the references do not count" in said or not share


def said_of(outputs, references, metric="bleu"):
    text = str(es.estimate({"A": outputs}, references, metric, n_resamples=99))
    return [line for line in text.splitlines() if line.startswith(CAUTION)]


GERMAN = [f"Schöne Grüße über Brücke {i} und Café" for i in range(40)]


def test_pieces_of_words_and_other_characters_for_the_same_are_said():
    pieces = [text.replace("the", "th@@ e") for text in REFERENCES]
    assert "outputs of A contain subwords ('@@ '" in said_of(pieces, REFERENCES)[0]
    assert not said_of(pieces, pieces)
    decomposed = [unicodedata.normalize("NFD", text) for text in GERMAN]
    said = "40 of 40 outputs of A have accents as separate characters"
    assert said in said_of(decomposed, GERMAN)[0]
    assert not said_of(decomposed, decomposed)
    assert not said_of(GERMAN, GERMAN)


def test_an_empty_reference_beside_others_is_said():
    blank = [[text, "" if i < 3 else text] for i, text in enumerate(REFERENCES)]
    (said,) = said_of(OUTPUTS, blank)
    assert "3 of 20 segments have an empty reference among others" in said
    absent = [[text, other or None] for text, other in blank]
    for good in (absent, ["", *REFERENCES[1:]], [["", ""], *REFERENCES[1:]]):
        assert not said_of(OUTPUTS, good)


def test_words_that_stand_for_no_text_are_words_if_references_have_them():
    """A class is called "none": that it is found too often is a score."""
    gold = ["none" if i % 4 == 0 else f"class {i % 3}" for i in range(40)]
    outputs = ["None" if i % 2 == 0 else f"class {i % 3}" for i in range(40)]
    assert not said_of(outputs, gold, "chrf")
    others = [text.replace("none", "other") for text in gold]
    (caution,) = said_of(outputs, others, "chrf")
    assert "20 of 40 outputs of A are empty or a placeholder such as 'nan'" in caution
    part = es.Accumulator("chrf")
    part.update(outputs, others)
    assert part.statistics("A").cautions["A"][0] == caution


@cases(
    (0.44, 43.0, True, True), (43.0, 0.44, True, True), (0.02, 0.9, True, False),
    (0.9, 1.1, True, False), (3.0, 90.0, True, False), (0.5, 900.0, True, False),
    (-0.2, 0.4, True, False),
    # Seconds, and normal scores.
    (0.44, 43.0, False, False), (0.01, 1.94, None, False),
)  # fmt: skip
def test_shares_beside_percentages_are_said(base, new, higher, is_said):
    rng = np.random.default_rng(0)
    both = {name: mean * rng.uniform(0.8, 1.2, 60) for name, mean in (("a", base), ("b", new))}
    if higher is None:
        both = {name: scores + rng.normal(size=60) for name, scores in both.items()}
        both = {"a": both["a"] - both["a"].mean() + base, "b": both["b"] - both["b"].mean() + new}
    found = es.compare(both, metrics=es.Mean("judge", higher is not False), n_resamples=99)
    assert any("like a percentage and a share" in note for note in found.notes) == is_said


def test_empty_references_are_said_where_outputs_are_not_empty():
    said = "4 of 40 references are empty, but the outputs are not. No output can match"
    gold = ["", " ", "\u200b", "\ufeff", *REFERENCES[4:] * 2][:40]
    gold += REFERENCES[: 40 - len(gold)]
    outputs = (OUTPUTS * 2)[:40]
    (caution,) = said_of(outputs, gold, "chrf")
    assert said in caution
    assert not said_of(gold, gold, "chrf")
    assert not said_of(outputs, [*gold[:2], *REFERENCES, *REFERENCES[:18]], "chrf")


@cases(
    (["yes", "no"] * 6, es.BLEU(), True),
    (["yes it is", "no"] * 6, es.BLEU(), True),
    (["yes it is so", "no"] * 6, es.BLEU(), False),
    (["yes", "no"] * 6, es.BLEU(effective_order=True), False),
    (["yes it", "no"] * 6, es.BLEU(max_ngram_order=2), False),
    ([""] * 12, es.BLEU(), False),
)
def test_bleu_that_is_0_whatever_the_outputs_say_is_a_note(outputs, metric, is_said):
    text = str(es.estimate(outputs, ["yes", "Paris"] * 6, metric, n_resamples=99))
    assert ("the score is always 0" in text) == is_said


def test_parts_and_selections_keep_what_is_said_of_them():
    good, bad = es.extract({"A": OUTPUTS}, REFERENCES), es.extract({"A": [""] * 20}, REFERENCES)
    both = es.concatenate([good, replace(bad, fingerprint=None)])
    (caution,) = both.cautions["A"]
    assert caution.said == "Part 2 of 2: 20 of 20 outputs of A are empty"
    assert caution.kind == "empty"
    khmer = [es.extract({"A": texts * 9}, texts * 9) for texts in (UNSPACED["Khmer"],) * 2]
    khmer[1] = replace(khmer[1], fingerprint=None)
    assert es.concatenate(khmer).cautions == khmer[0].cautions != {}
    (some,) = bad.select(range(5)).cautions["A"]
    assert some.said == "Among all 20 segments (5 are selected): 20 of 20 outputs of A are empty"


def test_parts_have_their_systems_in_any_order():
    rng = np.random.default_rng(5)
    values = rng.random((3, 8, 2))
    values[..., 1] = 1
    whole = es.SegmentStatistics(values, [*"abc"], es.Mean("m"))
    turned = es.SegmentStatistics(values[[1, 2, 0], 4:], [*"bca"], es.Mean("m"))
    first = es.SegmentStatistics(values[:, :4], [*"abc"], es.Mean("m"))
    assert es.concatenate([first, turned]) == whole


def test_the_sample_and_texts_that_look_odd_are_left_alone():
    """Code, mathematics, three-word answers: nothing is said of any of them."""
    sample = load_sample()
    odd = {
        "code": [f"def f_{i}(x): return x ** {i}" for i in range(40)],
        "mathematics": [f"∀ε>0 ∃δ: |x - {i}| < δ" for i in range(40)],
        "links": [f"https://example.org/{i}/a-long-path?q={i}" for i in range(40)],
        "three words": [f"blue or {i}" for i in range(40)],
        "numbers": [str(i) for i in range(40)],
    }
    corpora = [*odd.values(), sample.references]
    systems = [*odd.values(), sample.systems["baseline"]]
    for outputs, references in zip(systems, corpora, strict=True):
        for metric in ("bleu", "chrf", "chrf++", "ter", "wer", "cer", "rouge1", "rougeL"):
            assert not said_of(outputs, references, metric)


def test_marks_count_texts():
    marks = guards.marks_of(["a .", " ", "", "x@@ y", "▁a", "e\u0301", "é"])
    assert marks == guards.Marks(
        n=7, empty=2, spaced=1, pieces=2, decomposed=1, many=5, usual="a ."
    )
