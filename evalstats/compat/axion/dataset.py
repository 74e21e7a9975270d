"""`axion.dataset`: test cases, what they are made of, and collections of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar
from uuid import uuid4

from evalstats.checks import choice, listed
from evalstats.errors import InputError, InputTypeError

#: What a run of the system under test fills in.
_RUNTIME = ("actual_output", "retrieved_content", "latency", "trace", "additional_output")
_ROLES = {"user": ("user", "human"), "assistant": ("assistant", "ai")}


@dataclass
class HumanMessage:
    """What the user said."""

    role: ClassVar[str] = "user"
    content: str | None = None


@dataclass
class AIMessage:
    """What the system answered."""

    role: ClassVar[str] = "assistant"
    content: str | None = None
    tool_calls: Any = None


@dataclass
class MultiTurnConversation:
    """Messages in order, objects or dicts with `role` and `content`, and the text expected."""

    messages: Sequence[Any]
    reference_text: str | None = None
    reference_tool_calls: Any = None
    rubrics: Mapping[str, str] | None = None
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not listed(self.messages, "messages", "messages"):
            raise InputError("messages is empty; give at least one message")

    def said(self, role: str, strategy: str) -> str | None:
        """Return the last text of a role, or the first one; `None` if it said nothing."""
        texts = [_part(m, "content") for m in self.messages if _part(m, "role") in _ROLES[role]]
        return next(iter(texts if strategy == "first" else texts[::-1]), None)


def _part(message: object, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


@dataclass
class DatasetItem:
    """One test case: a candidate and its reference, or several (axion takes one).

    Absent texts count as empty, as in axion. A conversation fills in what is not given: `query`
    and `actual_output` are the last words of the user and of the system (with
    ``conversation_extraction_strategy="first"`` the first ones), `expected_output` is its
    `reference_text`. All else is kept for reports, and for the `field_mapping` of a metric.
    """

    actual_output: str | None = None
    expected_output: str | Sequence[str] | None = None
    query: str | None = None
    retrieved_content: Any = None
    metadata: Any = None
    id: str = field(default_factory=lambda: str(uuid4()))
    conversation: Any = field(default=None, kw_only=True)
    conversation_extraction_strategy: str = field(default="last", kw_only=True)
    additional_input: dict[str, Any] = field(default_factory=dict, kw_only=True)
    additional_output: dict[str, Any] = field(default_factory=dict, kw_only=True)
    latency: float | None = field(default=None, kw_only=True)
    trace: Any = field(default=None, kw_only=True)
    trace_id: str | None = field(default=None, kw_only=True)
    observation_id: str | None = field(default=None, kw_only=True)
    document_text: str | None = field(default=None, kw_only=True)
    actual_ranking: Any = field(default=None, kw_only=True)
    expected_ranking: Any = field(default=None, kw_only=True)
    tools_called: Any = field(default=None, kw_only=True)
    expected_tools: Any = field(default=None, kw_only=True)
    user_tags: list[str] = field(default_factory=list, kw_only=True)
    judgment: Any = field(default=None, kw_only=True)
    critique: str | None = field(default=None, kw_only=True)
    acceptance_criteria: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        strategy = self.conversation_extraction_strategy
        choice(strategy, ("first", "last"), "conversation_extraction_strategy")
        if self.conversation is None:
            return
        if not hasattr(self.conversation, "messages"):
            self.conversation = MultiTurnConversation(self.conversation)
        talk = self.conversation
        for name, text in (
            ("query", talk.said("user", strategy)),
            ("actual_output", talk.said("assistant", strategy)),
            ("expected_output", talk.reference_text),
        ):
            if getattr(self, name) is None:
                setattr(self, name, text)

    @property
    def single_turn_query(self) -> str | None:
        """The query of a test case without conversation."""
        return self.query if self.conversation is None else None

    def keys(self) -> list[str]:
        """Return the names of all fields."""
        return [entry.name for entry in fields(self)]

    def values(self) -> list[Any]:
        """Return the values of all fields."""
        return [getattr(self, name) for name in self.keys()]

    def items(self) -> list[tuple[str, Any]]:
        """Return names and values."""
        return list(zip(self.keys(), self.values(), strict=True))

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a field, or the default for a name that is none."""
        return getattr(self, key, default)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict, conversations included."""
        return asdict(self)

    def update(self, other: DatasetItem | Mapping[str, Any], overwrite: bool = True) -> None:
        """Take over values of a dict, or those that another item has, but for its id.

        With `overwrite=False` only fields that have no value yet.
        """
        if isinstance(other, DatasetItem):
            values = {k: v for k, v in other.items() if k != "id" and not _absent(v)}
        elif isinstance(other, Mapping):
            values = dict(other)
        else:
            raise InputTypeError(
                f"Unsupported update type {type(other).__name__}; give a DatasetItem or a dict"
            )
        for key, value in values.items():
            if key not in self.keys():
                raise InputError(
                    f"DatasetItem has no field {key!r}; it has {', '.join(self.keys())}"
                )
            if overwrite or _absent(getattr(self, key)):
                setattr(self, key, value)

    def update_runtime(self, **values: Any) -> None:
        """Take over what a run produced: output, retrieved content, latency, trace, additions.

        Other names are ignored, as in axion.
        """
        self.update({key: value for key, value in values.items() if key in _RUNTIME})

    def merge_metadata(self, metadata: Mapping[str, Any] | str) -> None:
        """Add to the metadata, kept as a JSON object; text that is none goes under "raw"."""
        self.metadata = json.dumps({**_metadata(self.metadata), **_metadata(metadata)})


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, (dict, list)) and not value)


def _metadata(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            return {"raw": value}
        return found if isinstance(found, dict) else {"raw": value}
    return dict(value or {})


@dataclass
class Dataset:
    """Test cases under a name."""

    items: list[DatasetItem] = field(default_factory=list)
    name: str = "dataset"
    description: str = field(default="", kw_only=True)
    version: str = field(default="1.0", kw_only=True)
    metadata: Any = field(default=None, kw_only=True)

    @classmethod
    def create(cls, name: str = "dataset", items: Sequence[Any] = (), **options: Any) -> Dataset:
        """Make a data set of items, dicts, or strings, which are queries."""
        made = cls(name=name, **options)
        made.add_items([{"query": item} if isinstance(item, str) else item for item in items])
        return made

    def add_item(self, item: DatasetItem | Mapping[str, Any]) -> None:
        """Append an item, or one made of a dict."""
        self.items.append(as_item(item, "item"))

    def add_items(self, items: Sequence[DatasetItem | Mapping[str, Any]]) -> None:
        """Append several."""
        self.items += as_items(items, "items")

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[DatasetItem]:
        return iter(self.items)

    def __getitem__(self, index: int) -> DatasetItem:
        return self.items[index]


def as_items(inputs: Any, name: str, needed: Collection[str] = ()) -> list[DatasetItem]:
    """Return the items of a `Dataset`, a sequence of items or dicts, or a data frame."""
    if isinstance(inputs, Dataset):
        inputs = inputs.items
    elif hasattr(inputs, "to_dict") and hasattr(inputs, "columns"):
        inputs = inputs.to_dict("records")  # a data frame
    entries = listed(inputs, name, "dataset items")
    return [as_item(entry, f"{name}[{i}]", needed) for i, entry in enumerate(entries)]


def as_item(entry: object, name: str, needed: Collection[str] = ()) -> DatasetItem:
    """Return an item, made of a dict if need be; keys that are no fields are ignored, as in axion.

    A dict without a conversation must have the keys `needed`.
    """
    if isinstance(entry, Mapping):
        for key in needed:
            if key not in entry and "conversation" not in entry:
                raise InputError(f"{name} has no {key!r}; its keys are {', '.join(entry)}")
        known = DatasetItem.__dataclass_fields__
        return DatasetItem(**{key: value for key, value in entry.items() if key in known})
    if not isinstance(entry, DatasetItem):
        raise InputTypeError(f"{name} must be a DatasetItem or a dict, got {type(entry).__name__}")
    return entry
