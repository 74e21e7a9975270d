"""The command line: a command is a call, what cannot be is one line; streams, files, progress."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext
from html import unescape
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest
from sacrebleu import utils
from sacrebleu.dataset import DATASETS

import evalstats as es
from evalstats import cli
from evalstats.analysis.settings import SETTINGS
from evalstats.cli import commands, flags, inputs, parser
from evalstats.cli.flags import COMMANDS, OPTIONS, options_of
from evalstats.cli.inputs import Input
from evalstats.cli.output import destination
from evalstats.cli.parser import TOKENIZERS, parsed
from evalstats.logs import joining, pivot
from evalstats.questions import ranking
from evalstats.results import version
from evalstats.text import tokenization
from tests.conftest import SYSTEMS
from tests.helpers import cases, refuses

REFS = ("-r", "ref.A.txt", "ref.B.txt")
INPUT = ("-i", *(f"{name}.txt" for name in SYSTEMS))
TEXTS = " ".join((*REFS, *INPUT))
FEW = ("--resamples", "9")
#: One system, little work.
ONE = ("estimate", *REFS, "-i", "copy.txt", *FEW)
SCORES = """system,segment,metric,score,document
A,1,acc,1,x
A,2,acc,0,x
A,3,acc,1,y
A,4,acc,1,y
B,1,acc,1,x
B,2,acc,1,x
B,3,acc,0,y
B,4,acc,1,y
"""


def table(name):
    """Return the scores of one system."""
    return "".join(f"{line}\n" for line in SCORES.splitlines() if line[0] in ("s", name))


@pytest.fixture(scope="module")
def folder(files):
    rows = [f"{task},{line}" for task in "xy" for line in SCORES.splitlines()[1:]]
    filters = (
        "model,id,task,filter,acc\nm,1,x,none,1\nm,2,x,none,0\nm,1,x,strict,0\nm,2,x,strict,0\n"
    )
    (files / "runs").mkdir()
    for name, text in {
        "scores.csv": SCORES, "a.csv": table("A"), "b.csv": table("B"), "runs/c.csv": table("B"),
        "judge.csv": SCORES.replace("acc", "judge"),
        "own.csv": SCORES.replace("system,segment,metric,score", "who,unit,metric,points"),
        "marks.csv": "system,id,marks\nZ,1,0.5\nZ,2,0\nB,1,0\nB,2,1.5\n",
        "zero.csv": "system,id,acc\nZ,1,0\nZ,2,0\nB,1,1\nB,2,1\n",
        "uneven.csv": "system,id,epoch,acc\nA,1,1,0\nA,1,2,0\nA,2,1,1\nB,1,1,1\nB,2,1,1\n",
        "gap.csv": SCORES.replace("B,4,acc,1", "B,4,acc,"),
        "tasks.csv": "\n".join(["task,system,segment,metric,score,document", *rows]),
        "filters.csv": filters,
        "new.csv": "system,id,acc,f1\nD,1,1,1\nD,2,0,1\n",
        "old.csv": "system,id,acc,f1\nC,1,1,5\nC,2,0,5\n",
        "wmt.sgm": "<tstset trglang=\"cs\">\n<doc>\n<seg id=\"1\">Ja.</seg>\n",
        "empty.txt": "", "short.txt": "one\n", "ids.txt": "\n".join(f"s{i}" for i in range(60)),
        "odd.csv": "system,id,acc\nlr=0.1,1,1\nlr=0.1,2,0\nseed=2,1,1\nseed=2,2,1\n",
        "quoted.csv": "system,id,acc\nmetric='x',1,1\nmetric='x',2,0\nB,1,1\nB,2,1\n",
    }.items():  # fmt: skip
        (files / name).write_text(text, encoding="utf-8")
    (files / "corrupt.gz").write_bytes(b"\x1f\x8b\x08\x00garbage-garbage-garbage")
    (files / "sub").mkdir()
    (files / "sub" / "copy.txt").write_text("one\n", encoding="utf-8")
    es.SegmentStatistics([[[1, 1], [0, 1]]], ["A"], es.Mean("m")).save(files / "x.npz")
    return files


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def ranks(result, **options):
    return result.ranking(**options)


def gate(new, base, **options):
    return es.gate(f"{new}.csv", f"{base}.csv", **options)


def of_tasks(**options):
    """Return the gate of B against A on both tasks; each side is a log of its own."""
    lines = [f"{task},{line}" for task in "xy" for line in SCORES.splitlines()[1:]]
    for name in "AB":
        of_one = [line for line in lines if f",{name}," in line]
        text = "\n".join(["task,system,segment,metric,score,document", *of_one])
        Path(f"{name}.tasks.csv").write_text(text, encoding="utf-8")
    return es.gate("B.tasks.csv", "A.tasks.csv", **options)


def by_domain(small):
    sides = {"baseline": small.systems["baseline"], "new": small.systems["copy"]}
    return es.gate(sides, "baseline", small.references, "wer", strata=small.domains,
                   aggregate="macro", margin=9, **B99)  # fmt: skip


def runs(ask, order=None, **options):
    """Return a call with runs: of A the first two of INPUT, and of B the third, given twice."""

    def call(small):
        texts = [small.systems[name] for name in (*SYSTEMS, SYSTEMS[2])]
        chosen = {"B": order} if order else {"A": (0, 1), "B": (2, 3)}
        systems = {name: [texts[i] for i in places] for name, places in chosen.items()}
        return ask(systems, small.references, "wer", **options)

    return call


def texts(ask, metrics, *labels, **options):
    """Return a call with the texts of `files`, labels by name, and few resamples."""

    def call(small):
        given = {name: getattr(small, name) for name in ("systems", "references")}
        # Those of docs.txt are called after their file, as those of a Series are after its name.
        chosen = {label: pd.Series(getattr(small, of), name="doc") for label, of in labels}
        return ask(given["systems"], given["references"], metrics, **chosen, **options)

    return call


def logs(ask, *given, **options):
    return lambda small: ask(*given, **options)


GROUPS, STRATA = ("groups", "documents"), ("strata", "domains")
LESS = {"n_resamples": 99, "rng": 0, "alternative": "less", "adjustment": "holm",
        "confidence_level": 0.9}  # fmt: skip
PLAN = {"difference": 1, "n_segments": 900, "power": 0.9, "significance_level": 0.01,
        "alternative": "greater", "baseline": "copy"}  # fmt: skip
B99 = {"n_resamples": 99}
CHRF = {"beta": 3, "lowercase": True, "whitespace": True, "eps_smoothing": True}
CONFIGURED = [
    es.BLEU(tokenize="intl", lowercase=True, smooth_method="floor", smooth_value=0.2,
            max_ngram_order=3, effective_order=True),
    es.CHRF(word_order=2, **CHRF), es.CHRF(**CHRF), es.TER(normalized=True, case_sensitive=True),
    es.ROUGE("L", stemmer=True, measure="recall"),
]  # fmt: skip

#: What is typed after the command, and the call that has to give the same.
CALLS = [
    ("compare", f"{TEXTS} -m chrf --resamples 99 --seed 0 "
     "--alternative less --adjustment holm --confidence-level 0.9 --groups docs.txt",
     texts(es.compare, "chrf", GROUPS, **LESS)),
    ("compare", f"{TEXTS} -m wer --adjust max-t --resamples 199 --baseline copy",
     texts(es.compare, "wer", n_resamples=199, baseline="copy")),
    ("compare", f"{TEXTS} -m bleu --recovery 0.9 --method t --resamples 99",
     texts(es.compare, "bleu", recovery=0.9, method="t", **B99)),
    ("compare", f"{TEXTS} -m cer bleu --margin 2 --method t --baseline copy.txt",
     texts(es.compare, ["cer", "bleu"], margin=2, method="t", baseline="copy")),
    ("estimate", f"{TEXTS} -m wer --strata domains.txt --resamples 99 --aggregate macro",
     texts(es.estimate, "wer", STRATA, aggregate="macro", **B99)),
    ("estimate", f"{TEXTS} -m bleu chrf++ chrf ter rougeL -tok intl -lc -s floor -sv 0.2 --max-ngram-order 3 "
     "--effective-order --chrf-beta 3 --chrf-lowercase --chrf-whitespace --chrf-eps-smoothing "
     "--ter-normalized --ter-case-sensitive --rouge-stemmer --rouge-measure recall --resamples 9",
     texts(es.estimate, CONFIGURED, n_resamples=9)),
    ("rank", f"{TEXTS} -m wer --adjustment holm --resamples 99",
     texts(lambda *g, **o: ranks(es.compare(*g, **o)), "wer", adjustment="holm", **B99)),
    ("power", f"{TEXTS} -m wer --difference 1 --segments 900 --power 0.9 --significance-level 0.01 "
     "--alternative greater --baseline copy", texts(es.power, "wer", **PLAN)),
    *[("compare", words, logs(es.compare_logs, *given, **options, **B99))
      for words, given, options in [
        ("a.csv b.csv", ["scores.csv"], {}),
        ("scores.csv --groups document --baseline B", ["scores.csv"],
         {"groups": "document", "baseline": "B"}),
        ("a.csv b.csv --baseline ./b.csv", ["scores.csv"], {"baseline": "B"}),
        ("a.csv runs/c.csv --baseline c.csv", ["scores.csv"], {"baseline": "B"}),
        ("a.csv b.csv --names new old", [{"new": "a.csv", "old": "b.csv"}], {}),
        ("tasks.csv --aggregate macro", ["tasks.csv"], {"aggregate": "macro"}),
        ("tasks.csv --task x", ["tasks.csv"], {"task": ["x"]}),
        ("scores.csv --systems B A", ["scores.csv"], {"system": ["B", "A"]}),
        ("gap.csv --missing available", ["gap.csv"], {"missing": "available"}),
        ("judge.csv --lower-is-better judge", ["judge.csv"], {"directions": {"judge": "lower"}}),
    ]],
    ("estimate", "scores.csv --strata document --aggregate macro",
     logs(es.estimate_logs, "scores.csv", strata="document", aggregate="macro", **B99)),
    *[("estimate", f"filters.csv --task x {words}",
       logs(es.estimate_logs, "filters.csv", metric="acc", filter="none", **B99))
      for words in ("--filter none", "--metric acc,none", "--metric a*,n*")],
    ("rank", "tasks.csv", logs(lambda *g, **o: ranks(es.compare_logs(*g, **o)), "tasks.csv",
                               **B99)),
    ("gate", "b.csv --baseline a.csv --margin 0.9", logs(gate, "b", "a", margin=0.9, **B99)),
    ("gate", "b.csv --baseline a.csv --margin 90%", logs(gate, "b", "a", margin=0.9, **B99)),
    ("gate", "b.csv --baseline a.csv --recovery 9%", logs(gate, "b", "a", recovery=0.09, **B99)),
    ("gate", "b.csv a.csv --baseline a.csv --margin 0.9", logs(gate, "b", "a", margin=0.9, **B99)),
    ("gate", "scores.csv --baseline A --recovery 0.9", logs(gate, "b", "a", recovery=0.9, **B99)),
    ("gate", "scores.csv --systems B --baseline A --margin 0.9",
     logs(gate, "b", "a", margin=0.9, **B99)),
    ("gate", "tasks.csv --systems B --baseline A --margin 0.9 --on total --aggregate micro",
     logs(of_tasks, on="total", aggregate="micro", margin=0.9, **B99)),
    ("gate", "tasks.csv --systems B --baseline A --margin 0.1 --undecided pass",
     logs(of_tasks, undecided="pass", margin=0.1, **B99)),
    ("gate", "tasks.csv --task x --systems B --baseline A --margin 0.9 --strata document",
     logs(of_tasks, task="x", strata="document", margin=0.9, **B99)),
    ("gate", f"{' '.join(REFS)} -i copy.txt --names new --baseline baseline.txt --margin 9 -m wer "
     "--strata domains.txt --aggregate macro --resamples 99", by_domain),
    ("compare", f"{TEXTS} {INPUT[3]} --names A A B B -m wer --method t",
     runs(es.compare, method="t")),
    ("gate", f"{TEXTS} {INPUT[3]} --names A A B B -m wer --baseline A --margin 2",
     runs(lambda systems, *given, **o: es.gate(systems, "A", *given, **o), margin=2)),
    ("estimate", f"{TEXTS} {INPUT[3]} --names A B A B -m wer --systems B --method t",
     runs(es.estimate, order=(1, 3), method="t")),
    ("show", "scores.csv", logs(es.read_log, "scores.csv")),
    ("show", "own.csv --columns who=system unit=segment points=score document=",
     logs(es.read_log, "own.csv", columns={"who": "system", "unit": "segment", "points": "score",
                                           "document": None})),
    ("compare", "own.csv --columns who=system unit=segment --columns points=score",
     logs(es.compare_logs, "own.csv", columns={"who": "system", "unit": "segment",
                                               "points": "score"}, **B99)),
]  # fmt: skip


@pytest.mark.parametrize(
    "command, words, call", CALLS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_command_is_a_call(run_here, small, command, words, call):
    words = [command, *words.split(), "-f", "json"]
    if "logs" in parsed(words) and parsed(words).logs and command not in ("show", "power"):
        words += ["--resamples", "99"]
    code, out, err = run_here(*words)
    expected = call(small)
    assert (code, err) == (getattr(expected, "exit_code", 0), "")
    assert json.loads(out) == json.loads(expected.to_json())


def test_the_choices_are_those_of_the_library():
    known = {
        "method": SETTINGS["method"].words, "alternative": SETTINGS["alternative"].words,
        "aggregate": ("micro", "macro"), "missing": joining.MISSING, "epochs": pivot.EPOCHS,
    }  # fmt: skip
    of_pairs = {"adjustment": SETTINGS["adjustment"].words}
    of_rest = {"adjustment": ranking.FAMILY_WISE}
    found = set()
    for command in COMMANDS:
        choices = {**known, **(of_pairs if command == "compare" else of_rest)}
        for option in (option for some in options_of(command).values() for option in some):
            if option.name in choices:
                assert sorted(option.value.split("|")) == sorted(choices[option.name])
                found.add(option.name)
    assert found == {*known, *of_pairs}


def test_a_question_is_one_entry(typed, monkeypatch):
    """A command that asks a comparison, and a flag that does, with not a line elsewhere."""
    logs, few = ("a.csv", "b.csv", "-f", "json"), ("--resamples", "99")
    expected = es.compare_logs("scores.csv", n_resamples=99)
    asks = flags.Command("which items drive it", "LOG...", ("a.csv", "b.csv"),
                         "logs drawn printed", asks="influence")  # fmt: skip
    monkeypatch.setitem(COMMANDS, "influence", asks)
    assert json.loads(typed("influence", *logs, *few)) == expected.influence().to_dict()
    # A public function of a comparison is asked like a method.
    monkeypatch.setattr(es, "drivers", es.Comparison.influence, raising=False)
    monkeypatch.setitem(COMMANDS, "drivers", asks._replace(asks="drivers"))
    assert json.loads(typed("drivers", *logs, *few)) == expected.influence().to_dict()
    option = flags.Option("--influence", "compare", "which items drive it", "question")
    monkeypatch.setitem(OPTIONS, "test", [*OPTIONS["test"], option])
    for module in (flags, parser):
        monkeypatch.setattr(module, "EVERY", [*flags.EVERY, option])
    assert "--influence" in typed("compare", "--help")
    printed = json.loads(typed("compare", "--influence", *logs, *few))
    assert printed == expected.influence().to_dict()


@pytest.mark.parametrize("name", [name for name in COMMANDS if COMMANDS[name].usage])
def test_a_command_takes_the_options_of_its_examples(name):
    for example in COMMANDS[name].examples:
        assert parsed([name, *shlex.split(example)]).command == name


def test_a_repeated_flag_adds_to_what_came_before(typed):
    expected = typed("estimate", *REFS, *INPUT, "-m", "bleu", "wer", "--names", *"xyz", *FEW)
    parts = [("-r", "ref.A.txt"), ("-i", *INPUT[1:3]), ("--names", "x"), ("-m", "bleu"),
             ("-r", "ref.B.txt"), ("-i", INPUT[3]), ("--names", "y", "z"), ("-m", "wer")]  # fmt: skip
    assert typed("estimate", *(word for part in parts for word in part), *FEW) == expected


def test_the_target_language_chooses_the_tokeniser_or_is_refused(typed, refused):
    one = ("estimate", *REFS, "-i", "copy.txt", "--resamples", "9", "-l")
    for pair, tokenizer in (("en-zh", "zh"), ("en-ZH", "zh"), ("zh-en", "13a"), ("EN-de", "13a")):
        assert f"|tok:{tokenizer}|" in typed(*one, pair, "--verbose")
    for pair in ("zh", "en_zh", "zh-", "en-zh-TW", "", "en zh", "english-chinese"):
        assert "SRC-TRG" in refused(*one, pair)


def test_references_may_stand_beside_one_another(here, typed):
    sides = [Path(name).read_text(encoding="utf-8").splitlines() for name in REFS[1:]]
    rows = "".join(f"{a}\t{b}\r\n" for a, b in zip(*sides, strict=True))
    Path("refs.tsv").write_text(rows, encoding="utf-8", newline="")
    words = ("-i", "copy.txt", "-m", "bleu", "ter", *FEW)
    apart = typed("estimate", *REFS, *words)
    assert typed("estimate", "-r", "refs.tsv", "--num-refs", "2", *words) == apart
    assert "pass --num-refs 2" in typed("estimate", "-r", "refs.tsv", *words)


def test_files_of_statistics_compare_like_the_texts(typed, here):
    for name in SYSTEMS:
        said = typed("extract", *REFS, "-i", f"{name}.txt", "-o", f"{name}.npz")
        assert said == f"{name}.npz has the statistics of BLEU for 60 segments of 1 system.\n"
    saved = [f"{name}.npz" for name in SYSTEMS]
    options = ("--baseline", "baseline", "--groups", "docs.txt", "--resamples", "99")
    expected = typed("compare", *REFS, *INPUT, *options)
    assert typed("compare", *saved, *options) == typed("compare", *options, *saved) == expected
    typed("extract", *REFS, *INPUT, "-m", "chrf", "-cw", "2", "--ids", "ids.txt", "-o", "all.npz")
    table = es.SegmentStatistics.load(here / "all.npz")
    assert (table.metric, table.systems) == (es.CHRF(word_order=2), SYSTEMS)
    assert table.segment_ids[:2] == ("s0", "s1")
    assert "chrF2++" in typed("show", "all.npz", "scores.csv")


@cases(
    ("documents.txt", "6 documents"),
    ("speaker.v2.txt", "6 speakers"),
    ("12.txt", "6 groups"),
    ("en-cs.docs", "6 documents"),
)
def test_groups_of_a_file_are_called_after_it(name, unit, typed, here):
    # Defect: they were "groups", where papers want documents.
    (here / name).write_bytes((here / "docs.txt").read_bytes())
    command = ("compare", *REFS, *INPUT, "--resamples", "99", "--groups", name, "--quiet")
    assert f"60 segments in {unit}" in typed(*command)
    assert f"Whole {unit[2:]} are resampled." in typed(*command, "--describe")


def test_a_file_of_labels_goes_with_scores_whose_order_is_known(typed, here):
    """Defect: "a file of labels goes with texts"."""
    (here / "en-cs.docs").write_text("news\ta\nnews\ta\ntalk\tb\ntalk\tb\n")
    out = typed("compare", "scores.csv", "--groups", "en-cs.docs", "--verbose")
    assert "4 segments in 2 documents" in out
    assert "unit:document|" in out
    assert typed("compare", "scores.csv", "--by", "en-cs.docs", "-f", "csv").count("talk/b") >= 1
    for name in "AB":
        (here / f"bleu.{name}.txt").write_text("1\n2\n3\n4\n")
    out = typed("estimate", "bleu.A.txt", "bleu.B.txt", "--groups", "en-cs.docs")
    assert "score ↑ (higher is better), 4 segments in 2 documents" in out


def test_a_description_is_text_and_other_files_hold_the_result(typed, small):
    words = ("compare", *REFS, *INPUT, "-m", "wer", *FEW)
    names = ("x.json", "x.html", "x.md")
    plain = [f"plain.{name}" for name in names]
    typed(*words, *(w for name in plain for w in ("-o", name)))
    described = typed(*words, "--describe", *(w for name in names for w in ("-o", name)))
    result = es.compare(small.systems, small.references, "wer", n_resamples=9)
    assert described == typed(*words, "--describe") == f"{result.describe()}\n"
    assert [Path(x).read_bytes() for x in names] == [Path(x).read_bytes() for x in plain]
    assert typed(*words, "--describe", "-o", "x.txt", "-o", "x.json") == described
    assert Path("x.txt").read_text(encoding="utf-8") == described


def test_exit_codes_of_gates(run_here):
    asked = ("gate", "new.csv", "--baseline", "old.csv", "--metric", "acc", "--margin", "0.5")
    code, out, _ = run_here(*asked)
    assert (code, "UNDECIDED: D against C" in out, "f1" in out) == (3, True, False)
    assert [run_here(*asked, "--undecided", x)[0] for x in ("pass", "fail")] == [0, 1]
    of_texts = ("gate", *REFS, "--resamples", "99", "-m", "wer", "--recovery", "0.9", "--baseline")
    code, out, _ = run_here(*of_texts, "baseline.txt", "-i", "clearly-better.txt")
    assert code == 0
    assert "\nPASSED: clearly-better against baseline" in out
    assert run_here(*of_texts, "clearly-better.txt", "-i", "baseline.txt")[0] in (1, 3)


#: Words for short in `refused.txt`, which has what cannot be typed, and a part of what is said of it.
SHORT = {
    "FROM": " ".join(REFS), "INPUT": " ".join(INPUT), "ALL": " ".join(INPUT[1:]), "TEXTS": TEXTS,
}  # fmt: skip
TYPED = [
    line.split(" => ")
    for line in Path(__file__).with_name("refused.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


@cases(
    *TYPED,
    ("compare TEXTS --names a 'b\nc' d", "system names must be printable text"),
    (
        "gate TEXTS --systems copy --baseline baseline --margin -1",
        "determines which direction is a loss.\n",
    ),
    ("estimate '--a\nb\x1b[2J\u202e'", "--a\\nb\\x1b[2J\\u202e"),
)
def test_what_cannot_be_is_one_line(words, message, refused):
    words = re.sub(r"\b(FROM|INPUT|ALL|TEXTS)\b", lambda found: SHORT[found[1]], words)
    assert message in refused(*shlex.split(words))


def test_every_help_is_a_screen_that_begins_with_examples(typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert set(TOKENIZERS) >= set(tokenization.tokenizer_names())
    for name in COMMANDS:
        lines = typed(name, "--help").splitlines()
        assert len(lines) <= 50
        for line in lines[lines.index("") + 1 :][: len(COMMANDS[name].examples)]:
            command, *words = shlex.split(line)[1:]
            assert parsed([command, *words]).command == command == name
        everything = typed(name, "--help-all")
        assert all(o.typed in everything for some in options_of(name).values() for o in some)
    assert all(name in typed("compare", "--help") for name in TOKENIZERS)
    assert "--chrf-beta" in typed("compare", "--help-all")
    assert typed() == typed("--help")
    assert all(name in typed() for name in COMMANDS)
    assert typed("--version") == f"evalstats {es.__version__}\n"


def test_the_other_project_of_this_name_is_noticed(tmp_path, monkeypatch, capsys):
    """Both own the folder `evalstats`: who asks for the version, or a name of theirs, is told."""
    with pytest.raises(AttributeError, match=r"no attribute 'evaluate_all'$"):
        es.evaluate_all  # noqa: B018
    folder = tmp_path / "evalstats-0.3.3.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: evalstats\nVersion: 0.3.3\n")
    monkeypatch.syspath_prepend(tmp_path)
    advice = (
        "evalstats 0.3.3, a package of another project, .*'pip uninstall evalstats evalstats-text'"
    )
    with pytest.raises(AttributeError, match=f"no attribute 'evaluate_all'; .*{advice}"):
        es.evaluate_all  # noqa: B018
    assert not hasattr(es, "__wrapped__")
    assert cli.main(["--version"]) == 0
    said = capsys.readouterr()
    assert said.out == f"evalstats {es.__version__}\n"
    assert re.search(advice, said.err)


def test_names_that_look_like_arguments_stay_as_they_are(typed, refused):
    for file, names in (("odd.csv", ["seed=2", "lr=0.1"]), ("quoted.csv", ["B", "metric='x'"])):
        out = typed("estimate", file, "--resamples", "9", "--quiet")
        assert [line.split()[0] for line in out.splitlines()[4:6]] == names
        expected = es.estimate_logs(file, n_resamples=9).to_text(findings=False)
        assert out.splitlines()[:-1] == expected.splitlines()[:-1]
    said = refused("compare", "quoted.csv", "--systems", "test='t'")
    assert "there is no \"test='t'\"; available: metric='x'," in said


def scores_of(first=1, names=SYSTEMS):
    lines = [
        f"{name},{i + first},{7 * i % 10 + j}" for j, name in enumerate(names) for i in range(60)
    ]
    return "\n".join(["system,line,COMET", *lines])


@pytest.fixture
def beside(here, run_here):
    """Put scores beside texts; return what `estimate` prints."""

    def beside(scores, *options):
        (here / "comet.csv").write_text(scores, encoding="utf-8")
        asked = ("-r", "ref.A.txt", "-m", "wer", "--scores", "comet.csv", "--resamples", "9")
        return run_here("estimate", *INPUT, *asked, *options)

    return beside


def test_scores_stand_beside_metrics_of_texts(beside):
    found = json.loads(beside(scores_of(), "-f", "json")[1])["estimates"]
    assert [e["metric"] for e in found] == ["WER"] * 3 + ["COMET"] * 3
    turned = [f"{name}.txt" for name in reversed(SYSTEMS)]
    other = json.loads(beside(scores_of(0, turned), "-f", "json")[1])["estimates"]
    assert [e["score"] for e in other[3:]] == [e["score"] for e in reversed(found[3:])]


@pytest.mark.parametrize("first", [0, 1])
def test_texts_are_restricted_to_the_lines_that_people_scored(here, beside, small, first):
    """Defect: "must be named by the numbers of their lines", which they were."""
    lines = scores_of(first).split("\n")
    part = [line for line in lines if not line.endswith(("3", "4"))]  # of other lines each system
    out = beside("\n".join(part), "--missing", "intersect", "--groups", "docs.txt", "-f", "json")[1]
    found = json.loads(out)
    scored = {tuple(line.split(",")[:2]) for line in part[1:]}
    kept = [i for i in range(60) if all((name, str(i + first)) in scored for name in SYSTEMS)]
    assert 0 < len(kept) < 60
    table = es.extract(small.systems, [one[0] for one in small.references], "wer").select(kept)
    scores = [e["score"] for e in found["estimates"]]
    assert scores[:3] == table.scores.tolist()
    assert scores[3] == sum(7 * i % 10 for i in kept) / len(kept)
    left_out = f"{60 - len(kept)} of 60 lines are left out, because comet.csv has no score"
    assert any(note.startswith(left_out) for note in found["notes"])
    options = ("--missing", "intersect", "-o", "x.html", "--resamples", "9")
    cli.main(["compare", *INPUT, *REFS, "-m", "wer", "--scores", "comet.csv", *options])
    shown = (here / "x.html").read_text(encoding="utf-8")
    there = {i for i, line in enumerate(small.systems["copy"]) if line in shown}
    assert there
    assert there <= set(kept)


def test_scores_of_other_references_do_not_go_with_texts(here, beside):
    lines = (here / "ref.A.txt").read_text(encoding="utf-8").splitlines()
    segments = [{"mt": "-", "ref": f"{line} ", "COMET": i / 60} for i, line in enumerate(lines)]
    for reference, code in ((lines[6], 0), ("another", 2)):
        segments[6]["ref"] = reference
        (here / "comet.json").write_text(json.dumps(dict.fromkeys(SYSTEMS, segments)), "utf-8")
        judge = scores_of().replace("COMET", "judge score")
        found, _, err = beside(judge, "--scores", "comet.json")
        assert found == code
    assert "for different references than the texts: 1 of 60 differ, the first in line 7" in err


def test_scores_that_do_not_fit_texts(beside):
    scores = scores_of()
    fewer = "\n".join(line for line in scores.split("\n") if ",60," not in line)
    for given, message in (
        (scores.replace("copy,", "other,"), "has no scores (COMET) of 'copy', only of"),
        (scores.replace(",60,", ",61,"), "must be the 60 line numbers"),
        (fewer, "of 59 segments but the texts have 60 lines; to use only the lines"),
    ):
        code, _, err = beside(given)
        assert (code, message in err) == (2, True)


def test_the_end_of_a_path_names_a_system_only_where_it_is_that_of_one():
    table = es.SegmentStatistics([[[1, 1]]] * 3, ["A", "B", "C"], es.Mean("m"))
    paths = {"x/a.csv": "A", "y/a.csv": "B", "y/c.csv": "C"}
    given = Input({"": [table]}, {}, paths=paths)
    named = ("A", "x/a.csv", "y/a.csv", "./y/a.csv", "c.csv", "z/c.csv")
    assert [given.system(name) for name in named] == ["A", "A", "B", "B", "C", "C"]
    refuses(r"there is no system 'a\.csv'", given.system, "a.csv")


def test_what_all_file_names_share_is_no_part_of_the_names(here, typed, refused):
    words = ["estimate", *REFS, *FEW, "--quiet", "-i"]
    for name in ("base", "tuned"):
        Path(f"wmt22.en-cs.hyp.{name}.cs").write_bytes(Path("copy.txt").read_bytes())
    files = sorted(map(str, Path().glob("wmt22.*")))
    names = re.findall("^(?:base|tuned|copy|wmt).*?(?= )", typed(*words, *files), re.M)
    assert names == ["base", "tuned"]
    # The whole name is understood, with the suffix and without.
    for name in ("base", files[0], files[0].removesuffix(".cs")):
        shown = typed("compare", *words[1:], *files, "--baseline", name)
        assert re.search(r"^base .*baseline$", shown, re.M)
    # So is it where scores from elsewhere are called after the files.
    rows = [f"{path.removesuffix('.cs')},{i},COMET,0.5" for path in files for i in range(60)]
    Path("comet.csv").write_text("\n".join(["system,segment,metric,score", *rows]))
    assert "COMET" in typed(*words, *files, "--scores", "comet.csv")


@pytest.mark.parametrize("words", ["--baseline cpoy", "--systems cpoy", "--names a b"])
def test_names_are_checked_before_anything_is_counted(refused, monkeypatch, words):
    counted = []
    monkeypatch.setattr(inputs, "extract_files", lambda *_: counted.append(1))
    said = refused("compare", *TEXTS.split(), *words.split())
    assert re.search("there is no (system )?'cpoy'|requires one name for each", said)
    assert not counted


def test_a_name_may_begin_with_a_dash(typed, refused):
    """Ablations are called so."""
    named = typed(
        "compare", *TEXTS.split(), *FEW, "--names", "all", "-drop", "-x y", "--baseline", "-drop"
    )
    assert re.search("^-drop .*baseline$", named, re.M)
    words = ("compare", *TEXTS.split(), *FEW, "--names", "a", "b", "c")
    assert "does not accept --drop" in refused(*words, "--drop")
    assert typed(*words, "-lc") == typed(*words, "--lowercase")


# Streams, files, progress


def test_a_program_and_a_file_name_that_is_not_text():
    """Exit code and one line, also where the terminal cannot show the name."""
    done = subprocess.run(
        [sys.executable, "-m", "evalstats", *ONE[:-4], "-i", b"odd\xff.txt", *FEW],
        capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "cannot read odd" in done.stderr


def full():
    return open("/dev/full", "w", encoding="utf-8")


def left():
    """Return a pipe whose reader has seen enough."""
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", encoding="utf-8")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@cases(
    (["--help"], "stdout", full, 2, "cannot write standard output: No space left on device"),
    (["estimate"], "stdout", nullcontext, 2, "standard output is closed; pass -o FILE"),
    (["compare", "--help-all"], "stdout", left, 141, ""),
    (ONE, "stderr", nullcontext, 0, ""),
    (["estimate"], "stderr", nullcontext, 2, ""),
)
def test_broken_outputs_end_quietly(words, stream, make, code, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["evalstats", *words])
    with make() as made:
        monkeypatch.setattr(sys, stream, made)
        with pytest.raises(SystemExit) as stopped:
            cli.run()
    assert stopped.value.code == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == bool(message)


@pytest.mark.parametrize(
    "error, code", [(ZeroDivisionError("x"), 70), (MemoryError(), 70), (KeyboardInterrupt(), 130)]
)
def test_no_exception_has_the_exit_code_of_a_verdict(monkeypatch, capsys, error, code):
    def broken(options, progress):
        raise error

    monkeypatch.setattr(sys, "argv", ["evalstats", "gate", "a.npz"])
    monkeypatch.setattr(commands, "gate", broken)
    with pytest.raises(SystemExit) as stopped:
        cli.run()
    assert stopped.value.code == code
    name = type(error).__name__
    said = f"{name} is an error in evalstats itself, not a verdict\n"
    assert capsys.readouterr().err.endswith(said if code == 70 else "")


def test_sacrebleus_test_set_from_its_cache(tmp_path, monkeypatch, small, typed, refused):
    """Two test sets where sacreBLEU would have cached them, WMT22 with its texts only."""
    # Nothing may be downloaded in a test.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setattr(utils, "SACREBLEU_DIR", str(tmp_path))
    lines = "\n".join(row[0] for row in small.references) + "\n"
    for name, fields in (
        ("wmt17", ("src", "ref", "docid", "genre", "origlang")),
        ("wmt22", ("src", "ref-A")),
        ("wmt16", ()),
    ):
        monkeypatch.setattr(DATASETS[name], "_outdir", str(tmp_path / name))
        (tmp_path / name).mkdir()
        for field in fields:
            (tmp_path / name / f"{name}.en-de.{field}").write_text(lines, encoding="utf-8")
    asked = ("estimate", "-i", "baseline.txt", *FEW)
    for name in ("wmt17", "wmt22"):
        assert typed(*asked, "-t", name, "-l", "en-de") == typed(*asked, "-r", "ref.A.txt")
    message = "wmt16/en-de is not cached and could not be downloaded"
    assert message in refused(*asked, "-t", "wmt16", "-l", "en-de")


def test_dash_is_standard_input(here, typed, refused, monkeypatch):
    class Input:
        buffer = io.BytesIO((here / "copy.txt").read_bytes())

    asked = ("estimate", *REFS, "-i", "-", *FEW)
    expected = typed(*ONE, "--names", "stdin")
    monkeypatch.setattr(sys, "stdin", Input)
    assert typed(*asked) == expected
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refused(*asked)


def test_a_destination_is_tried_before_the_work(refused):
    """No file of references is there: what is said is about the destination, which came first."""
    for path in ("nowhere/x.txt", "x" * 300 + ".md"):
        assert "cannot write" in refused("compare", "-r", "no.txt", *INPUT, "-o", path)
    assert "cannot write" in refused("extract", "-r", "no.txt", *INPUT, "-o", "nowhere/x.npz")


def test_a_destination_is_no_input(here, refused):
    os.symlink(here / "copy.txt", here / "alias.txt")
    os.link(here / "copy.txt", here / "linked.txt")
    for path in ("copy.txt", "./copy.txt", "ref.B.txt", "docs.txt", "alias.txt", "linked.txt"):
        before = (here / path).read_bytes()
        assert f"-o {path} is the same file as the input" in refused(
            *ONE, "--groups", "docs.txt", "-o", path
        )
        assert (here / path).read_bytes() == before
    # What --human and --baseline name is read as well.
    for words in (
        ("compare", "judge.csv", "--human"),
        ("gate", "b.csv", "--margin", "1", "--baseline"),
    ):
        assert "-o a.csv is the same file as the input a.csv" in refused(
            *words, "a.csv", "-o", "a.csv"
        )


def test_a_destination_changes_only_when_there_is_a_result(here, typed, refused):
    bad = ("estimate", *REFS, "-i", "nothing.txt", "-o")
    refused(*bad, "new.txt")
    assert not (here / "new.txt").exists()
    (here / "old.txt").write_text("precious", encoding="utf-8")
    refused(*bad, "old.txt")
    assert (here / "old.txt").read_text(encoding="utf-8") == "precious"
    expected = typed(*ONE, "-o", "-", "--verbose")
    assert typed(*ONE, "-o", "old.txt", "--verbose") == expected
    assert (here / "old.txt").read_text(encoding="utf-8") == expected


def test_a_result_goes_to_several_places_and_a_gate_to_the_console_too(here, typed, run_here):
    """Defect: a CI job had to run its gate twice to have a log, a JUnit file and a summary."""
    asked = ("estimate", *REFS, "-i", "copy.txt", "-m", "wer", "bleu", *FEW)
    assert typed(*asked, "-o", "a.md", "-o", "a.csv") == typed(*asked)
    assert typed(*asked, "-o", "-", "-o", "b.md") == typed(*asked)
    for name, form in (("a.md", "markdown"), ("a.csv", "csv"), ("b.md", "markdown")):
        assert (here / name).read_text(encoding="utf-8") == typed(*asked, "-f", form)
    gate = ("gate", *REFS, "-i", "copy.txt", "--baseline", "clearly-better.txt", "--margin", "1",
            "-m", "wer", *FEW)  # fmt: skip
    code, table, _ = run_here(*gate)
    assert (code, ("\nUNDECIDED: copy against clearly-better" in table)) == (3, True)
    assert run_here(*gate, "-o", "gate.xml", "-o", "gate.md", "--digits", "3")[0] == code
    junit = (here / "gate.xml").read_text(encoding="utf-8")
    assert run_here(*gate, "-f", "junit")[1] == junit
    assert run_here(*gate, "-o", "gate.xml") == (code, table, "")
    assert run_here(*gate, "-f", "junit", "-o", "-") == (code, junit, "")
    # No file stays if one of them cannot be made; that of a gate says so.
    assert run_here(*asked, "-o", "none.md", "-o", "nowhere/x.md")[0] == 2
    assert not (here / "none.md").exists()
    assert run_here(*gate, "-o", "none.xml", "-o", "nowhere/x.md")[0] == 2
    assert "NO VERDICT: bad input: cannot write" in (here / "none.xml").read_text("utf-8")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_a_pipe_is_opened_once_when_there_is_a_result(here):
    """A reader sees that a writer has come and gone."""
    select = pytest.importorskip("select")
    os.mkfifo(here / "pipe")
    reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        seen = select.poll()
        seen.register(reader)
        with destination(str(here / "pipe")) as write:
            assert seen.poll(0) == []
            write("text")
        assert os.read(reader, 99) == b"text\n"
    finally:
        os.close(reader)


def test_options_of_latex_are_those_of_its_file(typed, here):
    typed(*ONE, "-o", "table.tex", "--caption", "Ours & theirs", "--label", "tab:ours")
    written = (here / "table.tex").read_text(encoding="utf-8")
    assert r"\caption{Ours \& theirs}" in written
    assert r"\label{tab:ours}" in written


def test_a_figure_is_written_by_its_suffix(typed, here):
    pytest.importorskip("matplotlib")
    for suffix, start, metrics, command in (
        ("svg", b"<?xml", ["wer", "bleu"], "compare"),
        ("png", b"\x89PNG", ["wer"], "rank"),
    ):
        typed(command, *REFS, *INPUT, "-m", *metrics, "-o", f"figure.{suffix}", *FEW)
        assert (here / f"figure.{suffix}").read_bytes().startswith(start)


def test_progress_shows_on_a_terminal_when_the_work_is_long(here, monkeypatch):
    estimate = commands.estimate

    def half_done(options, progress):
        progress(1, 2, "resampling")
        return estimate(options, progress)

    monkeypatch.setattr(commands, "estimate", half_done)
    for terminal, quiet, shown in ((True, 0, True), (True, 60, False), (False, 0, False)):
        stream = io.StringIO()
        stream.isatty = lambda terminal=terminal: terminal
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr("evalstats.cli.output._QUIET_SECONDS", quiet)
        assert cli.main([*ONE, "-q", "-o", "progress.txt"]) == 0
        text = stream.getvalue()
        assert ("\rresampling 50%" in text) == shown
        assert text == "" or text.endswith(" \r")


def test_without_metadata_the_version_says_so(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    known = tokenization.sacrebleu_version()
    monkeypatch.setattr(metadata, "version", absent)
    assert version.version.__wrapped__() == f"{version.VERSION}+uninstalled"
    assert tokenization.sacrebleu_version.__wrapped__() == known


def test_pages_show_outputs_as_they_are(tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    code = 'print("row", end="x") # plot(), metric="bleu"'
    for name, rest in (("old", "a b c"), ("new", "a b d"), ("ref", "a b d")):
        text = "".join(f"{rest} {i} {code}\n" for i in range(12))
        Path(f"{name}.txt").write_text(text, encoding="utf-8")
    typed(*shlex.split("compare -i old.txt new.txt -r ref.txt -m chrf -o x.html"))
    shown = Path("x.html").read_text(encoding="utf-8")
    assert unescape(re.sub(r"<[^>]*>", "", shown)).count(code) >= 12


def test_pages_say_flags_in_their_text_and_keep_their_tags(here, typed):
    """Attributes are written as arguments are, ``lang="en"``, and no flag takes their place."""
    typed(*shlex.split(f"compare {TEXTS} -m bleu chrf --baseline baseline -o x.html"))
    page = (here / "x.html").read_text(encoding="utf-8")
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert "to_text(verbose=True)" not in page
    tags = re.sub(r"(?s)<(style|script)>.*?</\1>", "", page)
    assert not re.search(r"<[^>]* --[a-z]", tags)


#: A call of every command that has -o and -q; what it prints of its own is not compared.
EVERY_COMMAND = {
    "compare": ("-r ref.A.txt -i baseline.txt copy.txt", "wer"),
    "estimate": ("-r ref.A.txt -i copy.txt", "wer"),
    "rank": ("-r ref.A.txt -i baseline.txt copy.txt", "wer"),
    "power": ("-r ref.A.txt -i baseline.txt clearly-better.txt", "wer"),
    "gate": ("-r ref.A.txt -i copy.txt --baseline baseline.txt --margin 9", "wer"),
    "plan": ("-r ref.A.txt -i baseline.txt clearly-better.txt --items 30", "wer"),
    "cases": ("uneven.csv --baseline A", ""),
    "meta": (
        "-r ref.A.txt -i baseline.txt copy.txt clearly-better.txt --scores people.csv --higher-is-better human",
        "wer bleu",
    ),
    "show": ("scores.csv", ""),
    "demo": ("", ""),
    "extract": ("-r ref.A.txt -i copy.txt", "wer"),
}


def test_every_command_that_prints_has_both_options():
    assert {"guide", *EVERY_COMMAND} == set(COMMANDS)


@pytest.mark.usefixtures("short_demo")
@pytest.mark.parametrize("command", EVERY_COMMAND)
def test_quiet_and_output_mean_the_same_for_all_commands(command, here, run_here):
    """-o writes what is printed as well; -q prints neither sentences nor what -o writes."""
    people = [f"{name},{i},{i % 7 + j}" for j, name in enumerate(SYSTEMS) for i in range(60)]
    (here / "people.csv").write_text("\n".join(["system,segment,human", *people]), "utf-8")
    words, metric = EVERY_COMMAND[command]
    asked = [command, *words.split(), *(["-m", *metric.split()] if metric else [])]
    file = "found.npz" if command == "extract" else "found.json"
    code, printed, errors = run_here(*asked, "-o", file)
    assert code in (0, 1, 3), errors
    assert run_here(*asked, "-q", "-o", file) == (code, "", "")
    assert (here / file).exists()
    if command != "extract":
        assert run_here(*asked)[1] == printed != ""
        quiet = run_here(*asked, "--quiet")[1]
        assert quiet.splitlines()[0] in printed
