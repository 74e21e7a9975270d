"""torchmetrics: an Accumulator that collections, copies and ranks can handle."""

import copy
import pickle

import pytest

import evalstats as es
from tests.live.ranks import printed_by_both

torch = pytest.importorskip("torch", reason="needs the extra torchmetrics")
torchmetrics = pytest.importorskip("torchmetrics", reason="needs the extra torchmetrics")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def score():
    from evalstats.integrations.torchmetrics import CorpusScore

    return CorpusScore


def batches(sample, n=60, size=7):
    texts, references = sample.systems["baseline"], sample.references
    for i in range(0, n, size):
        rows = range(i, min(i + size, n))
        yield [texts[j] for j in rows], [references[j] for j in rows], list(rows)


def whole(sample, metric, n=60, **options):
    return es.estimate(sample.systems["baseline"][:n], sample.references[:n], metric, **options)


@pytest.mark.parametrize("metric", ["bleu", "wer"])
def test_it_is_the_score_of_the_corpus(sample, score, metric):
    found, first, second = (score(metric) for _ in range(3))
    for i, (texts, references, ids) in enumerate(batches(sample)):
        expected = es.estimate(texts, references, metric, method="t").score
        assert found(texts, references, ids=torch.tensor(ids)).item() == pytest.approx(expected)
        (first if i % 2 else second).update(texts, references)
    expected = whole(sample, metric, n_resamples=50)
    assert found.compute().item() == pytest.approx(expected.score)
    estimate = found.estimate(n_resamples=50)
    assert (estimate.low, estimate.high) == (expected.low, expected.high)
    assert found.higher_is_better == expected.higher_is_better
    monitor = es.Monitor(sample.references[:60], metric)
    assert monitor.check(0, found.accumulator()).score == expected.score
    found.reset()
    with pytest.raises(es.InputError, match="no segments yet"):
        found.compute()
    if hasattr(first, "merge_state"):  # torchmetrics 1.5
        first.merge_state(second)
        assert first.compute().item() == pytest.approx(expected.score)


def test_it_says_of_texts_what_an_accumulator_says(sample, score):
    """Half of the outputs are empty, and the references are in Khmer, of which no token is known."""
    texts = ["ថ្ងៃនេះអាកាសធាតុល្អណាស់", "យើងទៅសួនច្បារជាមួយគ្នា"] * 20
    found, part = score("bleu"), es.Accumulator("bleu")
    for one in (found, part):
        one.update([*texts[:20], *[""] * 20], texts, ids=range(40))
    cautions = part.statistics().cautions
    assert {x: [c.kind for c in several] for x, several in cautions.items()} == {
        "": ["unread"],
        "system": ["empty"],
    }
    assert found.accumulator().statistics().cautions == cautions
    assert pickle.loads(pickle.dumps(found)).accumulator().statistics().cautions == cautions


def test_scores_that_come_from_elsewhere(score):
    values = torch.rand(20, dtype=torch.float64)
    found = score(es.Mean("COMET"))
    for part in values.split(6):
        found.update(part)
    expected = es.estimate(values.numpy(), metric=es.Mean("COMET"), method="t").score
    assert found.compute().item() == pytest.approx(expected)
    # What changes the precision of a model leaves the rows as they are.
    for change in ("half", "float", "bfloat16"):
        getattr(found, change)()
    found.set_dtype(torch.float16)
    torch.nn.ModuleList([found]).half()
    assert found.estimate(method="t").score == pytest.approx(expected, abs=1e-12)


def test_a_collection_keeps_metrics_apart(sample, score):
    """Configurations whose rows are equal in the first batch, and differ later."""
    metrics = {
        "bleu": "bleu", "again": "bleu", "lower": es.BLEU(lowercase=True), "chrf": "chrf",
        "beta": es.CHRF(beta=1),
    }  # fmt: skip
    found = torchmetrics.MetricCollection({name: score(m) for name, m in metrics.items()})
    texts, references = ["a b c d e", "The Cat Sat on"], ["a b c d f", "the cat sat on"]
    for text, reference in zip(texts, references, strict=True):
        found.update([text], target=[reference])  # by the keywords of torchmetrics' own
    for name, value in found.compute().items():
        expected = es.estimate(texts, references, metrics[name], method="t").score
        assert value.item() == pytest.approx(expected)
    assert sorted(map(sorted, found.compute_groups.values())) == [
        ["again", "bleu"], ["beta"], ["chrf"], ["lower"]
    ]  # fmt: skip


def test_copies_pickles_and_states(sample, score):
    found, other = score("chrf"), score("chrf")
    for texts, references, ids in batches(sample):
        found.update(texts, references, ids)
    expected = found.compute()
    assert found.state_dict() == {}  # as for all metrics, until it is asked for
    for same in (copy.deepcopy(found), pickle.loads(pickle.dumps(found)), found.clone()):
        assert same.compute() == expected
    found.persistent(True)
    other.persistent(True)
    other.load_state_dict(found.state_dict())
    assert other.compute() == expected
    (name,) = found.state_dict()
    other.load_state_dict({name: [torch.zeros(3, 2)]})
    with pytest.raises(es.InputError, match=r"rows of 21 64-bit integers, got float32 of shape"):
        other.compute()


def test_a_bad_batch_changes_nothing(sample, score):
    found = score("wer")
    found(["a b"], ["a c"], ids=[4])
    cases = [
        ((["a"], ["a"]), "ids must be passed either for all segments or for none"),
        ((["a"], ["a"], ["x"]), "ids must be integers .*, got strings"),
        ((["a"],), "references is None"),
    ]
    for call in (found.update, found.forward):
        for arguments, message in cases:
            with pytest.raises(es.InputError, match=message):
                call(*arguments)
            assert found.compute().item() == 50
    found.update([], [])
    found.update(["b"], ["a"], ids=[4])
    with pytest.raises(es.InputError, match="id 4 was passed before with different statistics"):
        found.compute()


RANK = """
from torchmetrics import MetricCollection
from evalstats.integrations.torchmetrics import CorpusScore

both = MetricCollection({"chrf": CorpusScore("chrf"), "ter": CorpusScore("ter")})
for ids in loader:
    both([texts[i] for i in ids], [references[i] for i in ids], ids=ids)
found = {name: float(value) for name, value in both.compute().items()}
low = both["chrf"].estimate(n_resamples=50).low
n = [len(both["chrf"].accumulator())]
both["chrf"].sync()
n.append(len(both["chrf"].accumulator()))
both["chrf"].unsync()
# What one rank has stays with it.
n.append(sum(len(rows) for rows in both["chrf"].metric_state.popitem()[1]))
# One rank has seen nothing; then both have, and disagree.
one = CorpusScore("chrf")
if rank == 1:
    one.update(texts[:3], references[:3], ids=range(3))
alone = float(one.compute())
one.update(texts[1 - rank : 2 - rank], references[:1], ids=[0])
try:
    one.compute()
    error = None
except es.InputError as raised:
    error = str(raised)
n.append(sum(len(rows) for rows in one.metric_state.popitem()[1]))
print(json.dumps([found, low, n, alone, error]))
"""


def test_two_ranks(sample, tmp_path):
    for rank, row in enumerate(printed_by_both(RANK, tmp_path)):
        found, low, n, alone, error = row
        for name, value in found.items():
            assert value == pytest.approx(whole(sample, name, 41, method="t").score)
        assert low == whole(sample, "chrf", 41, n_resamples=50).low
        assert n == [41, 41, 21, [1, 4][rank]]
        assert alone == pytest.approx(whole(sample, "chrf", 3, method="t").score)
        assert error.startswith("id 0 was passed before with different statistics")
