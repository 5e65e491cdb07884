"""Errors of requests. All are an `ApiError`; its subclasses say what kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, cast

if TYPE_CHECKING:
    from .catalogue import ErrorKey
    from .models import Alternative

PREFIX = "errors.developer_api."

# After these errors, the API has not executed the request.
NOT_EXECUTED = ("clinic_paused", "provider_unavailable")


class ApiError(Exception):
    """A request failed.

    `str(error)` is for developers: it has the field names, the status and the request id, and no data of patients.
    """

    status: Optional[int]
    """The HTTP status. None if there was no response: `ConnectionFailedError` and `RequestTimeoutError`."""
    code: str
    """The error code, such as `NOT_FOUND`. `UNKNOWN` if the response did not come from the API."""
    key: ErrorKey
    """The key of the error in `/errors.json`, such as `patient_not_found`. Empty if the response did not come from the API."""
    details: List[Dict[str, Any]]
    """Invalid fields, alternative slots or the missing scope, depending on the error."""
    details_omitted: int
    """The number of items that the response left out of `details`."""
    request_id: Optional[str]
    """Include it when you contact support."""
    retry_after: Optional[float]
    """Seconds to wait before repeating the request, if the response said so."""
    may_have_taken_effect: bool
    """Whether the request may have changed something although it failed."""
    idempotency_key: Optional[str]
    """The key that was sent. Repeat the request with the same body and this key to execute it at most once."""

    def __init__(
        self,
        text: str,
        *,
        status: Optional[int] = None,
        body: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        may_have_taken_effect: bool = False,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.code = text_of(body, "error") or "UNKNOWN"
        self.key = cast("ErrorKey", key_of(body))
        self.details = details_of(body)
        omitted = (body or {}).get("details_omitted")
        self.details_omitted = omitted if isinstance(omitted, int) else 0
        self.request_id = request_id
        self.retry_after = retry_after
        self.may_have_taken_effect = may_have_taken_effect
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        about = [str(self.status)] if self.status is not None else []
        if self.request_id is not None:
            about.append(f"request {self.request_id}")
        if self.may_have_taken_effect:
            about.append("the request may have taken effect")
        text = str(self.args[0])
        return f"{text} ({', '.join(about)})" if about else text


class ResponseError(ApiError):
    """There was a response. Only the type of `status` depends on this class: programs catch its subclasses."""

    status: int  # pyright: ignore[reportIncompatibleVariableOverride]


class BadRequestError(ResponseError):
    """400, 405, 413, 415: a query parameter, a header or the body is invalid."""


class AuthenticationError(ResponseError):
    """401: the credential is missing or invalid."""


class PermissionDeniedError(ResponseError):
    """403: the credential lacks a scope, or a firewall blocked the request."""


class NotFoundError(ResponseError):
    """404: the record does not exist."""


class ConflictError(ResponseError):
    """409: the state of a record does not permit the request."""


class SlotUnavailableError(ConflictError):
    """409: the doctor or the room is booked or held at the requested time."""

    @property
    def alternatives(self) -> List[Alternative]:
        """Up to three of the next free slots of the same doctor, and of the room if one was requested."""
        return cast("List[Alternative]", self.details)


class PreconditionFailedError(ResponseError):
    """412: the record has changed since its `etag` was read."""


class ValidationError(ResponseError):
    """422: a field of the request body is missing or invalid, or a rule does not permit it."""


class RateLimitError(ResponseError):
    """429: too many requests, or a limit of messages."""


class ServerError(ResponseError):
    """A status from 500: the service has a temporary problem."""


class UnexpectedResponseError(ResponseError):
    """The response is not one of the API: a redirect, HTML, or JSON without the documented fields."""


class ConnectionFailedError(ApiError):
    """The connection could not be established, or was lost before the whole response arrived."""


class RequestTimeoutError(ApiError):
    """The response did not arrive within the timeout."""


CLASSES = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: ValidationError,
    429: RateLimitError,
}


def error_of_response(
    status: int,
    body: Optional[Mapping[str, Any]],
    *,
    request_id: Optional[str],
    retry_after: Optional[float],
    has_effect: bool,
    idempotency_key: Optional[str],
) -> ApiError:
    """The error for a response with a status from 400. `has_effect`: whether the request can change something."""
    key = key_of(body)
    kind = ServerError if status >= 500 else CLASSES.get(status, BadRequestError)
    if key in ("slot_unavailable", "room_unavailable"):
        kind = SlotUnavailableError
    is_unknown = (status >= 500 and key not in NOT_EXECUTED) or key == "idempotency_in_progress"
    return kind(
        describe(key, details_of(body)),
        status=status,
        body=body,
        request_id=request_id,
        retry_after=retry_after,
        may_have_taken_effect=has_effect and is_unknown,
        idempotency_key=idempotency_key,
    )


def describe(key: str, details: List[Dict[str, Any]]) -> str:
    """The details if they say what is wrong, otherwise the text of the error catalogue."""
    issues = [f"{detail['field']} {detail['issue']}" for detail in details if "field" in detail and "issue" in detail]
    if issues:
        return "; ".join(issues)
    scopes = [str(detail["scope"]) for detail in details if "scope" in detail]
    if scopes:
        return f"The credential does not have the scope {', '.join(scopes)}"
    from .catalogue import TEXTS  # Loaded with the first error only.

    text = TEXTS.get(key, "The response is not one of the API" if key == "" else key).rstrip(".")
    free = [
        f"{slot['appointment_date']} {slot.get('start_time')}-{slot.get('end_time')}"
        for slot in details
        if "appointment_date" in slot
    ]
    return f"{text}; free instead: {', '.join(free)}" if free else text


def text_of(body: Optional[Mapping[str, Any]], name: str) -> str:
    value = (body or {}).get(name)
    return value if isinstance(value, str) else ""


def key_of(body: Optional[Mapping[str, Any]]) -> str:
    message = text_of(body, "message")
    return message[len(PREFIX) :] if message.startswith(PREFIX) else ""


def details_of(body: Optional[Mapping[str, Any]]) -> List[Dict[str, Any]]:
    details: Any = (body or {}).get("details")
    items: List[Any] = details if isinstance(details, list) else []
    return [detail for detail in items if isinstance(detail, dict)]
