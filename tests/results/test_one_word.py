"""One word for a unit: all that is said of a result calls it what the user's data call it."""

import re

import pytest

import evalstats as es
from evalstats.data import load_sample

#: Words for units, and for what tasks are called.
UNITS = [
    "segment", "item", "question", "sample", "document", "scenario", "prompt", "group", "battle",
    "unit",
]  # fmt: skip
PARTS = ["task", "benchmark", "domain", "stratum"]
NUMBERS = [(i, (7 * i) % 5 > 0, (3 * i) % 7 > 0, f"{'ab'[i % 2]}", f"d{i // 4}") for i in range(60)]


def tables(folder, header, of_row):
    """Write the scores of two systems, a row an answer, into a file each."""
    paths = []
    for s, name in enumerate("xy"):
        rows = [f"{of_row(row)},{int(row[1 + s])}" for row in NUMBERS]
        paths.append(folder / f"{name}.csv")
        paths[-1].write_text("\n".join([f"{header},correct", *rows]))
    return paths


class Labels(list):
    name = "document"


def of_texts(folder):
    sample = load_sample()
    two = {name: sample.systems[name][:60] for name in ("baseline", "slightly-better")}
    return es.compare(two, sample.references[:60], ["bleu", "chrf"], margin=1.0), two, "segment"


def of_groups(folder):
    sample, labels = load_sample(), Labels(f"d{i // 4}" for i in range(60))
    two = {name: sample.systems[name][:60] for name in ("baseline", "slightly-better")}
    references = sample.references[:60]
    return es.compare(two, references, "chrf", groups=labels), two, "document segment"


def of_a_log(folder):
    paths = tables(folder, "question_id", lambda row: row[0])
    return es.compare_logs(paths), paths, "question"


def of_groups_of_a_log(folder):
    paths = tables(folder, "question_id,document", lambda row: f"{row[0]},{row[4]}")
    return es.compare_logs(paths, groups="document"), paths, "document question"


def of_tasks(folder):
    paths = tables(folder, "question,benchmark", lambda row: f"{row[0]},{row[3]}")
    return es.compare_logs(paths), paths, "question benchmark"


def of_domains(folder):
    paths = tables(folder, "question,domain", lambda row: f"{row[0]},{row[3]}")
    return es.compare_logs(paths, by="domain"), paths, "question domain"


def of_trials(folder):
    lists = {"x": [[1, 0, 1], [1, 1, 1]] * 9, "y": [[1, 1, 1], [0, 1, 1]] * 9}
    return es.compare(lists, metrics=es.PassAll(2)), lists, "item"


CASES = [of_texts, of_groups, of_a_log, of_groups_of_a_log, of_tasks, of_domains, of_trials]


def shown(html):
    """Return the text of a page."""
    html = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", html)


def forms(result, folder):
    yield "text", result.to_text(verbose=True)
    yield "markdown", result.to_markdown()
    yield "latex", result.to_latex()
    yield "html", shown(result.to_html())
    result.report(folder / "report.html")
    yield "report", shown((folder / "report.html").read_text(encoding="utf-8"))
    if hasattr(result, "to_junit"):
        yield "junit", result.to_junit()
    if isinstance(result, es.Comparison | es.Estimates | es.Estimate):
        yield "method", result.describe()


def others(text, words):
    """Return the words for units and tasks in a text, but for those of the user.

    A signature has the number of strata, and says what a macro average is.
    """
    text = re.sub(r"\b(strata:\d+|unit:)", "", text.casefold())
    plurals = {"stratum": "strata"}
    return [
        word
        for word in (*UNITS, *PARTS)
        if word not in words and re.search(rf"\b({word}|{plurals.get(word, f'{word}s')})\b", text)
    ]


def results(made, folder):
    """Yield the comparison, and what is asked of the same data."""
    result, data, words = made(folder)
    yield "comparison", result, words
    yield "scores", result.estimates, words
    if made in (of_texts, of_groups, of_a_log, of_tasks, of_trials):
        yield "power", result.power(), words
        yield "ranking", result.ranking(), words
    if made is of_texts:
        new, base = data["slightly-better"], data["baseline"]
        references = load_sample().references[:60]
        yield "gate", es.gate(new, base, references, "bleu", margin=0.5), words
        test = es.SequentialTest(of=100, metric="bleu", margin=0.5)
        test.look(new, base, references)
        yield "looks", test.result, words
    if made in (of_a_log, of_groups_of_a_log, of_tasks):
        of = {"groups": "document"} if made is of_groups_of_a_log else {}
        yield "gate", es.gate(data[1], data[0], margin=0.05, **of), words
        yield "score gate", es.gate(data[1], at_least=0.5, **of), words
    if made is of_trials:
        yield "cases", result.cases(), words


@pytest.mark.parametrize("made", CASES)
def test_no_second_word_for_a_unit_or_a_task(made, tmp_path):
    found = []
    for name, result, words in results(made, tmp_path):
        for form, text in forms(result, tmp_path):
            # A check that has passed says nothing of its units.
            assert form == "junit" or words.split()[0] in text.casefold(), (name, form)
            if wrong := others(text, words.split()):
                lines = [line for line in text.splitlines() if others(line, words.split())]
                found.append((name, form, wrong, lines[:4]))
    assert found == []


def test_a_total_is_called_after_its_parts_and_found_by_what_it_is(tmp_path):
    result, _, _ = of_tasks(tmp_path)
    (total,) = result.totals
    assert (total.task, total.aggregate) == ("both benchmarks", "macro")
    assert result["macro", "y"] is result["both benchmarks", "y"] is total
    said = 'The row "both benchmarks" is the mean of the benchmark scores (macro average).'
    assert said in result.to_text(verbose=True)


@pytest.mark.parametrize(
    "column, word",
    {
        "question_id": "question", "Seg ID": "segment", "questionId": "question", "id": "item",
        "tweet": "tweet", "uid": "item", "Unnamed: 0": "item", "idx": "item", "lineno": "line", "taskname": "task", "lp": "language pair",
    }.items(),
)  # fmt: skip
def test_a_column_says_what_it_names(column, word):
    from evalstats.logs.rows import noun

    assert noun(column) == word
