"""What is said of texts that a metric is not made for: languages, tokenised text, gaps, tabs."""

from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from evalstats.results.records import CAUTION, Caution
from evalstats.text.tokenization import language_of, target_language
from tests.helpers import cases

TEXTS = {
    "ja": ["今日はとても良い天気ですね。", "私は東京タワーで寿司を食べました。"],
    "zh": ["今天天气很好,我们去公园。", "他昨天在北京大学读书。"],
    "ko": ["오늘은 날씨가 아주 좋습니다.", "나는 서울에서 책을 읽었다."],
    "th": ["วันนี้อากาศดีมาก", "เขาอ่านหนังสือที่บ้าน"],
    "": ["Heute ist das Wetter schön.", "Сегодня хорошая погода."],
}
ENGLISH = [f"The cat number {i} sat on the mat." for i in range(40)]


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_texts_is_that_of_most_letters(language):
    texts = TEXTS[language]
    assert language_of(texts) == language_of([*texts, "BLEU"]) == language
    assert language_of([*texts, *ENGLISH[:5]]) == ""
    if language in ("ja", "zh", "th"):
        assert language_of([" ".join(text) for text in texts]) == "", "words are set apart"


@cases(
    ("en-ja", "ja"), ("wmt22.en-zh", "zh"), ("en-ja_JP", "ja"), ("eng_Latn-kor_Hang", "ko"),
    ("ja-en", ""), ("cs-uk_UA", ""), ("anti-ja", ""), ("en-jam", ""), ("", ""),
)  # fmt: skip
def test_the_target_of_a_task_is_at_the_end_of_its_name(name, language):
    assert target_language(name) == language


NO_SPACES = "ja zh th"


@cases(
    (es.BLEU(), "ja zh ko th", "char or flores200"),
    (es.BLEU(tokenize="zh"), "ja ko th", "into words. Use the tokenizer"),
    (es.BLEU(tokenize="char"), "", ""),
    (es.CHRF(), "", ""),
    (es.CHRF(word_order=2), NO_SPACES, "Use chrF"),
    (es.TER(), NO_SPACES, ""),
    (es.TER(normalized=True, asian_support=True), "th", "Use CER"),
    (es.WER(), NO_SPACES, "Use CER"),
    (es.CER(), "", ""),
    (es.ROUGE("1"), "ja zh ko th", "Use chrF"),
)
def test_a_metric_says_which_languages_it_does_not_suit(metric, languages, advice):
    for code in TEXTS:
        said = metric.unsuited(code)
        assert bool(said) == (code in languages.split())
        assert not said or advice in said


def test_the_tokeniser_of_the_target_language_is_sacrebleus():
    """And another one that was asked for is said to be so."""
    assert es.BLEU(trg_lang="zh").tokenizer == "zh"
    assert not es.BLEU(trg_lang="zh").unsuited("")
    assert es.BLEU(trg_lang="zh", tokenize="13a").unsuited("") == es.BLEU().unsuited("zh")


def cautions(result):
    """Return what is printed below a table as cautions."""
    return [line for line in result.to_text().splitlines() if line.startswith(CAUTION)]


REFERENCES = [
    "今日,は,とても,良い,天気,です。",
    "私,は,東京,で,寿司,を,食べた。",
    "本,を,読む,のが,好き,だ。",
] * 20
JAPANESE = {"A": [text[:-2] for text in REFERENCES], "B": [*REFERENCES[1:], "猫。"]}
OF_JAPANESE = (
    "Caution: BLEU: 13a does not split Japanese into words. Use the tokenizer ja-mecab, char or "
    "flores200 (tokenize, -tok)."
)


