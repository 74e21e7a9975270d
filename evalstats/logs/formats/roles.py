"""The roles of the columns of a table: by their names, or as the caller gives them.

A column of systems, segments, metrics, tasks, answers or scores has a role; others are labels of
items, texts, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evalstats.checks import meant, plain
from evalstats.errors import Argument, InputError
from evalstats.logs.rows import named_choices
from evalstats.statistics.guards import may_be_of_wholes

#: Names of columns, letters and digits only, by role: alternatives, preferred first.
_ROLES: dict[str, tuple[str, ...]] = {
    "system": (
        "system systemname systemid sys model modelname modelid",
        "agent agentname agentid",
        "name",
    ),
    "segment": (
        "segment segmentid seg segid sid segmentnumber segmentno",
        "itemid itemno sampleid questionid questionno qid instanceid exampleid sentenceid sentid "
        "sentenceno sentno sentencenumber utteranceid uttid promptid problemid testid testname "
        "testcase",
        "id key line lineid lineno linenumber index row rowid",
        # For agents, a task is an item; with another column of items, it is a benchmark.
        "taskid scenarioid caseid scenario case",
        # These may also contain texts.
        "item sample question instance example sentence utterance utt prompt problem",
        "paragraph paragraphid",
        "document documentid doc docid",
    ),
    "score": ("score value",),
    "numerator": ("numerator num sum correct hits errors edits",),
    "denominator": ("denominator denom count total length words tokens",),
    "metric": ("metric metricname scorer measure",),
    "task": ("task taskname benchmark testset dataset", "lp langpair languagepair"),
    "filter": ("filter",),
    # Numbers of an answer to one item, and of a run of the system.
    "epoch": ("epoch", "trial trialid attempt", "repeat repetition"),
    "run": ("run runid", "seed rngseed randomseed"),
}
_OF_SCORES = ("score", "numerator", "denominator")
#: The role of a column that is named after a system and contains its scores.
SYSTEM_SCORE = "system_score"
#: The roles of columns of battles.
OF_BATTLES = ("model_a", "model_b", "winner")
#: Roles that at most one column can have.
_ALONE = {*_ROLES, *OF_BATTLES} - {"score"}
#: Roles that a caller can give.
NAMED_ROLES = (*_ROLES, SYSTEM_SCORE, "label", *OF_BATTLES)
#: Labels of groups of items, in the order in which they are tried to distinguish items.
GROUPS = (
    "document documentid documentname doc docid docname passage passageid dialogue dialogueid "
    "dialog dialogid conversation conversationid conv convid chat chatid thread threadid session "
    "sessionid article articleid story storyid page pageid call callid meeting meetingid "
    "interview interviewid group groupid cluster clusterid speaker speakerid domain genre "
    "category subject topic "
    "template language lang split"
)
#: Names of columns of an agent's tasks, which are items if no other column names any.
AGENT_TASKS = ("task", "taskname")
#: Texts of items, only used to check that items are the same.
_HASHED = ("source", "src", "reference", "ref", "question")
#: Names of columns without scores, and of columns with only scores.
KNOWN = {word for lines in _ROLES.values() for line in lines for word in line.split()}
KNOWN |= {*GROUPS.split(), *_HASHED}


class Roles(NamedTuple):
    """The roles of columns; None, or empty, if there is no such column.

    `score` and `ratio` are columns of scores, ``{"score": ("value",)}``, ``{"errors/words":
    ("errors", "words")}``, and `named` the columns of scores that the caller names, which
    `are_systems` or metrics. `labels` are groups of items, and `hashed` texts of items. `unused`
    columns match a role that another column has; `others` match none.
    """

    system: str | None
    segment: str | None
    metric: str | None
    task: str | None
    filter: str | None
    epoch: str | None
    run: str | None
    score: Mapping[str, tuple[str, ...]]
    ratio: Mapping[str, tuple[str, ...]]
    named: Mapping[str, tuple[str, ...]]
    are_systems: bool
    labels: tuple[str, ...]
    hashed: tuple[str, ...]
    others: tuple[str, ...]
    unused: tuple[str, ...]


def roles_of(
    path: str, names: Iterable[str], labels: Sequence[str], named: Mapping[str, str | None]
) -> Roles:
    """Return the role of each column of a table.

    Roles come from `named`, such as ``{"mine": "score"}``, or else from the names of columns. The
    columns in `labels` are labels, unless they have another role.
    """
    names = list(names)
    check_named(path, names, named)
    # The names to go by: {"Seg ID": "segid"}.
    simple = {name: plain(name) for name in names if name not in named}
    wanted = {plain(name) for name in labels}
    columns, unused = _columns_by_role(path, simple, named)
    for role in ("epoch", "run"):
        # A column of runs or seeds is a label if requested as a label.
        if simple.get(columns[role] or "", "epoch") in wanted - {"epoch"}:
            columns[role] = None
    if columns["epoch"] is not None and columns["run"] is not None:
        # One of the two numbers the answers: the caller's choice, or epochs.
        lost = "epoch" if columns["run"] in named else "run"
        unused.append(str(columns[lost]))
        columns[lost] = None
    taken = [*named, *(column for column in columns.values() if column is not None)]
    like_labels = [
        *(name for name in simple if simple[name] in wanted),
        *(name for word in GROUPS.split() for name in simple if simple[name] == word),
        *(name for name in simple if may_be_of_wholes(name)),
        *(name for name in simple if simple[name].endswith("hash")),
    ]
    grouped = [name for name, role in named.items() if role == "label"]
    grouped += without(like_labels, taken)
    taken += grouped
    hashed = without((name for name in simple if simple[name] in _HASHED), taken)
    taken += hashed
    passed_over = without(unused, taken)
    score, *sums = (columns.pop(role) for role in _OF_SCORES)
    # A single one of the two numbers may be anything.
    ratio = {"/".join(map(str, sums)): tuple(map(str, sums))} if None not in sums else {}
    scores = {name: (name,) for name, role in named.items() if role in ("score", SYSTEM_SCORE)}
    return Roles(
        **columns,
        score={} if score is None else {"score": (score,)},
        ratio=ratio,
        named=ratio if "numerator" in named.values() else scores,
        are_systems=SYSTEM_SCORE in named.values(),
        labels=tuple(grouped),
        hashed=hashed,
        others=without(names, [*taken, *passed_over]),
        unused=passed_over,
    )


def without(names: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """Return different names in order, without taken ones: "bab" without "a" is ("b",)."""
    apart = set(taken)
    return tuple(dict.fromkeys(name for name in names if name not in apart))


def as_columns(columns: object) -> dict[str, str | None]:
    """Return a caller's roles of columns: ``{"mine": "score", "epoch": None}``."""
    what = "columns to their roles, such as {'mine': 'score'}"
    for name, role in columns.items() if isinstance(columns, Mapping) else ():
        if name in NAMED_ROLES and role not in (*NAMED_ROLES, None):
            right = Argument("columns", {role: name})
            raise InputError(
                "columns must map a column to its role, not the role to the column; pass ", right
            )
    roles: dict[str, str | None] = named_choices(columns, "columns", what, (*NAMED_ROLES, None))
    return roles


