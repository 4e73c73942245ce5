"""The client: every operation by its name, and the objects of datasets and keys."""

from __future__ import annotations

import datetime
import json
import math
import re
import threading
import urllib.parse
from typing import Any, Callable, Iterable, Iterator

from ._errors import ConnectionFailed
from ._operations import OPERATIONS
from ._transport import Options, Receipt, Request, send

_MEDIA_TYPES = {
    "json": "application/json",
    "md": "text/markdown",
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "arrow": "application/vnd.apache.arrow.stream",
    "geojson": "application/geo+json",
    "atom": "application/atom+xml",
}


class Answer(dict):
    """An answer of the service: a dict, with what it cost as ``receipt``."""

    receipt: Receipt


class Register:
    """A register of datasets.

    >>> register = Register("http://localhost:8787", key="dsr_…")        # doctest: +SKIP
    >>> for airport in register.dataset("airports").search(country="CH", sort="-elevation"):  # doctest: +SKIP
    ...     print(airport["name"])
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        max_price: float | None = None,
        signer: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        cache: Any = None,
        retries: int = 2,
        longest_wait: float = 60,
        timeout: float = 60,
        on_call: Callable[[Receipt], None] | None = None,
    ):
        if not re.match(r"https?://", url):
            raise ValueError(f"url must begin with http:// or https:// (got {url})")
        self.url = url.rstrip("/")
        self._options = Options(key, max_price, signer, cache, retries, longest_wait, timeout)
        self._on_call = on_call
        self._lock = threading.Lock()
        self._calls, self._micros, self._balance = 0, 0, None
        self.keys = Keys(self)

    def dataset(self, dataset: str) -> "Dataset":
        return Dataset(self, dataset)

    @property
    def cost(self) -> dict[str, Any]:
        """What the calls of this object cost together."""
        with self._lock:
            return {"calls": self._calls, "charge_eur": self._micros / 1e6, "balance_eur": self._balance}

    def call(
        self,
        operation: str,
        arguments: dict[str, Any] | None = None,
        *,
        format: str | None = None,
        max_price: float | None = None,
        idempotency_key: str | None = None,
        **parameters: Any,
    ) -> Any:
        """Calls an operation with path, query and body as one set of arguments.

        Names that are no identifiers, such as ``min_price.list``, are members of ``arguments``. The answer is an
        ``Answer``; with another ``format`` it is a text, and bytes for ``arrow``.
        """
        request = request_of(self.url, operation, {**(arguments or {}), **parameters}, format)
        body, receipt = send(self._options, request, max_price, idempotency_key)
        with self._lock:
            self._calls += 1
            self._micros += round(receipt.charge_eur * 1e6)
            self._balance = self._balance if receipt.balance_eur is None else receipt.balance_eur
        if self._on_call is not None:
            self._on_call(receipt)
        if format == "arrow":
            return body
        text = body.decode("utf-8", "replace")
        if OPERATIONS[operation].get("text") or format not in (None, "json"):
            return text
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise ConnectionFailed(f"{operation}: the answer is no JSON object: {text[:200].strip() or 'it is empty'}")
        answer = Answer(value)
        answer.receipt = receipt
        return answer

    def datasets(self) -> Answer:
        """The datasets with their sizes, licences and prices. Free."""
        return self.call("datasets_list")

    def search(self, q: str, **parameters: Any) -> Answer:
        """Records of every dataset by name or key. Free."""
        return self.call("search", q=q, **parameters)

    def sql(self, sql: str, parameters: Any = None, **options: Any) -> Answer:
        """One SELECT over all datasets; ``parameters`` are bound to ``?`` (a list) or ``$name`` (a dict). Free."""
        return self.call("sql_query", {"sql": sql, "parameters": parameters}, **options)

    def quote(self, operation: str, dataset: str | None = None, **arguments: Any) -> Answer:
        """The most that a call would cost, without making it. Free."""
        return self.call("quote", {"operation": operation, "dataset": dataset, "arguments": arguments})


class Keys:
    """Keys and their credit."""

    def __init__(self, register: Register):
        self._register = register

    def create(self, email: str, **options: Any) -> Answer:
        """A new key with its welcome credit. The key is in this answer only."""
        return self._register.call("keys_create", email=email, **options)

    def me(self, **parameters: Any) -> Answer:
        """The key of the register object, its credit and its ledger."""
        return self._register.call("keys_me", **parameters)

    def usage(self, **parameters: Any) -> Answer:
        return self._register.call("keys_usage", **parameters)

    def topup(self, amount_eur: float) -> Answer:
        """The address of a checkout at which a person pays."""
        return self._register.call("keys_topup", amount_eur=amount_eur)


class Search:
    """The records that a search matches, page by page: iterate over it, or over ``pages()``."""

    def __init__(self, read_page: Callable[[str | None], Answer], start: str | None):
        self._read_page = read_page
        self._start = start

    def page(self) -> Answer:
        """One page: the first, or the one of the ``cursor`` of the search."""
        return self._read_page(self._start)

    def pages(self) -> Iterator[Answer]:
        """Pages as they are read; each one is a call with the price of a search."""
        cursor = self._start
        while True:
            page = self._read_page(cursor)
            yield page
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for page in self.pages():
            yield from page["items"]

    def first(self, count: int) -> list[dict[str, Any]]:
        """A list of the first records, at most ``count``: no page is read for those after them."""
        records: list[dict[str, Any]] = []
        if count <= 0:
            return records
        for record in self:
            records.append(record)
            if len(records) >= count:
                break
        return records

    def rows(self) -> list[dict[str, Any]]:
        """Records as flat rows: id, slug, name and the attributes."""
        return [{**{name: record[name] for name in ("id", "slug", "name")}, **record["attributes"]} for record in self]

    def to_pandas(self) -> Any:
        """All records as a pandas.DataFrame; needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error

        return pandas.DataFrame(self.rows())

    def to_polars(self) -> Any:
        """All records as a polars.DataFrame; needs polars."""
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_polars needs polars: pip install polars") from error

        return polars.DataFrame(self.rows(), infer_schema_length=None)


