"""A client of the Clinic Developer API, synchronous (`Client`) and asynchronous (`AsyncClient`).

The types of requests and responses are in `clinic_developer.models`.
"""

from typing import TYPE_CHECKING, List

from .errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionFailedError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionFailedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    SlotUnavailableError,
    UnexpectedResponseError,
    ValidationError,
)
from .responses import ChangesPage, Page, RateLimit, Response
from .webhooks import WebhookVerificationError, verify_webhook

if TYPE_CHECKING:
    from .aio.client import AsyncClient
    from .sync.client import Client

__version__ = "1.1.0"

__all__ = [
    "ApiError",
    "AsyncClient",
    "AuthenticationError",
    "BadRequestError",
    "ChangesPage",
    "Client",
    "ConflictError",
    "ConnectionFailedError",
    "NotFoundError",
    "Page",
    "PermissionDeniedError",
    "PreconditionFailedError",
    "RateLimit",
    "RateLimitError",
    "RequestTimeoutError",
    "Response",
    "ServerError",
    "SlotUnavailableError",
    "UnexpectedResponseError",
    "ValidationError",
    "WebhookVerificationError",
    "verify_webhook",
]


def __getattr__(name: str) -> object:
    # Most programs use one of the two clients: the other one is not loaded.
    if name == "Client":
        from .sync.client import Client

        return Client
    if name == "AsyncClient":
        from .aio.client import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return list({*globals(), *__all__})