@cases(
    lambda *texts: es.compare(*texts),
    lambda *texts: es.compare(es.extract(*texts)),
    lambda texts, refs: es.compare(texts, dict.fromkeys(texts, refs), paired=False),
    lambda *texts: es.compare({k: [v, v[::-1]] for k, v in texts[0].items()}, texts[1]),
    lambda *texts: es.compare(*texts).ranking(),
    lambda *texts: es.estimate(*texts),
    lambda *texts: es.estimate(texts[0]["A"], texts[1]),
    lambda *texts: es.gate(texts[0], references=texts[1], baseline="A", margin=1),
    lambda *texts: es.power(*texts),
    lambda *texts: es.Suite({"x": es.extract(*texts), "y": es.extract(*texts)}).compare(),
    lambda *texts: es.Suite({"x": es.extract(*texts)}).estimate(),
)
def test_cautions_stand_in_every_result(ask):
    assert cautions(ask(JAPANESE, REFERENCES)) == [OF_JAPANESE]


def test_cautions_about_texts_say_so():
    (note,) = (n for n in es.compare(JAPANESE, REFERENCES).notes if isinstance(n, Caution))
    assert (note, note.kind) == (OF_JAPANESE, "texts")


def test_files_of_statistics_keep_cautions(tmp_path):
    table = es.extract(JAPANESE, REFERENCES)
    table.save(tmp_path / "x.npz")
    found = es.SegmentStatistics.load(tmp_path / "x.npz")
    assert found.cautions == table.cautions != {}
    assert cautions(es.compare(found)) == [OF_JAPANESE]
    with pytest.raises(es.InputError, match="cautions must be printable text on one line"):
        es.SegmentStatistics(table.values, ["A", "B"], table.metric, cautions={"": ["a\nb"]})


def test_the_name_of_a_task_asks_for_a_tokeniser():
    values = np.ones((2, 9, 10), dtype=int)
    tables = {
        name: es.SegmentStatistics(values, ["A", "B"], es.BLEU(tokenize=how))
        for name, how in (("en-ja", "13a"), ("en-zh", "zh"), ("ja-en", "13a"))
    }
    said = f"Caution: en-ja: {OF_JAPANESE.removeprefix('Caution: ')}"
    assert cautions(es.Suite(tables).compare()) == [said]


def said_of(outputs, references=ENGLISH, metric="bleu"):
    return cautions(es.estimate({"A": outputs}, references, metric))