class Dataset:
    """The operations of one dataset. ``arguments`` has filters whose names are no identifiers."""

    def __init__(self, register: Register, dataset: str):
        self.id = dataset
        self._register = register

    def _call(self, operation: str, arguments: dict[str, Any] | None, own: dict[str, Any], options: dict[str, Any]) -> Any:
        return self._register.call(operation, {**(arguments or {}), "dataset": self.id, **own}, **options)

    def search(self, arguments: dict[str, Any] | None = None, **parameters: Any) -> Search:
        """Records by words, place and filters. A call is made for each page that is read."""
        start = parameters.pop("cursor", None)
        return Search(lambda cursor: self._call("entity_search", arguments, {"cursor": cursor}, parameters), start)

    def get(self, record: str, **parameters: Any) -> Answer:
        """One record by id, slug or key."""
        return self._call("entity_get", None, {"entity_id": record}, parameters)

    def batch(self, ids: Iterable[str], **parameters: Any) -> Answer:
        """Several records, in the order of ``ids``; the unknown ones are in ``missing``."""
        return self._call("entity_batch", None, {"ids": list(ids)}, parameters)

    def similar(self, record: str, **parameters: Any) -> Answer:
        return self._call("entity_similar", None, {"entity_id": record}, parameters)

    def facts(self, record: str, **parameters: Any) -> Answer:
        """Every observed value of a record, and which ones won."""
        return self._call("entity_history", None, {"entity_id": record}, parameters)

    def prices(self, record: str) -> Answer:
        return self._call("entity_prices", None, {"entity_id": record}, {})

    def audit(self, record: str) -> str:
        """What callers without a key see of a record, as Markdown. Free."""
        return self._call("entity_audit", None, {"entity_id": record}, {})

    def compare(self, ids: Iterable[str], arguments: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        """Up to 5 records next to each other."""
        return self._call("entity_compare", arguments, {"ids": list(ids)}, parameters)

    def facets(self, by: str | list[str], arguments: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        """Values of attributes with counts. Free for public attributes."""
        return self._call("dataset_facets", arguments, {"by": by}, parameters)

    def stats(self, attribute: str | list[str], arguments: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        """Counts, quantiles and means of numbers, in groups."""
        return self._call("dataset_stats", arguments, {"attribute": attribute}, parameters)

    def timeseries(self, attribute: str, arguments: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        return self._call("dataset_timeseries", arguments, {"attribute": attribute}, parameters)

    def changelog(self, arguments: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        return self._call("dataset_changelog", arguments, {}, parameters)

    def changes(self, since: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Every change since a moment, page after page. For plans with changes."""
        while True:
            page = self._call("dataset_changes", None, {"since": since}, parameters)
            yield from page["items"]
            if not page["items"] or page["next_since"] == since:
                return
            since = page["next_since"]

    def export(self, format: str = "csv") -> Answer:
        """A link to the whole dataset. For plans with exports."""
        return self._call("dataset_export", {"format": format}, {}, {})

    def sql(self, sql: str, parameters: Any = None, **options: Any) -> Answer:
        """One SELECT over the tables of the dataset. Free."""
        return self._call("dataset_sql", {"sql": sql, "parameters": parameters}, {}, options)

    def schema(self) -> Answer:
        return self._call("dataset_schema", None, {}, {})

    def status(self) -> Answer:
        return self._call("dataset_status", None, {}, {})

    def profile(self) -> Answer:
        return self._call("dataset_profile", None, {}, {})

    def examples(self, **parameters: Any) -> Answer:
        """Real records with every value. Free."""
        return self._call("dataset_examples", None, {}, parameters)

    def samples(self) -> Answer:
        return self._call("dataset_samples", None, {}, {})

    def guide(self) -> str:
        """The guide for agents, as Markdown. Free."""
        return self._call("dataset_guide", None, {}, {})

    def report(self, record: str, message: str, **parameters: Any) -> Answer:
        """Reports a mistake in a record to the operators. Free."""
        return self._call("entity_report", None, {"entity_id": record, "message": message}, parameters)


def request_of(base: str, name: str, arguments: dict[str, Any], format: str | None) -> Request:
    """The request of an operation. Raises ``ValueError`` or ``TypeError`` for what cannot be sent."""
    if name not in OPERATIONS:
        raise ValueError(f"no operation {name}: the client has {', '.join(OPERATIONS)}")
    operation = OPERATIONS[name]
    remaining = dict(arguments)

    def part(match: re.Match[str]) -> str:
        value = remaining.pop(match[1], None)
        if not isinstance(value, str) or value == "":
            raise ValueError(f"{name} needs {match[1]}")
        if value in (".", ".."):
            raise ValueError(f"{match[1]} must not be '{value}': it would name another path")
        # Every point is encoded: the service reads a final .md as a format.
        return urllib.parse.quote(value, safe="").replace(".", "%2E")

    path = re.sub(r"\{(\w+)\}", part, operation["path"])
    present = {parameter: _sendable(parameter, value) for parameter, value in remaining.items() if value is not None}
    query = [] if operation["method"] != "GET" else [(parameter, _text(parameter, value)) for parameter, value in present.items()]
    if format is not None:
        query.append(("format", format))
    suffix = f"?{urllib.parse.urlencode(query)}" if query else ""
    body = json.dumps(present).encode() if operation["method"] != "GET" and present else None
    return Request(
        operation=name,
        method=operation["method"],
        url=f"{base}{path}{suffix}",
        body=body,
        once=bool(operation.get("change")),
        priced="price" in operation,
        accept="*/*" if operation.get("text") else _MEDIA_TYPES[format or "json"],
    )


def _text(name: str, value: Any) -> str:
    """A parameter as the service reads it: lists with commas, objects as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        # A comma inside an element is written as \\, and in a key of a record as %2C.
        comma = "%2C" if name == "ids" else "\\,"
        return ",".join(_text("", element).replace(",", comma) for element in value)
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _sendable(name: str, value: Any) -> Any:
    """A value as JSON has it, dates and times as their ISO texts. Raises ``TypeError`` for one that has no such form."""
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise TypeError(f"{name} needs a time zone: datetime(…, tzinfo=timezone.utc)")
        return value.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [_sendable(name, element) for element in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _sendable(name, member) for key, member in value.items()}
    raise TypeError(f"{name} must be a text, number, bool, date, list or dict with text keys (got {value!r:.60})")