def check_named(path: str, names: Sequence[str], named: Mapping[str, str | None]) -> None:
    """Raise if the columns that a caller names are missing, or contradict each other."""
    roles = [role for role in named.values() if role is not None]
    kinds = [kind for kind in ("score", "numerator", SYSTEM_SCORE) if kind in roles]
    gone = [name for name in named if name not in names]
    columns = {role: [name for name in named if named[name] == role] for role in roles}
    twice = [role for role in columns if role in _ALONE and len(columns[role]) > 1]
    if gone:
        wrong = f": {path} has no column {gone[0]!r}; {meant(gone[0], names)}"
    elif twice:
        several = ", ".join(map(repr, columns[twice[0]]))
        wrong = f": only one column can be the {twice[0]}, got {several}"
    elif {"epoch", "run"} <= set(roles):
        wrong = ": only one column can number the answers, either 'epoch' or 'run', got both"
    elif ("numerator" in roles) != ("denominator" in roles):
        wrong = (
            "must name either both a numerator and a denominator (the score is their ratio) or "
            "neither"
        )
    elif len(kinds) > 1:
        wrong = (
            f": all columns of scores must have the same role, got {kinds[0]!r} and {kinds[1]!r}"
        )
    elif SYSTEM_SCORE in roles and "system" in roles:
        wrong = f": if columns are systems ({SYSTEM_SCORE!r}), no column can have the role 'system'"
    else:
        return
    raise InputError(wrong, argument="columns")


def _columns_by_role(
    path: str, simple: Mapping[str, str], named: Mapping[str, str | None]
) -> tuple[dict[str, str | None], list[str]]:
    """Return the column of each role, and the unused columns.

    For roles that the caller gives, matching columns are unused, except columns of scores.
    """
    by_role: dict[str, str | None] = dict.fromkeys(_ROLES)
    by_role |= {role: name for name, role in named.items() if role in _ROLES and role != "score"}
    are_scores_named = not {"score", "numerator", SYSTEM_SCORE}.isdisjoint(named.values())
    passed_over: list[str] = []
    for role, words in _ROLES.items():
        if role in _OF_SCORES and are_scores_named:
            continue
        # The columns with names of the role, better names first.
        ranked = [[name for name in simple if simple[name] in line.split()] for line in words]
        best = next(filter(None, ranked), [])
        if by_role[role] is None and best:
            if len(best) > 1:
                raise InputError(
                    f"{path} has several columns for the {role}: {', '.join(map(repr, best))}; "
                    "choose one with ",
                    Argument("columns", {best[0]: role}),
                )
            by_role[role] = best[0]
        passed_over += [name for columns in ranked for name in columns if name != by_role[role]]
    if by_role["numerator"] is None or by_role["denominator"] is None:
        by_role["numerator"] = by_role["denominator"] = None
    return by_role, passed_over
