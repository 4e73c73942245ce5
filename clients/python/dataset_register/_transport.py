"""One HTTP call: retries, conditional requests, Idempotency-Key, the most that it may cost, payment by x402."""

from __future__ import annotations

import base64
import email.utils
import hashlib
import http.client
import json
import random
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable

from ._errors import ConnectionFailed, PaymentError, RegisterError, error_of


@dataclass(frozen=True)
class Receipt:
    """What a call cost, and where its answer comes from."""

    operation: str
    status: int
    charge_eur: float
    #: Credit of the key after the call; None for a free one.
    balance_eur: float | None
    request_id: str | None
    #: Id of the release that answered.
    release: str | None
    #: The service answered 304, and the body is from the cache.
    cached: bool
    attempts: int
    #: Where the next page of a CSV or NDJSON begins; None on the last one.
    next_cursor: str | None
    #: A statement has more rows than this answer.
    truncated: bool


class MemoryCache:
    """Answers for conditional requests; drops those that were not used for the longest time."""

    def __init__(self, max_bytes: int = 20_000_000):
        self._max_bytes = max_bytes
        self._size = 0
        self._answers: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> tuple[str, bytes] | None:
        """ETag and body of an answer, or None."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def set(self, key: str, etag: str, body: bytes) -> None:
        with self._lock:
            if key in self._answers:
                self._size -= len(self._answers.pop(key)[1])
            if len(body) > self._max_bytes:
                return
            self._answers[key] = (etag, body)
            self._size += len(body)
            while self._size > self._max_bytes:
                self._size -= len(self._answers.popitem(last=False)[1][1])


@dataclass(frozen=True)
class Options:
    """Settings of all calls of a ``Register``."""

    key: str | None
    max_price: float | None
    signer: Callable[[dict[str, Any]], dict[str, Any]] | None
    cache: Any
    retries: int
    longest_wait: float
    timeout: float


@dataclass(frozen=True)
class Request:
    """A request before its headers."""

    operation: str
    method: str
    url: str
    body: bytes | None
    #: Changes something, so that it needs an Idempotency-Key.
    once: bool
    priced: bool
    accept: str


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key must not follow to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def send(
    options: Options, request: Request, max_price: float | None, idempotency_key: str | None
) -> tuple[bytes, Receipt]:
    """Body and receipt of a call. Raises a ``RegisterError`` or ``ConnectionFailed``."""
    most = options.max_price if max_price is None else max_price
    headers = _headers(options, request, most, idempotency_key)
    credential = hashlib.sha256((options.key or "").encode()).hexdigest()[:16]
    cache_key = f"{request.accept} {credential} {request.url}"
    stored = options.cache.get(cache_key) if options.cache is not None and request.method == "GET" else None
    if stored:
        headers["If-None-Match"] = stored[0]
    attempt = 0
    while True:
        attempt += 1
        wait = random.uniform(0.25, 0.75) * 2 ** (attempt - 1)
        error: Exception
        try:
            status, response_headers, body = _attempt(options, request, headers)
        except ConnectionFailed as failure:
            error = failure
        else:
            if status == 304 and stored:
                return stored[1], _receipt(request, status, response_headers, attempt, cached=True)
            if 200 <= status < 300:
                etag = response_headers.get("ETag")
                if options.cache is not None and request.method == "GET" and etag:
                    options.cache.set(cache_key, etag, body)
                return body, _receipt(request, status, response_headers, attempt)
            failure = error_of(status, body.decode("utf-8", "replace"))
            if _pay(options, request, most, response_headers, failure, headers):
                continue
            if not failure.retriable and status not in (502, 504):
                raise failure
            error = failure
            stated = seconds_of(response_headers.get("Retry-After"))
            if stated is None:
                stated = failure.body.get("retry_after_seconds")
            wait = wait if stated is None else stated
        if attempt > options.retries or wait > options.longest_wait:
            raise error
        time.sleep(wait)


def _headers(options: Options, request: Request, most: float | None, idempotency_key: str | None) -> dict[str, str]:
    headers = {"Accept": request.accept, "User-Agent": "dataset-register-client-python"}
    if options.key is not None:
        headers["Authorization"] = f"Bearer {options.key}"
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if request.priced and most is not None:
        headers["X-Max-Price-EUR"] = f"{most:.6f}"
    # Repeats of a paid call are stored by key: without one only changes have them.
    if idempotency_key is None and (request.once or (request.priced and options.key is not None)):
        idempotency_key = str(uuid.uuid4())
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    return headers


def _attempt(options: Options, request: Request, headers: dict[str, str]) -> tuple[int, Any, bytes]:
    message = urllib.request.Request(request.url, data=request.body, headers=headers, method=request.method)
    try:
        with _OPENER.open(message, timeout=options.timeout) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionFailed(f"{request.method} {request.url.split('/v1')[0]}: {error}") from error


def _pay(
    options: Options, request: Request, most: float | None, response: Any, failure: RegisterError, headers: dict[str, str]
) -> bool:
    """Pays the terms of a 402 once. False: there is no signer, the call was paid already, or it costs too much."""
    encoded = response.get("PAYMENT-REQUIRED")
    if not isinstance(failure, PaymentError) or options.signer is None or options.key is not None or not encoded:
        return False
    if "PAYMENT-SIGNATURE" in headers:
        return False
    if most is not None and failure.price_eur is not None and failure.price_eur > most:
        return False
    try:
        terms = json.loads(base64.b64decode(encoded))
    except ValueError:
        return False  # Another server wrote it.
    if not isinstance(terms, dict) or not terms.get("accepts"):
        return False
    payment = json.dumps(options.signer(terms)).encode()
    headers["PAYMENT-SIGNATURE"] = base64.b64encode(payment).decode()
    return True


def _receipt(request: Request, status: int, headers: Any, attempts: int, cached: bool = False) -> Receipt:
    def number(name: str) -> float | None:
        return float(headers[name]) if name in headers else None

    # A repeat was charged the first time.
    replayed = "Idempotency-Replayed" in headers and attempts == 1
    return Receipt(
        operation=request.operation,
        status=status,
        charge_eur=0.0 if replayed else number("X-Charge-EUR") or 0.0,
        balance_eur=number("X-Balance-EUR"),
        request_id=headers.get("X-Request-Id"),
        release=headers.get("X-Dataset-Version"),
        cached=cached,
        attempts=attempts,
        next_cursor=headers.get("X-Next-Cursor"),
        truncated=headers.get("X-Truncated") == "true",
    )


def seconds_of(header: str | None, now: float | None = None) -> float | None:
    """Seconds of a Retry-After, which is a number or a date; None without one."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        moment = email.utils.parsedate_to_datetime(header).timestamp()
    except (TypeError, ValueError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