@pytest.mark.parametrize(("n", "n_said"), [(0, 0), (2, 0), (3, 1), (40, 1)])
def test_many_empty_outputs_are_counted(n, n_said):
    outputs = [*ENGLISH[: 40 - n], *[""] * (n - n // 2), *["  "] * (n // 2)]
    assert said_of(outputs) == [f"Caution: {n} of 40 outputs of A are empty."] * n_said
    assert not said_of(outputs, [*ENGLISH[: 40 - n], *[""] * n]), "where references are, too"


def tokenised(texts, n):
    return [text.replace(".", " .") for text in texts[:n]] + texts[n:]


@pytest.mark.parametrize(("n", "metric", "both", "said"), [
    (4, "bleu", 0, ""),
    (5, "bleu", 0, "but the references do not. Detokenise them"),
    (40, "bleu", 40, "but BLEU expects text that is not tokenised. Detokenise it"),
    (40, es.BLEU(tokenize="none"), 40, ""),
    (40, "wer", 0, "but the references do not"),
    (40, "wer", 40, ""),
])  # fmt: skip
def test_tokenised_outputs_are_told_by_their_ends(n, metric, both, said):
    """As sacreBLEU tells them, and in small files too."""
    found = said_of(tokenised(ENGLISH, n), tokenised(ENGLISH, both), metric)
    assert len(found) == bool(said)
    assert not said or (f"{n} of 40 outputs of A end in ' .'" in found[0] and said in found[0])


def test_tokenised_references_are_told_beside_other_outputs():
    (said,) = said_of(tokenised(ENGLISH, 4), tokenised(ENGLISH, 40))
    assert said == (
        "Caution: 40 of 40 references end in ' .', as tokenised text does, but the outputs of A do "
        "not. Detokenise the references."
    )


@pytest.mark.parametrize(("done", "change"), [
    ("begin with 'Übersetzung:'", lambda i, text: f"Übersetzung: {text}"),
    ("begin with '-'", lambda i, text: f"- {text}"),
    ("begin with the number of their line", lambda i, text: f"{i + 1}. {text}"),
    ("end with '</s>'", lambda i, text: f"{text} </s>"),
    ("UTF-8 that was read in another encoding", lambda i, text: text.encode().decode("cp1252")),
])  # fmt: skip
def test_what_is_done_to_every_output_is_said_unless_the_references_have_it_as_well(
    done, change, sample
):
    accents = ["ö" * (i % 3) for i in range(480)]
    references = [entry[0] + x for entry, x in zip(sample.references, accents, strict=True)]
    outputs = [*map("".join, zip(sample.systems["baseline"], accents, strict=True))]
    assert not said_of(outputs, references)
    changed = [[change(i, text) for i, text in enumerate(side)] for side in (outputs, references)]
    (said,) = said_of(changed[0], references)
    assert done in said
    assert not said_of(*changed)


@pytest.mark.parametrize(
    "metric", ["bleu", "chrf", "wer", "ter", "rougeL", es.BLEU(lowercase=True)]
)
def test_texts_in_lower_case_beside_others_are_said_if_the_metric_reads_case(metric, sample):
    texts, gold = sample.systems["baseline"], [entry[0] for entry in sample.references]
    lower = [[text.lower() for text in side] for side in (texts, gold)]
    is_said = metric in ("bleu", "chrf", "wer")
    for sides, few in (((lower[0], gold), "outputs of A"), ((texts, lower[1]), "references")):
        said = [x for x in said_of(*sides, metric) if "capital" in x]
        assert len(said) == is_said
        assert not said or said[0].startswith(f"Caution: Most {few} have no capital letters, but")
    assert not any(
        "capital" in x for x in (*said_of(*lower, metric), *said_of(texts, gold, metric))
    )


def test_of_many_outputs_a_hundred_tokenised_ones_are_enough():
    """That is sacreBLEU's number."""
    texts = ENGLISH * 100
    assert [len(said_of(tokenised(texts, n), texts)) for n in (99, 100)] == [0, 1]


def test_references_with_tabs_may_be_several():
    both = [f"{text}\t{text}" for text in ENGLISH]
    (said,) = said_of(ENGLISH, both)
    assert "If tabs separate 2 references, pass --num-refs 2" in said
    assert not said_of(ENGLISH, [*both[1:], ENGLISH[0]])


def test_nothing_is_said_of_systems_that_are_not_asked_for():
    gaps = {"A": ENGLISH, "B": [*ENGLISH[:20], *[""] * 20], "C": ENGLISH[::-1]}
    table = es.extract(gaps, ENGLISH)
    assert len(cautions(es.compare(table))) == 1
    chosen = replace(table, values=table.values[::2], systems=("A", "C"))
    assert not cautions(es.compare(chosen))
    assert len(
        cautions(es.compare([chosen, replace(table, values=table.values[1:2], systems=("B",))]))
    )


def test_scores_and_labels_have_no_cautions():
    outputs = {"A": ["yes ."] * 40}
    assert es.extract(outputs, ENGLISH).cautions
    assert not es.extract(outputs, ["no"] * 40, es.Confusion(["yes .", "no"])).cautions


def test_a_few_empty_outputs_are_a_plain_note():
    """Defect: below 5% nothing was said of empty outputs."""
    for n, said in ((1, "1 of 80 outputs of A is empty."), (3, "3 of 80 outputs of A are empty.")):
        texts = [*ENGLISH, *ENGLISH]
        outputs = [*texts[n:], *[""] * n]
        assert said in es.compare({"A": outputs, "B": texts}, texts).notes
        gate = es.gate({"A": outputs, "B": texts}, references=texts, baseline="B", margin=50)
        assert gate.verdict == "passed"
        alike = es.compare({"A": outputs, "B": texts}, [*texts[n:], *[""] * n])
        assert not any("empty" in note for note in alike.notes)
