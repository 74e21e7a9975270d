"""A `Seq2SeqTrainer` of a tiny BART that learns one sentence, for tests and for their processes."""

from __future__ import annotations

import numpy as np

WORDS = ["<pad>", "<s>", "</s>", "<unk>", *"abcdefgh"]


def tokenizer():
    """Return a tokenizer of eight letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: i for i, word in enumerate(WORDS)}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"pad": "<pad>", "bos": "<s>", "eos": "</s>", "unk": "<unk>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, **{f"{name}_token": word for name, word in special.items()}
    )


def encoded(known, references):
    """Return a data set with these references and as many random sources."""
    letters = np.random.default_rng(0).integers(4, 12, size=(len(references), 4))
    sources = [" ".join(WORDS[i] for i in row) for row in letters]
    return [
        {**known(source), "labels": [*known(reference)["input_ids"], 2]}
        for source, reference in zip(sources, references, strict=True)
    ]


def collate(rows):
    """Return rows of one length as a batch."""
    import torch

    names = ("input_ids", "attention_mask", "labels")
    return {name: torch.tensor([row[name] for row in rows]) for name in names}


def trainer(folder, data, eval_dataset, n_checks, learning_rate, watch, compute_metrics, **options):
    """Return a trainer that evaluates every two steps; `watch` is a list of callbacks."""
    import torch
    from transformers import (
        BartConfig,
        BartForConditionalGeneration,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
        set_seed,
    )

    torch.set_num_threads(1)
    set_seed(0)
    sizes = {"layers": 1, "attention_heads": 2, "ffn_dim": 32}
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(WORDS),
            d_model=16,
            **{f"{part}_{key}": n for part in ("encoder", "decoder") for key, n in sizes.items()},
            max_position_embeddings=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
            forced_eos_token_id=None,
            dropout=0.0,
        )
    )
    usual = {"save_strategy": "no", "per_device_eval_batch_size": 12}
    arguments = Seq2SeqTrainingArguments(
        output_dir=str(folder),
        max_steps=2 * n_checks,
        eval_strategy="steps",
        eval_steps=2,
        per_device_train_batch_size=12,
        use_cpu=True,
        learning_rate=learning_rate,
        lr_scheduler_type="constant",
        logging_steps=1000,
        predict_with_generate=True,
        generation_max_length=10,
        report_to=[],
        disable_tqdm=True,
        **{**usual, **options},
    )
    return Seq2SeqTrainer(
        model=model,
        args=arguments,
        train_dataset=data,
        eval_dataset=eval_dataset,
        data_collator=collate,
        callbacks=watch,
        compute_metrics=compute_metrics,
    )
