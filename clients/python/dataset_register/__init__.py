"""Client of a dataset register: records with a source, a time and a confidence for every value."""

from ._client import Answer, Dataset, Receipt, Register, Search
from ._errors import (
    ConflictError,
    ConnectionFailed,
    CredentialError,
    InvalidRequestError,
    LimitError,
    NotFoundError,
    PaymentError,
    PlanError,
    RateLimitError,
    RegisterError,
    UnavailableError,
)
from ._transport import MemoryCache

__all__ = [
    "Answer",
    "ConflictError",
    "ConnectionFailed",
    "CredentialError",
    "Dataset",
    "InvalidRequestError",
    "LimitError",
    "MemoryCache",
    "NotFoundError",
    "PaymentError",
    "PlanError",
    "RateLimitError",
    "Receipt",
    "Register",
    "RegisterError",
    "Search",
    "UnavailableError",
]
