"""Errors of calls as classes, with the server's advice."""

from __future__ import annotations

import json
from typing import Any

from ._operations import ERROR_STATUS


class RegisterError(Exception):
    """An error of the service. ``code`` is stable: branch on it, never on the message."""

    def __init__(self, status: int, body: dict[str, Any]):
        self.status = status
        self.body = body
        self.code: str = body["error"]
        #: What to do instead; empty if the service has no advice.
        self.advice: str = body.get("alternative_action") or ""
        self.retriable: bool = bool(body.get("is_retriable"))
        self.request_id: str | None = body.get("request_id")
        super().__init__(f"{body['message']} {self.advice}".strip())


class InvalidRequestError(RegisterError):
    """A parameter, filter, statement or body that the service does not accept: 400, 405, 413, 415 and 422."""


class CredentialError(RegisterError):
    """No credential, or one that is not valid: 401."""


class PaymentError(RegisterError):
    """The call has a price that was not paid, or the credit is used up: 402 and 412."""

    @property
    def price_eur(self) -> float | None:
        return self.body.get("price_eur")


class LimitError(RegisterError):
    """The call exceeds ``max_price`` or a bound of the key, which no payment lifts: 403 ``limit_exceeded``."""

    @property
    def bound(self) -> str | None:
        detail = self.body.get("detail")
        return detail.get("bound") if isinstance(detail, dict) else None


class PlanError(RegisterError):
    """The plan of the key does not include the call: 403."""


class NotFoundError(RegisterError):
    """No such dataset, record or path: 404."""

    @property
    def nearest(self) -> list[dict[str, str]]:
        detail = self.body.get("detail")
        return detail.get("nearest", []) if isinstance(detail, dict) else []


class ConflictError(RegisterError):
    """The call contradicts an earlier one: 409."""


class RateLimitError(RegisterError):
    """Too many calls: 429. Raised when the retries are used up."""

    @property
    def retry_after_seconds(self) -> float | None:
        return self.body.get("retry_after_seconds")


class UnavailableError(RegisterError):
    """The service cannot answer now: 500 and above."""


class ConnectionFailed(Exception):
    """No answer of the service: no connection, none within the time limit, or another text than JSON."""


_CLASSES: dict[int, type[RegisterError]] = {
    401: CredentialError,
    402: PaymentError,
    403: PlanError,
    404: NotFoundError,
    409: ConflictError,
    412: PaymentError,
    429: RateLimitError,
}


def error_of(status: int, text: str) -> RegisterError:
    """The error of a response that is not a success. Another server may have written ``text``."""
    error_class = _CLASSES.get(status) or (UnavailableError if status >= 500 else InvalidRequestError)
    body = _body_of(status, text)
    return (LimitError if body["error"] == "limit_exceeded" else error_class)(status, body)


def _body_of(status: int, text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
        if isinstance(body, dict) and isinstance(body.get("error"), str) and isinstance(body.get("message"), str):
            return body
    except ValueError:
        pass  # A proxy in front of the service answers with a page.
    codes = [code for code, value in ERROR_STATUS.items() if value == status]
    code = "unavailable" if status >= 500 else (codes or ["invalid_parameter"])[0]
    start = text[:200].strip()
    return {
        "error": code,
        "message": f"The server answered {status}{': ' + start if start else '.'}",
        "is_retriable": status >= 500 or status == 429,
    }
