"""The audit of `benchmarks`: printed p-values are the tools' own, the calibrated one is compare's."""

import sacrebleu.metrics
from sacrebleu.significance import PairedTest

import evalstats as es
from benchmarks.audit import audited


def test_the_audit_prints_the_numbers_of_the_tools(sample):
    names = ("baseline", "copy", "slightly-better")
    systems = {name: sample.systems[name][:30] for name in names}
    references = [entry[0] for entry in es.References(sample.references[:30])]
    rows = iter(audited(systems, references))
    for row in es.compare(systems, references, baseline="baseline"):
        pair = [(name, systems[name]) for name in ("baseline", row.system)]
        for kind in ("bs", "ar"):
            metrics = {"BLEU": sacrebleu.metrics.BLEU(references=[references])}
            printed = PairedTest(pair, metrics, None, kind)()[1]["BLEU"][1].p_value
            assert next(rows) == (row.system, f"sacreBLEU --paired-{kind}", printed, row.pvalue)
        share = es.bleu_bootstrap_test(references, *(texts for _, texts in pair), 9999)
        assert next(rows) == (row.system, "evaluatio bleu_bootstrap_test", share, row.pvalue)
    assert next(rows, None) is None
