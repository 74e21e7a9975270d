"""The mutants: a file and the tests that concern it; then a promise, a line, and it broken."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Mutant(NamedTuple):
    """Text of a file that occurs once and what takes its place, the promise, and test files."""

    file: str
    old: str
    new: str
    promise: str
    tests: tuple[str, ...]


def file_of(test: str) -> str:
    """Return the file of tests with a name: "tests/analysis/test_margins.py" for "margins"."""
    (path,) = ROOT.glob(f"tests/**/test_{test}.py")
    return path.relative_to(ROOT).as_posix()


TABLE = r"""
@ inference/randomisation.py: randomisation paired
the observed arrangement is one of B + 1
- else (count + 1) / (len(shuffled) + 1)
+ else count / len(shuffled)
ties with the observed difference count
- shuffled >= observed - tolerance
+ shuffled > observed + tolerance
"less" is "greater" of the mirror image
- observed, shuffled = -observed, -shuffled
+ observed, shuffled = -observed, shuffled
@ inference/distributions.py: distributions
the tails of t have a fraction of their own
- if square < 6:
+ if square < 600:
a quantile is exact
- while abs(change) > 1e-9:
+ while abs(change) > 1e-5:
a noncentral t is exact for few degrees of freedom
- 0.4 / steepest)
+ 4.0 / steepest)
the density of t at 0 is exact for few and many degrees of freedom
- if degrees < 50:
+ if degrees < 5:
@ inference/bootstrap.py: rule intervals
the observed sample is one of B + 1 replicates
- found = widened((count + 1) / (n + 1), spread, sides)
+ found = widened(max(count, 1) / (n + 1), spread, sides)
a replicate on the null value is not beyond it
- np.count_nonzero(distances > 0)
+ np.count_nonzero(distances >= 0)
below 5 degrees of freedom t decides alone
- LEAST_DEGREES = 5.0
+ LEAST_DEGREES = 4.0
bounds are the k-th smallest and the k-th largest replicate
- for i in (k - 1, n - k))
+ for i in (k, n - k))
the interval is widened for few units
- normal_quantile(share) / spread.factor
+ normal_quantile(share)
beyond the outermost replicate the interval holds all replicates
- return min(low, float(np.min(replicates))), max(high, float(np.max(replicates)))
+ return low, high
where no replicate is beyond the null value t may say less
- return min(found, by_t()) if count == 0 else found
+ return found
ties count half in the bias of BCa
- np.mean(replicates < observed) + np.mean(replicates == observed) / 2
+ np.mean(replicates < observed)
@ designs/trials/cases.py: cases
an item that stands among others of its kind cannot be named alone
- least * np.searchsorted(np.sort(least), least * _SAME, side="right")
+ least * 1
@ analysis/drawn.py: trials
the trials of two systems have nothing in common
- np.diag(np.sqrt(chances * (n - 1) / n))
+ np.sqrt(chances * (n - 1) / n)[:, None]
@ designs/trials/metrics.py: trials
the chance in trials is what a rate leaves
- max(square - squared, 0.0)
+ square
the likelihood is that of right answers of the trials of an item
- betaln(a + c, b + n - c)
+ betaln(a + c, b + n)
an interval has as much on either side
- [alpha / 2, 1 - alpha / 2]
+ [alpha, 1 - alpha / 2]
@ designs/judges.py: judged
the weight of a judge in a plan is that of so many labels
- self.both * left / self.judge
+ self.both / self.judge
the judge's difference is held against that of other segments
- each += [b - a for a, b in combinations(each, 2)]
+ pass
a difference that few labels could show is no sign of a choice
- max(error, least)
+ error
one label more shows an error of the judge
- marks * (scale * step) ** 2
+ 0 * marks * (scale * step) ** 2
the judge's scores of labelled segments are taken off
- found + weight * (elsewhere - there)
+ found + weight * elsewhere
the gradient is that of the score
- for x in (-w, w)
+ for x in (w, w)
an item without people's label has no row of people
- there = labelled * judge
+ there = judge
the weight is that of the smallest variance
- weights[j] = min(max(best, 0.0), 1.0)
+ weights[j] = min(max(1 - best, 0.0), 1.0)
what one judge explains is not left to another
- rest = products[j] - sum(row[i] * weights[i] for i in range(len(row)) if i != j)
+ rest = products[j]
all judges are wrong of the label that is added
- step = sum(self._weights)
+ step = max(self._weights)
judges are worth what the mean correlation of their errors leaves
- effect = 1 + (many - 1) * np.mean(each)
+ effect = 1 + np.mean(each)
@ analysis/design.py: judged
groups of labelled and other segments are drawn as they are
- if np.any(codes != codes[first][self.members]):
+ if False:
@ designs/unpaired.py: unpaired
the variance of two shares is unbiased (Miettinen and Nurminen, 1985)
- max(variance, 0.0) * n / (n - 1)
+ max(variance, 0.0)
of no difference the pooled share is the most likely one
- return succeed / n
+ return base
@ designs/unpaired.py: unpaired
shares in groups have Welch's degrees of freedom
- return 1 / below if below > 0 else np.inf
+ return np.inf
each system is drawn within itself
- n_strata = int(codes[i].max()) + 1
+ n_strata = 0
the order of systems changes no bit
- for i in order:
+ for i in range(len(each)):
@ analysis/drawn.py: runs
runs that are paired are subtracted run by run
- if any(one.are_paired for one in runs):
+ if False:
@ logs/missing.py: unpaired
logs that share no item say what to do
- raise InputError(f"{pivot.key}: {what}; ", *_UNPAIRED)
+ raise InputError(f"{pivot.key}: {what}")
@ logs/formats/tables.py: logs_tables
a column that may name segments is none of scores
- if bad is not None or are_ids:
+ if bad is not None:
@ logs/pivot.py: logs_joining
labels by place go by the numbers of lines
- names[i - first] for i in numbers
+ names[i] for i in range(len(numbers))
labels by place are refused where names are in another order
- np.any(np.diff(part.rows.items.order) < 0)
+ False
@ analysis/scores.py: crossed
answers with two labels are counted in groups of the label that has more
- max(self.units.sides, key=lambda side
+ min(self.units.sides, key=lambda side
@ designs/crossed.py: crossed
what shares both labels counts once
- max(first + second - both, both)
+ max(first + second, both)
two labels know as much as the one with fewer
- Spread(error, 1.0, min(one
+ Spread(error, 1.0, max(one
@ designs/meta.py: meta
the p-values of people and of a metric are of the same side
- people, metric = (ndtr(-z) for z, _ in _sizes(totals))
+ people, metric = (ndtr(-np.abs(z)) for z, _ in _sizes(totals))
differences of one size become ties together
- last = np.append(thresholds[1:] > thresholds[:-1], True)
+ last = np.append(thresholds[1:] >= thresholds[:-1], True)
@ designs/meta.py: meta
what a metric lacks is missing for all
- known = np.all(np.isfinite(scores), axis=0)
+ known = np.isfinite(scores[0])
differences that change places are in units of their own size
- units = np.where(sizes > 0, sizes, 1.0) * _STEP
+ units = np.ones(sizes.shape) * _STEP
two metrics that differ by rounding alone are one
- pairs = np.rint(np.swapaxes(pairs / units, 1, 2)) * _STEP
+ pairs = np.swapaxes(pairs / units, 1, 2) * _STEP
@ designs/arenas/bradley_terry.py: arenas
being shown second is no gain
- missed.sum(axis=1) - missed.sum(axis=0), missed.sum()
+ missed.sum(axis=1) - missed.sum(axis=0), 2 * missed.sum()
@ logs/joining.py: arenas
a file keeps who was shown first
- points[turned] = 2 - points[turned]
+ points[turned] = points[turned]
@ designs/arenas/bradley_terry.py: arenas
the mean of strengths is 0
- information += 1 / size
+ information[..., 0, 0] += 1
an ordered pair and its mirror image are as many battles
- battles = wins + np.swapaxes(wins, -1, -2)
+ battles = 2 * wins
half of a tie's probability belongs to each
- return (first + even / 2) / every, even / every
+ return first / every, even / every
where steps do not become small no strengths are largest
- is_finite = np.zeros(n, dtype=np.bool_)
+ is_finite = np.ones(n, dtype=np.bool_)
@ designs/arenas/arena.py: arenas
the share of the system that was shown first has the interval of the units
- error, _, degrees = grouped(units, moves)
+ error, _, degrees = grouped(as_units(n, None, None), moves)
a difference rests on the units of the system that has fewer
- differing = np.minimum(counts[:, None], counts)
+ differing = np.maximum(counts[:, None], counts)
what is left out goes on until all have won and lost
- if np.all(bounded):
+ if np.all(bounded) or gone:
many units have centred products
- (here.T @ here).toarray() - here.shape[0] * np.outer(mean, mean)
+ (here.T @ here).toarray()
@ logs/formats/arenas.py: arenas
the second game has the answers in the other order
- (sides, sides[::-1])
+ (sides, sides)
@ inference/counts.py: counts
Wilson's interval
- (share * (1 - share) + square / 4)
+ (share * (1 - share) + square / 2)
the order of two systems changes no bit of their interval
- return -low, high
+ return -low, high * (1 + 1e-15)
Tango's share of lost items
- 8 * n * lost * difference
+ 8 * n * gained * difference
beyond every share an interval ends
- if observed >= end or distance(end) + quantile >= 0:
+ if observed >= end:
@ inference/counts.py: notes
the exact p of McNemar's test has two sides
- return min(1.0, 2.0 * float(
+ return min(1.0, float(
@ inference/families.py: families
Holm multiplies by the number of hypotheses that are left
- np.maximum.accumulate(p[order] * (last.size - left))
+ np.maximum.accumulate(p[order] * last.size)
Holm keeps the order of p-values
- np.minimum(np.maximum.accumulate(p[order] * (last.size - left)), 1.0)
+ np.minimum(p[order] * (last.size - left), 1.0)
Benjamini and Hochberg divide by the rank
- p.size / np.arange(p.size, 0, -1)
+ p.size / np.arange(p.size + 1, 1, -1)
rounding leaves no adjusted p-value below its own
- p[order] * (p.size / np.arange(p.size, 0, -1))
+ p[order] * p.size / np.arange(p.size, 0, -1)
what is rejected no longer takes part in the maximum
- order = np.argsort(observed, kind="stable")
+ order = np.argsort(-observed, kind="stable")
step-down p-values do not fall
- stepped = np.maximum.accumulate(pvalues[order])
+ stepped = pvalues[order]
ties with the observed largest count
- observed[j] - TIE * abs(observed[j])
+ np.nextafter(observed[j], np.inf)
equal values have one p-value
- ties - observed, "right") - 1
+ -ties - observed, "left")
@ inference/student.py: rule intervals strata runs counts
variances have one degree of freedom less than units
- variances = squares * numbers / (numbers - 1)
+ variances = squares
Satterthwaite's degrees of freedom
- (variances / total) ** 2 / (numbers - 1)
+ (variances / total) ** 2 / numbers
groups of different sizes count as fewer (Kish)
- np.sum(given) ** 2 / np.sum(given**2)
+ given.size
influence values are centred within strata
- return np.asarray(influence - means[:, codes].reshape(influence.shape))
+ return np.asarray(influence - np.mean(influence, axis=-1, keepdims=True))
t is exceeded on either side with alpha together
- return -t_quantile(alpha / 2, degrees)
+ return -t_quantile(alpha, degrees)
"greater" asks for large differences
- {"two-sided": -abs(t), "greater": -t, "less": t}
+ {"two-sided": -abs(t), "greater": t, "less": -t}
runs add nothing where their means vary no more than segments explain
- if component <= 0:
+ if not runs:
the interaction of runs and segments has (R - 1)(N - 1) degrees of freedom
- float(np.sum(apart**2)) / (n_runs - 1) / n_runs
+ float(np.sum(apart**2)) / n_runs / n_runs
there is no less than one degree of freedom
- unit * total**0.5, factor, max(degrees, 1.0))
+ unit * total**0.5, factor, degrees)
@ inference/student.py: scale
squares of large and of small scores are numbers
- unit = float(unit_of(centred))
+ unit = 1.0
@ inference/bootstrap.py: scale
and so are sixth powers
- deviation = deviation / unit_of(deviation)
+ deviation = deviation * 1.0
@ analysis/max_t.py: scale
and squares of pairs of any size
- scale = student.unit_of(moved, axis=1)
+ scale = 1.0
@ analysis/design.py: scale
weights of any size are shares
- shares = weights / unit_of(weights)
+ shares = weights / 1.0
slopes by the scores of strata know their size
- step = _STEP * unit_of(scores, axis=-1)[..., 0]
+ step = _STEP
@ analysis/tasks.py: moments analysis
a seed that was asked for is not the default
- if rng != SEED:
+ if rng != SEED and isinstance(rng, str):
BLEU that was asked for is not the default
- if metrics is not None and as_metrics(metrics)
+ if metrics not in (None, "bleu") and as_metrics(metrics)
@ analysis/pairs.py: draws
what counts or t decide draws nothing
- by_t = partial(student.pvalue, t, 1.0, self.spread.degrees, alternative)
+ by_t = partial(student.pvalue, t, 1.0 + 0 * len(distances()), self.spread.degrees, alternative)
@ analysis/estimate.py: draws
a signature says what was drawn
- n = drawn.draws.n if drawn.draws.are_made else 0
+ n = drawn.draws.n
@ designs/moments.py: moments
a covariance is centred
- covariance = moments.products[0] - np.outer(sums, sums) / n
+ covariance = moments.products[0]
moments of identical systems differ by nothing, not by what rounding leaves
- influence = apart[np.argmin(counted, axis=1)]
+ influence = apart
a variance that rounding hides is refused
- is_known = (unknown < _MOST_ROUNDING * variance) & (unknown > _FLOAT.tiny)
+ is_known = unknown > _FLOAT.tiny
groups of different sizes that differ are worth fewer
- return units, worth, ()
+ return units, None, ()
@ designs/moments.py: moments
a name does not end its own quotes
- return quote + name.replace(quote, 2 * quote) + quote
+ return quote + name + quote
labels that are null are counted
- [*labels, *dict.fromkeys(of_systems)]
+ [*dict.fromkeys(of_systems)]
@ designs/moments.py: moments
a group in two strata is refused
- if known[name]:
+ if known[name] and name != "n_split":
@ analysis/drawn.py: arenas moments
several summaries are of one maker
- return maker if all(isinstance(one, maker.kind) for one in several) else None
+ return maker if isinstance(value, maker.kind) else None
@ analysis/design.py: strata
labels that print alike are refused
- if other is not label:
+ if other != other:
@ questions/joint.py: influence
identical systems are not better
- 1.0 if d.n_differing == 0 else
+ 1.0 if d.n_differing < 0 else
@ questions/ranking/ranks.py: ranking
the best rank is behind all that are better
- [1 + ahead, len(better) - behind]
+ [1 + behind, len(better) - ahead]
WMT22's clusters end where all so far have won as often as systems remain
- np.min(better.sum(axis=1)[:place])
+ np.max(better.sum(axis=1)[:place])
WMT25's signed-rank tests are one-sided at half the level
- pvalue < 0.05 / 2
+ pvalue < 0.05
systems that tie share a resample
- best / best.sum(axis=1, keepdims=True)
+ best / 1
AutoRank is scaled by the quartile towards the worst
- np.quantile(values, 0.25,
+ np.quantile(values, 0.2,
@ inference/student.py: power
long tails leave a variance less known than normal data do
- min(1.0, 2 / (kurtosis - 1))
+ 1.0
the kurtosis of normal values is 3 on average, of few as of many
- (numbers - 1) / (numbers + 1)
+ 1
@ questions/power/planning.py: power
groups of unlike sizes know no more than their number of one size
- min(degrees, student.variance_degrees(effect.influence, effect.units.codes))
+ student.variance_degrees(effect.influence, effect.units.codes)
tails are those within strata
- variance_degrees(effect.influence, effect.units.codes)
+ variance_degrees(effect.influence)
@ questions/power/noncentral.py: power
a two-sided test has half of its level on each side
- tail = degrees >= _NORMAL, level / sides
+ tail = degrees >= _NORMAL, level
@ analysis/max_t.py: families
the observed largest is one of B + 1
- np.float64(1) + reached
+ 1.0 * reached
an adjusted p-value is never below the pair's own
- np.maximum(together, p[is_known])
+ together
resamples set no floor under a family
- np.where(counts > fewest, shares, np.minimum(shares, stepped[is_known]))
+ shares
resamples of few units have heavy tails
- max((len(largest) + 1) // ONE_IN, 1)
+ 1
at a level below the smallest share an interval is Bonferroni's
- if k >= fewest else beyond
+ if k else beyond
standard errors that are the same in every resample are widened
- share if within[pair.drawn] else widened(float(share) / sides, pair.spread, sides)
+ share
of few resamples no interval is shorter than Bonferroni's
- max(float(largest[-fewest]), critical[i])
+ float(largest[-fewest])
@ analysis/compare.py: suites
the last task does not decide for all
- adjustment = applied.pop() if len(applied) == 1 else options.adjustment
+ adjustment = adjustment
the last task does not decide which test it is
- test = "t" if all(undrawn) else options.test
+ test = "t" if undrawn[-1] else options.test
@ analysis/tasks.py: suites
names of tasks change no total
- return sorted(self.tables, key=identities.__getitem__)
+ return sorted(self.tables)
nor do they name it
- names = sorted({table.metric.name for table in self.tables.values()})
+ names = distinct(table.metric.name for table in self.tables.values())
@ analysis/scores.py: counts suites
the failures of few items may be unseen
- return np.asarray(np.bincount(drawn, weights**2) * (variances[0] - variances[1]))
+ return np.asarray(0 * np.bincount(drawn, weights**2) * (variances[0] - variances[1]))
of groups it is groups that may be unseen
- drawn = codes if self.units.codes is None else self.units.codes
+ drawn = codes
losing more answers of groups never makes a gate pass
- return min((low, *lows)), max((high, *highs))
+ return low, high
nor is the p-value smaller
- return max((alone, *(one.pvalue(null, alternative) for one in fewer)))
+ return alone
and so may the answers that change
- spread = self.units.spread(influence, self._added(changed))
+ spread = self.units.spread(influence)
@ inference/fieller.py: fieller
a share is kept where every smaller one is
- ends.append(pair.t(between))
+ ends.append(pair.t(low))
nothing is kept where the score is not told apart from 0
- if not pair.t(0.0) > quantile:
+ if not pair.t(0.0) > -quantile:
@ analysis/pairs.py: rule paired contrasts
m units that differ can be swapped in 2^m ways only
- return min(1.0, sides * (0.5**self.n_differing if least is None else least))
+ return 0.0
@ analysis/pairs.py: fieller counts
a recovery of 1 has the floor of no difference
- return p if share < 1 else max(p, self._floor(1))
+ return p
answers that are counted have the degrees of freedom of all units
- return self.drawn.of.counted(self.a, self.b, influence)
+ return replace(self.drawn.of.counted(self.a, self.b, influence), degrees=self.spread.degrees)
@ analysis/pairs.py: fieller counts
claims follow the test and not the interval that is shown
- method = "t" if pair.options.test == "t" else "bootstrap"
+ method = pair.options.method
@ analysis/drawn.py: rule intervals margins
a ratio r is tested as a - r b, resample by resample
- base = self.effects[a] if share == 1 else share * self.effects[a]
+ base = self.effects[a]
of systems that are identical all units say how much is kept
- self.differ(a, b)[1] or np.inf
+ self.differ(a, b)[1] or 2.0
@ analysis/drawn.py: rule intervals margins paired contrasts
replicates that differ by rounding only are ties
- found[np.abs(found) <= tie] = 0.0
+ found[np.abs(found) < 0] = 0.0
scores that are equal but for rounding have a ratio of 1
- np.where(difference.replicates == 0, other.replicates, self.replicates)
+ np.asarray(self.replicates)
what units add to runs grows with a factor
- replace(self, scores=factor * self.scores, influence=factor * self.influence)
+ replace(self, scores=factor * self.scores)
@ analysis/pairs.py: gates margins
of a score below 0 no share is kept
- min(base, new) < 0
+ min(base, new) < -1e300
@ analysis/pairs.py: arenas
of an arena of ties alone nothing is claimed
- return drawn.of.has_few_values
+ return False
@ analysis/max_t.py: claims
a pair of which nothing can be claimed counts among the claims
- adjust([1.0 if p is None else p for p in known]).tolist()
+ adjust([0.0 if p is None else p for p in known]).tolist()
the claims on all tasks are one family
- key = one.aggregate is not None, "" if mixed else one.metric
+ key = one.task, one.metric
@ analysis/max_t.py: over_metrics
each metric has its own standard errors within resamples
- here = [i for i, j in enumerate(places) if pairs[j].drawn is drawn]
+ here = list(range(len(places)))
@ results/signatures.py: signatures
the analysis is read from the end as far as its keys are in order
- key not in _KEYS[:place]
+ key not in _KEYS
a change of one option leaves the others
- found = {**dict(self.analysis), **changes}
+ found = dict(changes)
@ metrics/base.py: signatures interchange
each version of sacreBLEU is named once
- for version in signature.versions}
+ for version in [",".join(signature.versions)]}
@ results/records.py: over_metrics
the totals of two metrics are two parts
- return task if aggregate is None else f"{task} {metric}"
+ return task
@ questions/domains.py: domains
the prediction for one more stratum has its own variance
- spread * (1 + 1 / k) ** 0.5
+ spread * (1 / k) ** 0.5
k strata leave k - 1 degrees of freedom
- student.with_runs(Spread(error, 1.0, k - 1), squares.get(key, ()))
+ student.with_runs(Spread(error, 1.0, k), squares.get(key, ()))
runs that strata share are part of the error of their mean
- student.with_runs(Spread(error, 1.0, k - 1), squares.get(key, ()))
+ student.with_runs(Spread(error, 1.0, k - 1), ())
labels are those of the segments, in whatever order an average has them
- order = np.argsort(np.concatenate(places), kind="stable")
+ order = np.arange(len(labels))
@ results/records.py: claims predictions
claims of several pairs are made by adjusted p-values
- kept = self.pvalue_equivalence_adjusted, self.pvalue_not_worse_adjusted
+ kept = self.pvalue_equivalence_adjusted, self.pvalue_not_worse
another test set errs as well
- error = self.standard_error * sqrt(1 + stretch(self.units.n_units or 1, n))
+ error = self.standard_error
@ results/estimates.py: predictions
the runs' part of an error does not depend on the number of segments
- ratio = of_runs + ratio * (1 - of_runs)
+ ratio = ratio + 0.0
a share stays on its scale
- max(low, 0.0), min(high, self._scale())
+ max(low, 0.0), high
@ analysis/design.py: strata
strata of one unit are drawn together
- np.flatnonzero(counts == 1)
+ np.flatnonzero(counts == 0)
@ analysis/drawn.py: strata
units are drawn within their strata
- return recipe(units.n, seed) if units.codes is None else Stratified(units.n, seed, units.codes)
+ return recipe(units.n, seed)
@ analysis/pairs.py: randomisation
all swaps are enumerated where B allows
- 2 ** drawn.differ(*pair)[0] <= options.n_resamples
+ 2 ** drawn.differ(*pair)[0] < 0
as many swaps as resamples are enumerated
- 2 ** drawn.differ(*pair)[0] <= options.n_resamples
+ 2 ** drawn.differ(*pair)[0] < options.n_resamples
@ analysis/scores.py: counts
where nothing varies items count as their weights leave them (Kish)
- segments = student.kish(self.weights)
+ segments = float(self.success.shape[1])
where nothing varies groups count, and not their answers
- return min(found, (variance + more) / (squared + more / groups))
+ return segments if found == np.inf else found
@ questions/power/planning.py: gates
a share is kept of what the baseline scores
- float(drawn.scores[a])
+ float(drawn.scores[b])
of counted answers a recovery is a margin
- influence = drawn.difference(a, b).influence
+ influence = effect.influence
@ questions/gates.py: gates
without a limit a loss of errors is that there are more
- alternative=alternative,
+ alternative=alternative if is_limited else "less",
any check may fail, and these p-values are adjusted among all
- holm([p for p in failed if p is not None]).tolist()
+ [p for p in failed if p is not None]
where the total alone is asked, tasks are not
- asked = [d.aggregate is not None or not is_of_totals for _, d in rows]
+ asked = [True for _, d in rows]
@ questions/gates.py: gates
an undecided gate that counts as passed is no error in JUnit's XML
- _JUNIT_OF_UNDECIDED = {None: "error", "pass": "skipped", "fail": "failure"}
+ _JUNIT_OF_UNDECIDED = {None: "error", "pass": "error", "fail": "error"}
every reason is printed
- return [*self.reasons, *notes], signatures
+ return [*self.reasons[:3], *notes], signatures
@ testing.py: gates
a name of the baseline is no path where there are names of systems
- is_name = isinstance(hypotheses, Mapping) or is_extracted(hypotheses) or baseline in columns
+ is_name = isinstance(hypotheses, Mapping) or is_statistics(hypotheses)
outputs have the metrics of the statistics that they stand against
- metrics = [table.metric for tables in known.values() for table in tables]
+ metrics = None
@ analysis/estimate.py: notes
few segments are a tenth of them, ten at most
- largest = min(_LARGEST, ceil((effect.spread.degrees + 1) / _LARGEST))
+ largest = _LARGEST
shares are counted, and rest on no estimated variance
- is_other = of.outcomes is not None or drawn.runs or units.sizes is not None
+ is_other = drawn.runs or units.sizes is not None
@ results/notes.py: notes
one pair is no family
- if few and n_pairs > 1 and adjustment.name != "none":
+ if few and adjustment.name != "none":
few changed answers are told
- for d in differing if d.test == "mcnemar"]
+ for d in differing if d.test == "sign"]
@ results/tabular.py: forms
a limit that is not 0 shows on which side it is
- if sign and abs(limit) > _NOISE
+ if not sign and abs(limit) > _NOISE
@ training/monitor.py: monitor
the order of gold labels counts
- for gold in self:
+ for gold in sorted(map(str, self)):
@ logs/formats/lm_eval.py: logs_messages
of choices the answer is the likeliest
- likelihoods.index(max(likelihoods))
+ likelihoods.index(min(likelihoods))
@ logs/formats/tables.py: logs_tables
names of judges number answers
- number_of = {name: i for
+ number_of = {name: 0 for
@ results/widths.py: widths
of columns that can go the first goes first
- left_out = list(spare[:n_spared])
+ left_out = list(spare[len(spare) - n_spared :])
names are cut where they still differ
- if len(set(some)) == n_distinct:
+ if some:
names are cut further where a table goes on below itself
- if cuts and total(names) + beside > limit:
+ if False:
@ results/files.py: latex
what is wider than a column is a float of the page
- kind = "table*" if any(
+ kind = "table*" if all(
what stands in the text fits a column
- is_wide = is_float and len(blocks) > 1
+ is_wide = len(blocks) > 1
@ cli/output.py: widths
a file is the same on every terminal
- width = _columns(sys.stdout) if path == STANDARD else None
+ width = _columns(sys.stdout)
errors break no path
- break_long_words=False
+ break_long_words=True
@ results/marks.py: plots report
a gate's limit is on the side of the loss
- return (low, inf) if d.higher_is_better else (-inf, high)
+ return (low, inf) if not d.higher_is_better else (-inf, high)
metrics of one pair are better to the right
- (1 if higher_is_better else -1) / size
+ 1 / size
@ results/records.py: report_kinds
of all pairs the better system is named first
- return [d.turned() if one.winner == one.baseline else d for d, one in pairs]
+ return [d for d, one in pairs]
@ results/marks.py: report_kinds
ranks begin at 1
- sorted({1.0, *(float(x)
+ sorted({0.0, *(float(x)
@ results/layout.py: plots
the density of a difference is that of differences
- return a - b
+ return a
@ pictures/figures.py: plots
a font that has the signs of a name is taken
- return {"family": [*rcParams["font.family"], *families], "weight": "normal"}
+ return {}
@ pictures/tables.py: plots
a rule stands before totals and nowhere else
- if 0 < plan.table.n_totals < n:
+ if 0 <= plan.table.n_totals < n:
@ questions/power/planned.py: power
a curve of power lies where a plan of any size does
- np.interp(np.sqrt(fine), np.sqrt(xs), bent)
+ np.interp(fine, xs, bent)
@ cli/__init__.py: report_kinds
a system is no file though a folder has its name
- if path != options.baseline or path in read
+ if path
@ analysis/comparison.py: result_values
of a ratio the error is that of new - r·base
- base = ratio * base_error
+ base = base_error
@ results/lookup.py: result_values
a metric is found by the name that was asked for
- if written(name) == written(metric)
+ if name.lower() == metric.lower()
@ questions/domains.py: report_kinds
a segment of a domain keeps its name
- segment_ids=_at(ids, places),
+ segment_ids=(),
@ cli/commands.py: cli
a percentage is of scores that are all from 0 to 1
- return bool(((total >= 0) & (total <= count)).all())
+ return True
@ cli/inputs.py: report_kinds
a label is no file that was read
- elif path and path not in files and Path(path).exists():
+ elif path and path not in files:
@ analysis/comparison.py: domains
no task is called as a total over all
- if part.total is None and part.name in totals:
+ if False:
@ questions/domains.py: domains
groups that lie in several strata are drawn whole in the total
- if units.are_split(codes):
+ if False:
a stratum where all segments change alike is no stratum without an error
- for error in (d.standard_error, of_interval)
+ for error in (d.standard_error,)
few degrees of freedom make F smaller (Welch, 1951)
- statistic = between / (1 + 2 * (k - 2) / (k * k - 1) * lack)
+ statistic = between
@ analysis/comparison.py: rule
a p-value at the level is significant
- return difference.pvalue_adjusted <= self.significance_level
+ return difference.pvalue_adjusted < self.significance_level
@ results/convert.py: result_values
a derived truth value is no number
- or isinstance(found, bool) != isinstance(made, bool)
+ or False
@ resampling/weighted.py: resampling executors
float32 counts to 2^24 only
- _SINGLE_LIMIT = float(2**24)
+ _SINGLE_LIMIT = float(2**40)
fractions are not summed in float32
- single = _whole(statistics) & (
+ single = (
fractions are put on a grid, so that the order of sums is nothing
- off |= ~_whole(statistics)
+ off |= False
@ resampling/executors.py: executors
where threads cannot start there is one worker
- return cores if cores == 1 or threads_start() else 1
+ return cores
two threads are refused where none can start
- if int(executor) > 1 and not threads_start():
+ if False:
@ resampling/weights.py: strata
each stratum is drawn as often as it has units
- multinomial_rows(rng, n_rows * n_strata, n, n)
+ multinomial_rows(rng, n_rows * n_strata, n + 1, n)
@ resampling/streams.py: rows
a row of weights sums to the number of draws
- missing = sums - rows.sum(axis=1, dtype=wide)
+ missing = sums - rows.sum(axis=1, dtype=wide) + (sums > 3)
@ resampling/weights.py: resampling
swaps are of another stream than the bootstrap
- stream = 1
+ stream = 3
@ resampling/streams.py: rows resampling
batches of resamples are independent
- words = np.random.SeedSequence(seed, spawn_key=(*key, number))
+ words = np.random.SeedSequence(seed, spawn_key=(*key, 0))
@ resampling/weighted.py: careless_input
numbers whose spread is lost in their size are refused
- _MOST_MOVED = 0.01
+ _MOST_MOVED = 1e9
@ statistics/segments.py: parts
parts with the same references are systems of one name
- if shared or (table.fingerprint and table.fingerprint == other.fingerprint):
+ if shared:
parts put together know their order
- "|parts|".join(known)
+ "|parts|".join(sorted(known))
@ statistics/segments.py: segment_labels options interchange
groups change the fingerprint
- fingerprint = self.fingerprint and "sha256:" + digest.hexdigest()
+ fingerprint = self.fingerprint
a selection has not the fingerprint of the whole
- fingerprint=None,
+ fingerprint=self.fingerprint,
tables of different metrics are not joined
- if not interchange.is_same_metric(first.metric, table.metric):
+ if False:
tables against different references are not joined
- {"number": table.n_segments, "fingerprint": table.fingerprint}
+ {"number": table.n_segments}
tables of different segments are not joined
- known |= {"segment_ids": table.segment_ids}
+ pass
@ statistics/segments.py: careless_input
impossible counts are refused
- metric.check_statistics(values)
+ values.sum()
@ statistics/extraction.py: frames
rows of frames are paired by index
- check_same_rows(named, references=references, segment_ids=segment_ids)
+ pass
@ statistics/files.py: extraction_of_files
the last line may lack its newline
- last = [] if data.endswith(b"\n") else [np.array([len(data)])]
+ last = []
@ statistics/files.py: opening
a mark of byte order is no part of a label
- self._data = self._data.removeprefix(_MARK)
+ pass
@ results/convert.py: result_values
a key that is there twice in JSON is refused
- if len(found) < len(pairs):
+ if False:
a lower bound above the upper one is refused
- if bounds[0] > bounds[1]:
+ if False:
@ statistics/files.py: opening
what a small file stands for does not fill the memory
- if len(data) > most:
+ if False:
@ designs/spending.py: spending looks
a look spends what is due beyond the looks before it
- due = spent - self.spent
+ due = spent
a rule is told what the looks so far have spent
- looks = looks.arriving(null)
+ looks = type(looks)().arriving(null)
what has crossed a bound does not go on
- upper = max(min(self.bound, _FAR), 1.0 - _FAR)
+ upper = _FAR
at the end the whole level is spent
- return alpha if fraction >= 1 else
+ return alpha / 2 if fraction >= 1 else
a sequence allows for one side at twice the level
- log = float(np.log1p((ratio + 1) ** 0.5 / (2 * alpha)))
+ log = float(np.log1p((ratio + 1) ** 0.5 / alpha))
@ questions/looks/looks.py: looks
what is not shown at the last look has failed
- "failed" if is_last else "go on"
+ "go on"
@ questions/looks/sequential.py: looks
a state whose levels are not those of its looks is refused
- isclose(look.level, level, rel_tol=1e-6)
+ True
nothing changes after the decision
- if self._looks and self._looks[-1].verdict != "go on":
+ if False:
few items of scores that are not 0/1 decide no early look
- if carried is not None and carried < FEW_CARRY:
+ if False:
a test without a plan starts at so many units
- if n < start:
+ if False:
a state goes on where it stopped
- level, so_far = self._level(look.n_units, so_far)
+ level, _ = self._level(look.n_units, so_far)
of errors fewer are better
- sides = ("greater", "less") if pair.drawn.of.higher_is_better else ("less", "greater")
+ sides = ("greater", "less")
@ questions/looks/sequential.py: looks
scores of an item stay
- if not np.array_equal(values[:, :known], self.values):
+ if False:
an item that was seen comes again
- if gone:
+ if False:
@ designs/spending.py: monitor
draws that tie with the boundary do not cross
- crossed = draws > (
+ crossed = draws >= (
@ training/history.py: monitor
m segments that differ can be swapped in 2^m ways only
- pvalue = max(pvalue, ldexp(1.0, -min(m, 1074))) if m else 1.0
+ pvalue = pvalue if m else 1.0
the p-value is the larger of t's and Hall's
- pvalue = max(pvalue, student.pvalue(corrected, 1.0, spread.degrees, side))
+ pvalue = student.pvalue(corrected, 1.0, spread.degrees, side)
the interval holds what neither t nor Hall's t rejects
- below = max(t, hall_inverse(t, skewness)) * spread.error
+ below = t * spread.error
what was spent before an improvement stays spent
- looks = DrawnLooks(rules.spent(len(self.checks)))
+ looks = DrawnLooks()
@ training/history.py: monitor
the first of equal checkpoints wins
- won = sign * in_bag > sign * self.winners_in_bag
+ won = sign * in_bag >= sign * self.winners_in_bag
optimism is never negative
- return max(0.0, sign * float(
+ return (sign * float(
@ training/monitor.py: monitor
a state that has changed is refused
- if _digest(told) != state["digest"]:
+ if False:
@ training/monitor.py: monitor
each real improvement is marked
- "+" if c.improved else ""
+ ""
@ results/notes.py: monitor
a run says so where few segments decide
- if x[1] < FEW_CARRY and
+ if x[1] < 0 and
@ training/monitor.py: monitor
steps increase
- step <= self.last.step
+ step < self.last.step
statistics against other references are refused
- not same or hypotheses.fingerprint not in (None, refs.fingerprint)
+ not same
@ integrations/transformers.py: training_loops
a trainer says how many segments a set has
- self._n_segments = len(data) if isinstance(data, Sized) else None
+ pass
rows after the set stay where they do not repeat it
- if marks[n_segments:] != list(again):
+ if False:
rows that fill batches begin again as often as it takes
- again = islice(cycle(marks[:n_segments]), len(marks) - n_segments)
+ again = islice(marks[:n_segments], len(marks) - n_segments)
where rows may fill batches a set that ends as it begins has no score
- if any(marks[-n:] == marks[:n] for n in range(1, len(marks))):
+ if False:
@ integrations/loop.py: training_loops
checkpoints are kept by a value that is logged
- if isinstance(key, str) and printed in key and
+ if False and
@ training/accumulator.py: accumulator options
the order of batches is nothing
- order = np.lexsort(rows.T[::-1])
+ order = np.arange(len(rows))
an id that comes twice counts once
- first[again + 1] = False
+ first[again + 1] = True
accumulators of different metrics are not merged
- if not is_same_metric(self.metric, other.metric):
+ if False:
@ logs/pivot.py: logs_runs
what a column of seeds numbers is runs
- return "runs", ""
+ return "mean", ""
systems with other numbers of runs are averaged
- if len(counts) > 1:
+ if False:
@ logs/missing.py: logs_runs
an item that a run has no score of is left out, and runs stay
- lacking.append({item for item in one.items.ids if scored[item] < n})
+ lacking.append(set())
means of epochs that vary more than items explain are a caution
- * len(every), 1.0)) > _UNLIKE_EPOCHS
+ * len(every), 1.0)) > 0
@ logs/pivot.py: logs_inspect logs_joining
an item none of whose answers was scored on purpose is left out
- kept = (repeats[:, 0] > 0) | np.logical_or.reduceat(gone, first)
+ kept = np.ones(len(first), dtype=np.bool_)
classes of different kinds are different metrics
- if len(known) > 1 and len({type(name) for name in classes}) == 1:
+ if len(known) > 1:
@ logs/missing.py: logs_joining
metrics of different items are refused or intersected
- if len({table.segment_ids for table in tables}) < 2:
+ if len({table.segment_ids for table in tables}) < 2 or missing == "available":
@ logs/missing.py: logs_settings
a gate refuses tasks that were not asked alike
- refused = [kind for kind in kinds if kind not in allowed]
+ refused = []
@ logs/log.py: logs_groups
the weights of a group are those of its score
- "micro": np.average(values, weights=sizes)
+ "micro": np.average(values)
@ logs/formats/tables.py: logs_missing
an empty answer of several is as one that has no row
- is_absent = is_gone & (is_absent | np.isin(known, known[~is_gone]))
+ pass
@ logs/formats/arenas.py: arenas
columns of battles that a caller names stand before others
- cells |= {str(role): table.cells[name] for name, role in roles.items() if role in OF_BATTLES}
+ pass
@ logs/joining.py: judged
the metric of people's scores is none of the judge
- tuple(one for one in log.rows if one.key.metric != column)
+ log.rows
@ logs/joining.py: logs_groups
the total is that of the largest group whose tasks are all compared
- if not any(metric == other and tasks < larger for other, larger in totals)
+ if True
@ logs/formats/format.py: logs_formats
of a file only the formats of its kind are asked
- source.suffix in self.suffixes.split() and self.fits(source)
+ self.fits(source)
@ logs/formats/harnesses.py: logs_inspect
of several runs the newest is read, wherever it was made
- return log.header.get("status") == "success", created, str(log.path)
+ return log.header.get("status") == "success", str(created), str(log.path)
@ logs/formats/agents.py: logs_agents
an error of promptfoo is no test without an assertion
-     if is_error:
+     if False:
runs of one name in a folder of DeepEval are called after their files
- systems = systems if len(set(systems)) == len(systems) else names
+ pass
a case of DeepEval that failed for an error alone has not failed
-     if first is not None and not has_failed:
+     if False:
@ logs/formats/format.py: logs_agents logs_missing
what ended with an error fails where its harness counts it so
- values[is_failed] = 0.0, 1.0
+ values[is_failed] = np.nan
@ questions/gates.py: logs_missing
a gate over items that one side lacks does not pass
- replace(check, verdict="undecided", barred=why) if check.verdict == "passed" else check
+ check
@ results/records.py: logs_missing
items that few lack on both sides bar no gate
- if pvalue > _UNLIKE:
+ if pvalue > 2:
@ results/forms.py: notes
cautions are never folded away
- n_printed = max(n_cautions, _PRINTED_NOTES)
+ n_printed = _PRINTED_NOTES
@ logs/formats/agents.py: logs_agents
the domain that a file of tau-bench is called after is its task
- named[path] = (match[2].lower() if match else "", agent)
+ named[path] = ("", agent)
a trial of tau-bench that ended with an error is told from one that failed
- value = None if is_gone else reward
+ value = reward
simulations that tau2-bench does not evaluate are no failures
-         if reward is None or ending in _UNSCORED:
+         if reward is None:
an instance of SWE-bench that ended with an error is told from one that is not resolved
-     "error_ids": "ended with an error",
+     "error_ids": 0.0,
@ logs/formats/harnesses.py: logs_agents
a sample of OpenAI evals that was asked and has no score is missing
- places = [*run.values, *((sample, 1) for sample in run.events if sample not in scored)]
+ places = [*run.values]
@ logs/formats/arenas.py: logs_agents
ties that older versions of AlpacaEval wrote as 0 are ties
- score = number(preference, where) or 1.5
+ score = number(preference, where) or 1.0
@ logs/rows.py: logs_joining
names of digits are in the order of all names
- order.sort(key=digits.__getitem__)
+ pass
@ logs/formats/tables.py: logs_columns
a column that is named is looked at under no other name
- simple = {name: plain(name) for name in names if name not in named}
+ simple = {name: plain(name) for name in names}
beside columns of scores that are named none is guessed
- if role in _OF_SCORES and are_scores_named:
+ if False:
columns that are named as systems are systems
- return roles.named, roles.are_systems, left_out
+ return roles.named, False, left_out
@ data/examples.py: sample
`demo --files` writes over no other file
- path.read_bytes() != content.encode()
+ path.read_bytes() == b""
@ compat/nltk.py: compat_nltk
NLTK's functions have NLTK's module path
- "translate.bleu_score": (
+ "bleu_score": (
@ compat/sacrebleu/draws.py: compat_sacrebleu
sacreBLEU's TER may be given an option without an effect
- if options.get("asian_support") is True and not (
+ if False and not (
@ text/tokenization.py: guards
words that are set apart need no tokeniser
- is_apart = found in UNSPACED
+ is_apart = False
the target language is the last
- code = pair[1] if pair else ""
+ code = pair[0] if pair else ""
@ statistics/guards.py: guards
a hundred tokenised outputs are enough
- min(_MANY_MARKED, max(_FEWEST_MARKED, _SHARE_MARKED * self.n))
+ max(_FEWEST_MARKED, _SHARE_MARKED * self.n)
where references are empty outputs may be
- seen.empty - expected.empty
+ seen.empty
words of the output in a list of references are a sentence
- >= _FEWEST_SHARED * len(pairs)
+ >= 0 * len(pairs)
runs are lists of all segments
- sizes != {n_references} and
+ True and
BLEU expects text that is not tokenised
- isinstance(metric, BLEU) and metric.tokenizer != "none"
+ False
@ statistics/interchange.py: guards
files keep what is said of texts
- _RARE = ("labels", "cautions")
+ _RARE = ("labels",)
@ results/notes.py: guards
a caution of one task is a caution still
- named = Caution(on_task, gap.kind) if isinstance(gap, Caution) else on_task
+ named = on_task
@ statistics/files.py: cli
SGML is no text
- elif tag := _SGML.match(self._data):
+ elif tag := None:
@ cli/output.py: cli
a pipe is opened once, when there is a result
- if is_new or target.is_dir() or target.is_file():
+ if True:
a gate says its verdict on the console whatever else it writes
- says = options.command == "gate" and STANDARD not in paths
+ says = False
@ integrations/inspect_ai.py: inspect_metric
the samples of a cluster are drawn together
- groups=labels if n_units < len(labels) else None,
+ groups=None,
the answers to a sample are averaged, whose order says nothing
- places.setdefault(sample, []).append(place)
+ places.setdefault(str(place), []).append(place)
where samples have unequal numbers of scores the interval is that of the mean beside it
- if len({len(of_sample) for of_sample in places.values()}) == 1:
+ if True:
@ integrations/evaluate/__init__.py: evaluate_module
a name that is no metric's is refused when the module is loaded
- if written(name) not in NAMED:
+ if False:
options go on to the estimate
- found = estimate(predictions, references, metric, **options)
+ found = estimate(predictions, references, metric)
@ integrations/evaluate/evaluate.py: evaluate_module
references may be one text a segment or several
- for references in (Sequence(text), text)
+ for references in (Sequence(text),)
@ integrations/pytest_plugin.py: pytest_plugin
the table of a gate that has failed is printed as well
- request.node.user_properties.append((_PROPERTY, str(error)))
+ pass
@ cli/commands.py: cli
a baseline that is an input is not read twice
- if paths and is_path and name not in paths:
+ if paths and is_path:
@ cli/commands.py: gates
a system of a table goes before a folder of its name
- if table is None and name in log_at(path, options).systems:
+ if False:
@ analysis/scores.py: rule
bounds are those of the metric where scores are averaged
- bounds=metric.bounds if aggregate.function is None else Metric.bounds,
+ bounds=metric.bounds,
@ analysis/estimate.py: rule
an interval of a score lies where scores do
- return method, (max(bounds[0], low), min(bounds[1], high))
+ return method, bounds
@ checks.py: spellings
arguments by position are those that have a place
- if len(args) > len(positional):
+ if False:
@ results/layout.py: forms
a title says how many runs there are
- f", {runs} runs" if runs else ""
+ ""
@ inference/families.py: ranking
a ranking holds the resampled differences of some pairs, not of all
- range(_TOGETHER, len(order), _TOGETHER)
+ []
@ inference/counts.py: roots
interpolation takes a step where it gains more than halving
- is_short = 2 * abs(tried)
+ is_short = 3 * abs(tried)
@ cli/commands.py: cold_start
a command loads what it needs
- if TYPE_CHECKING:
+ if True:
@ __init__.py: cli
who asks for a name of the other project of this name is told
- and intruder()
+ and ""
@ cli/output.py: cli
a description is text
- if options.describe and form == "text"
+ if options.describe
@ results/tabular.py: forms
errors far below the largest ask for no decimals
- _FAR_BELOW = 20
+ _FAR_BELOW = 1e300
@ statistics/files.py: extraction_of_files
a dot in a number parts no name
- re.compile(r"(?<!\d)\.|\.(?!\d)")
+ re.compile(r"\.")
a part of each name is left
- while len(names) > 1 and min(map(len, parts)) > 1 and
+ while len(names) > 1 and all(parts) and
@ cli/parser.py: cli
a name may begin with a dash
- yield f"{_NAME}{word}" if is_name else word
+ yield word
@ cli/inputs.py: cli
names are checked before anything is counted
- check_patterns(options.systems or (), systems_named, "systems")
+ pass
a baseline that is not there is the first thing said
- if options.command == "gate" and _known(name, systems, paths) is None:
+ if False:
the end of several paths names none of their systems
- if len(alike) == 1:
+ if alike:
@ cli/parser.py: cli
a metric is the option -m
- name = {"metric": "metrics", "system": "systems"}.get(argument.name, argument.name)
+ name = argument.name
@ metrics/bleu.py: metrics
the brevity penalty
- penalty = np.exp(np.minimum(0.0, 1.0 - ratio))
+ penalty = np.exp(np.minimum(0.0, ratio - 1.0))
at equal lengths nothing is penalised
- short = (sys_len < ref_len) & (sys_len > 0)
+ short = (sys_len <= ref_len) & (sys_len > 0)
no match is no score
- return np.where(np.any(correct != 0, axis=-1), score, 0.0)
+ return score
@ metrics/smoothing.py: sentence_bleu metrics
exponential smoothing halves from the first order without a match
- np.where(unmatched, 0.5**zeros, correct)
+ np.where(unmatched, 0.5 ** (zeros - 1), correct)
nothing is added to unigrams
- added[:1] = 0.0
+ added[:0] = 0.0
@ metrics/chrf.py: careless_input number_metrics metrics
more matches than n-grams of the reference are refused
- least = np.minimum(orders[..., 0], orders[..., 1])
+ least = orders[..., 0]
beta weighs recall
- (1 + factor) * precision * recall, factor * precision + recall
+ (1 + factor) * precision * recall, precision + factor * recall
@ metrics/error_rates.py: tercom
the length is the mean of references
- np.add.reduceat(ids.lengths, refs.first) / refs.counts
+ np.add.reduceat(ids.lengths, refs.first)
@ metrics/error_rates.py: levenshtein tokens
edits against nothing are 100
- return np.where((length == 0) & (edits > 0), 100.0, super().score(totals))
+ return super().score(totals)
@ metrics/confusion.py: number_metrics
classes that never occur count as 0, or not at all
- (average != "balanced" and not omit)
+ (average != "balanced")
@ metrics/probabilities.py: number_metrics
a bin holds its upper edge
- np.searchsorted(edges, pairs[:, 0])
+ np.searchsorted(edges, pairs[:, 0], side="right")
@ metrics/numbers.py: number_metrics
spread that squares cannot show is refused
- _LEAST_SPREAD = 1e-8
+ _LEAST_SPREAD = 0.0
@ designs/trials/metrics.py: trials
answers are drawn without replacement
- np.maximum(some - drawn, 0)
+ some
@ designs/trials/metrics.py: trials
trials of an item are counted once each
- return np.stack([right**2 / trials, trials**2], axis=1)
+ return np.stack([right**2, trials**2], axis=1)
flips of all trials want the same number of every item
- if self.k is None and numbers.size and np.ptp(numbers) > 0:
+ if False:
an item with too few trials is refused
- for i in np.flatnonzero(n < self.fewest)[:1]:
+ for i in np.flatnonzero(n < 0)[:1]:
@ designs/trials/cases.py: cases
tests that cannot be as small do not count, and others do
- factors = np.sum(np.triu(able), axis=1)
+ factors = np.ones(len(p))
@ designs/trials/cases.py: cases
an exact p-value is two-sided
- pvalues = np.minimum(pvalues, 2 * largest[last])
+ pvalues = np.minimum(pvalues, largest[last])
@ designs/trials/cases.py: cases
the test is chosen by numbers of items and trials
- test = "boschloo" if max(smallest) * len(smallest) <= level else "fisher"
+ test = "boschloo"
@ designs/trials/repeats.py: trials
chance in the pilot's trials is taken off
- TrialSpread(max(variance - chance, 0.0), trial, ceil(_BEYOND * pilot))
+ TrialSpread(max(variance, 0.0), trial, ceil(_BEYOND * pilot))
a design that costs less is found
- if n_items is not None and total is not None and (best is None or total < best[2]):
+ if n_items is not None and total is not None and best is None:
@ compat/sentence_bleu.py: sentence_bleu
a score at the threshold passes
- return np.asarray(scores, dtype=np.float64) >= self.threshold
+ return np.asarray(scores, dtype=np.float64) > self.threshold
@ text/ngrams.py: ngrams
orders that the reference lacks do not count
- counts[..., 0] *= counts[..., 1] > 0
+ counts[..., 0] *= 1
the best reference counts
- ranked = np.lexsort((-score(pairs), prepared.owner))
+ ranked = np.lexsort((score(pairs), prepared.owner))
@ text/ngrams.py: ngrams
a count is clipped by one reference, not by their sum
- limit = np.maximum.reduceat(counts, begins_ngram)
+ limit = np.add.reduceat(counts, begins_ngram)
@ text/levenshtein.py: levenshtein
what leaves one word of bits enters the next
- _TOP = np.uint64(63)
+ _TOP = np.uint64(62)
@ text/levenshtein.py: levenshtein
tokens of different pairs have different numbers
- base = offsets_of(highest + 1)
+ base = offsets_of(highest)
@ text/levenshtein.py: rouge
what a word of a row carries enters the next
- enter[1:] = second[1:]
+ enter[1:] = 0
of equal tokens no more count than the hypothesis has
- np.minimum(marked, groups.hyp_count)
+ marked
a token of the hypothesis is left out only where that alone keeps the length
- moves[i] = below[:, :-1] > table[:, 1:]
+ moves[i] = below[:, :-1] >= table[:, 1:]
@ text/porter.py: rouge
ion is taken off after s and t only
- (suffix != "ion" or before[-1] in "st")
+ True
@ text/tokenization.py: rouge
words of three letters are not stemmed
- stem(w) if len(w) > 3 else w
+ stem(w)
@ metrics/rouge.py: rouge
the first of equally good references counts
- np.lexsort((-best, refs.owner))[refs.first]
+ np.lexsort((np.arange(len(best))[::-1], -best, refs.owner))[refs.first]
@ designs/raters.py: raters
a rating without another says nothing of agreement
- counts = np.where(several, counts, 0)
+ counts = counts
ranks count half of the ratings at both ends
- middle = up_to - counts / 2
+ middle = up_to
@ designs/judges.py: rogan_gladen
a rate is clipped
- np.clip(ratio(top, bottom, 0.0), 0.0, 1.0)
+ ratio(top, bottom, 0.0)
without yes or no among labels these are the rate
- defined = (items > 0) & (people > 0) & (nobody > 0) & (np.abs(bottom) > 1e-12)
+ defined = np.abs(bottom) > 1e-12
@ analysis/estimate.py: rogan_gladen
a judge who hardly tells yes from no is a note
- if doubtful]
+ if not doubtful]
@ text/tercom.py: tercom
shifts of ten words
- MAX_SHIFT_SIZE = 10
+ MAX_SHIFT_SIZE = 9
shifts over fifty words
- MAX_SHIFT_DISTANCE = 50
+ MAX_SHIFT_DISTANCE = 49
a thousand candidates
- MAX_CANDIDATES = 1000
+ MAX_CANDIDATES = 1001
@ text/tercom.py: tercom
a beam of 25
- BEAM = 25
+ BEAM = 24
@ text/tokenization.py: tokenization
a dash is split from a real digit, not from an edge
- (classes[dash - 1] & (DIGIT | SPACE)) == DIGIT
+ (classes[dash - 1] & DIGIT) > 0
@ text/references.py: texts interchange
the fingerprint knows where texts end
- digest.update(lengths.astype("<i8").tobytes())
+ pass
references that are fewer than hypotheses are refused
- if n_references != n_hypotheses:
+ if n_references > n_hypotheses:
@ checks.py: checks frames spellings
True is no number
- isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
+ not isinstance(value, (int, np.integer)):
an option that is not a number is refused
- or found != found or found < minimum
+ or found < minimum
a score that is not finite is refused
- if not np.all(np.isfinite(numbers)):
+ if False:
columns with another index are refused
- len(index) == len(first[1]) and not index.equals(first[1])
+ False
two spellings of one argument are refused
- if name in kwargs or name in positional[: len(args)]:
+ if name in kwargs:
@ designs/spending.py: spending looks
a system that is worse is never shown by a sequence
- if z <= 0:
+ if False:
@ designs/judges.py: rogan_gladen
where the judge is useless the gradient is that of the labels
- share[..., 2], share[..., 4] = by_part
+ share[..., 2], share[..., 5] = by_part
@ designs/plans.py: plans
an item that was drawn counts 1/π times
- np.divide(1.0, self.chances) * is_run
+ 1.0 * is_run
the system that was run on all is a prediction too
- (1 - weights) * second]
+ 0 * weights * second]
a plan is refused for other references
- if len(known) > 1:
+ if False:
@ designs/plans.py: plans
strata that a plan drew within are not pooled in silence
-             if within is not None:
+             if False:
items that were run are a sample of their own, and so are the others
- return np.asarray(statistics[..., 0] > 0)
+ return np.ones(statistics.shape[:-1], np.bool_)
units are whole ones of what was drawn
- is_split = bool(drawn) and
+ is_split = False and
@ designs/plans.py: plans
squared residuals of few systems are shrunk
- kept = max(0.0, 1 - chance / spread)
+ kept = max(1.0, 1 - chance / spread)
no unit is drawn more than once
- if not np.any(above := ~sure & (found >= 1)):
+ if not np.any(above := ~sure & (found >= 9)):
@ questions/ranking/ranks.py: ranking
Borda's count is a mean of ranks
- return np.asarray(np.mean(ranks(
+ return np.asarray(np.median(ranks(
@ designs/trials/repeats.py: trials
a plan has the trials of items with an answer
- trials = trials or round(float(np.mean(answers.counts[answers.counts > 0])))
+ trials = trials or round(float(np.mean(answers.counts[answers.counts >= 0])))
@ logs/formats/agents.py: logs_agents
a task with one of two texts has a hash
- if any(texts) else ""
+ if all(texts) else ""
@ integrations/inspect_ai.py: inspect_metric
two clusters have an interval
- if n_units < 2:
+ if n_units < 3:
@ pictures/findings.py: report
a headline says in which metrics nothing was found
- said += f"; no evidence in {listed(by['open'], _SAID, 'or')}" if by["open"] else ""
+ said += ""
@ results/forms.py: notes
a caution stands above the tables
- above = [note for note in notes if note.startswith(CAUTION)]
+ above = [note for note in notes if note.startswith("†")]
@ results/records.py: result_values
both p-values of a difference are printed
- also = f" ({adjusted} adjusted for all comparisons)" if adjusted != p else ""
+ also = ""
@ pictures/findings.py: report
a mark of few groups stands beside a claim alone
- sure += mark_of(c, scores[0]) if n_beaten else ""
+ sure += mark_of(c, scores[0]) if own else ""
@ logs/pivot.py: one_word
what a log calls its items is the word of all displays
- unit=self.called[0],
+ unit="item",
@ analysis/drawn.py: one_word
what a file calls its tasks is the word of all displays
- "by": part if part != "task" else None,
+ "by": None,
@ analysis/tasks.py: one_word
a total is called after its parts
- return f"both {plural(part)}" if len(tables) == 2 else
+ return "macro" if len(tables) == 2 else
@ questions/gates.py: one_word
a gate counts the units of the scores
- units = plural(only((check.unit for check in self.checks), "unit"))
+ units = "items"
@ cli/inputs.py: plans
a plan that changes nothing is said
- if all(a.metric == b.metric for a, b in zip(of_all, tables, strict=False)):
+ if not of_all:
@ results/tabular.py: widths
findings in a pipe are lines of 80 columns
- for some, at in ((self.above, width or self.opening), (below, width))
+ for some, at in ((self.above, width), (below, width))
"""


def _read(table: str) -> list[Mutant]:
    found: list[Mutant] = []
    file, tests = "", ()
    for block in table.strip().split("\n@ "):
        header, *lines = block.removeprefix("@ ").strip().split("\n")
        file, _, names = header.partition(": ")
        tests = tuple(names.split())
        if len(lines) % 3:
            raise ValueError(f"{file} needs three lines a mutant: a promise, - old, + new")
        for promise, old, new in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            if old[:2] != "- " or new[:2] != "+ ":
                raise ValueError(f"{file}, {promise!r}: expected - old, + new")
            found.append(Mutant(f"evalstats/{file}", old[2:], new[2:], promise, tests))
    return found


MUTANTS = _read(TABLE)
