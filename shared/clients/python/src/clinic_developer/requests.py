"""What a request contains, what its response means, and when it is sent again. Nothing here sends anything."""

from __future__ import annotations

import json
import os
import random
import re
import time
from datetime import datetime
from typing import Any, Dict, Mapping, Optional, Set, Tuple, Type, Union, cast
from urllib.parse import quote, urlencode, urlsplit

import httpx

from .errors import ApiError, ConnectionFailedError, RequestTimeoutError, UnexpectedResponseError, error_of_response
from .responses import Page, Response

BASE_PATH = "/api/developer/v1"

RETRYABLE_STATUSES = (429, 500, 502, 503, 504)

# If `retry-after` asks for a longer wait, in seconds, the request fails instead.
MAX_WAIT = 60

# Of one attempt, in seconds: sockets reject very long ones.
MAX_TIMEOUT = 86_400

# Nothing was sent before these errors.
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


class NotGiven:
    def __repr__(self) -> str:
        return "NOT_GIVEN"


# An `if_match` of None is an error: the etag that it was read from is missing, and the condition would be lost.
NOT_GIVEN: Any = NotGiven()

Query = Mapping[str, Union[str, int, bool, None]]


class Request:
    """A request that can be sent several times, each time with the same bytes and the same idempotency key."""

    def __init__(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        body: object = NOT_GIVEN,
        accepts_key: bool = False,
        idempotency_key: Optional[str] = None,
        if_match: Optional[str] = NOT_GIVEN,
        timeout: Optional[float] = None,
        shape: str = "record",
    ) -> None:
        self.method = method
        self.target = path + query_string(query or {})
        self.content = None if body is NOT_GIVEN else encode(body)
        self.headers: Dict[str, str] = {} if body is NOT_GIVEN else {"content-type": "application/json"}
        self.idempotency_key: Optional[str] = None
        if accepts_key:
            key = os.urandom(16).hex() if idempotency_key is None else idempotency_key
            self.idempotency_key = header_value("idempotency_key", key)
            if not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
                raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
            self.headers["idempotency-key"] = self.idempotency_key
        if if_match is not NOT_GIVEN:
            self.headers["if-match"] = header_value("if_match", if_match)
        self.timeout = None if timeout is None else seconds(timeout)
        self.shape = shape
        """What the body of a success is: a `record` or a `list` in `data`, a `bare` object, or `nothing`."""
        self.has_effect = method != "GET"
        self.is_repeatable = method == "GET" or accepts_key
        """Whether repeating it is safe if it is not known what the first attempt did."""

    def failure(self, error: Exception, timeout: float) -> ApiError:
        """The error for an attempt without a response."""
        is_unknown = self.has_effect and not isinstance(error, NOT_SENT)
        kind: Type[ApiError] = ConnectionFailedError
        text = "The connection was lost before the whole response arrived"
        if isinstance(error, httpx.TimeoutException):
            kind, text = RequestTimeoutError, f"No whole response within {timeout:g} s"
        elif isinstance(error, NOT_SENT):
            text = "The connection could not be established"
        return kind(text, may_have_taken_effect=is_unknown, idempotency_key=self.idempotency_key)

    def outcome(self, status: int, headers: httpx.Headers, content: bytes) -> Response[Any]:
        """The successful response. Raises an ApiError for any other."""
        body = read_object(content)
        if status >= 400:
            raise error_of_response(
                status,
                body,
                request_id=headers.get("x-request-id"),
                retry_after=read_retry_after(headers),
                has_effect=self.has_effect,
                idempotency_key=self.idempotency_key,
            )
        if self.shape == "nothing" and status == 204:
            return Response(None, status, headers)
        if body is None or not (200 <= status < 300 and has_shape(body, self.shape)):
            raise UnexpectedResponseError(
                "The response is a redirect" if 300 <= status < 400 else "The response is not one of the API",
                status=status,
                request_id=headers.get("x-request-id"),
                may_have_taken_effect=self.has_effect,
                idempotency_key=self.idempotency_key,
            )
        return Response(body if self.shape in ("bare", "list") else body["data"], status, headers)

    def wait_before_retry(self, error: ApiError, attempt: int) -> Optional[float]:
        """Seconds to wait before the next attempt, or None if the request must not be sent again."""
        if isinstance(error, UnexpectedResponseError):
            is_temporary = error.status < 300
        elif error.status is None:
            is_temporary = True
        else:
            is_temporary = error.status in RETRYABLE_STATUSES or error.key == "idempotency_in_progress"
        # A request without an idempotency key is repeated only if it has certainly had no effect.
        if not is_temporary or (error.may_have_taken_effect and not self.is_repeatable):
            return None
        requested = error.retry_after or 0
        return None if requested > MAX_WAIT else requested + random.uniform(0, min(0.2 * 2 ** min(attempt, 20), MAX_WAIT))


def leaves_unknown(error: ApiError) -> bool:
    """Whether an error says nothing about an earlier attempt with the same idempotency key."""
    is_rejection = error.status is not None and 400 <= error.status < 500 and error.status not in (401, 403, 429)
    return not is_rejection or error.may_have_taken_effect


def read_object(content: bytes) -> Optional[Dict[str, Any]]:
    """The JSON object of a body. None if it is anything else."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return cast("Dict[str, Any]", body) if isinstance(body, dict) else None


def has_shape(body: Mapping[str, Any], shape: str) -> bool:
    data = body.get("data")
    if shape == "list":
        return isinstance(data, list) and isinstance(body.get("meta"), dict)
    return shape == "bare" or (shape == "record" and isinstance(data, dict))


def read_retry_after(headers: httpx.Headers) -> Optional[float]:
    """Seconds to wait. The header has seconds, or a date, which is compared with the clock of the sender. Anything else is ignored."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}", value):
        return float(value)
    until = read_date(value)
    sent = read_date(headers.get("date", ""))
    return None if until is None else max(0.0, until - (time.time() if sent is None else sent))


def read_date(value: str) -> Optional[float]:
    """The seconds since 1970 of a date in a header. None if it is anything else."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def encode(body: object) -> bytes:
    if not isinstance(body, Mapping):
        raise TypeError(f"body must be a dict, not {type(body).__name__}")
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeError:
        # The message of this error has the whole body.
        raise ValueError("body has text that is not valid Unicode") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"body cannot be written as JSON: {error}") from None
    except TypeError as error:
        raise TypeError(f"body cannot be written as JSON: {error}") from None


def query_string(query: Query) -> str:
    parameters: Dict[str, str] = {}
    for name, value in query.items():
        if value is None:
            continue
        if not isinstance(value, (str, int)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{name} must be text, a whole number or a bool, not {type(value).__name__}")
        parameters[name] = str(value).lower() if isinstance(value, bool) else str(value)
        if re.search("[\ud800-\udfff]", parameters[name]):
            raise ValueError(f"{name} has text that is not valid Unicode")
    return f"?{urlencode(parameters)}" if parameters else ""


def segment(name: str, value: str) -> str:
    """An id as a segment of a path. Raises if it would not reach the route that it is meant for."""
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if value in ("", ".", ".."):
        raise ValueError(f"{name} must be an id, not {value!r}")
    try:
        return quote(value, safe="")
    except UnicodeError:
        raise ValueError(f"{name} must be an id") from None


def header_value(name: str, value: Optional[str]) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if not re.fullmatch(r"[\x20-\x7e]+", value) or value != value.strip():
        raise ValueError(f"{name} must be visible ASCII characters")
    return value


def seconds(timeout: float) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"timeout must be a number of seconds, not {type(timeout).__name__}")
    if not 0 < timeout <= MAX_TIMEOUT:
        raise ValueError("timeout must be a positive number of seconds, at most a day")
    return timeout


def authorization(credential: str) -> str:
    if not isinstance(credential, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"credential must be a str, not {type(credential).__name__}")
    if not re.fullmatch(r"[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]+", credential):
        raise ValueError("credential must have the form ck_...:cs_...")
    return f"Developer {credential}"


def base_of(base_url: str) -> str:
    """The base URL, given with or without the base path."""
    if not isinstance(base_url, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"base_url must be a str, not {type(base_url).__name__}")
    base = base_url.rstrip("/")
    try:
        parts = urlsplit(base)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        httpx.URL(base)
    except (ValueError, httpx.InvalidURL):
        is_valid, parts = False, urlsplit("")
    if not is_valid or "@" in parts.netloc or "?" in base or "#" in base or re.search(r"\s", base):
        raise ValueError("base_url must be an address such as https://api.example.com/prod")
    return base if base.endswith(BASE_PATH) else base + BASE_PATH


def retries_of(retries: int) -> int:
    if isinstance(retries, bool) or not isinstance(retries, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"retries must be a whole number, not {type(retries).__name__}")
    if retries < 0:
        raise ValueError("retries must not be negative")
    return retries


def following(query: Query, page: Page[Any, Any], cursors: Set[str]) -> Optional[Query]:
    """The query of the next page, or None at the end: by cursor where the list has one, otherwise by page.

    cursors: Those of the list so far. Raises for one that leads back.
    """
    meta: Mapping[str, Any] = page.meta
    if "next_after" in meta:
        after = meta["next_after"]
        if after is None or meta.get("has_more") is False:
            return None
        if not isinstance(after, str) or after in cursors:
            raise incomplete(page)
        cursors.add(after)
        return {**query, "after": after, "page": None}
    number, last = query.get("page") or 1, meta.get("total_pages")
    if not isinstance(last, int):
        raise incomplete(page)
    return {**query, "page": int(number) + 1} if page.data and int(number) < last else None


def incomplete(page: Page[Any, Any]) -> UnexpectedResponseError:
    """The error for a page that does not say where the list continues."""
    return UnexpectedResponseError(
        "The page does not say where the list continues", status=page.status, request_id=page.request_id
    )


# A time with `Z` or an offset.
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)", re.IGNORECASE | re.ASCII)


def place_of(since: str) -> Tuple[str, Optional[str]]:
    """The time and the cursor of a position. A time alone is a position too."""
    if not isinstance(since, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"since must be a str, not {type(since).__name__}")
    time_of, _, after = since.partition("|")
    if not TIME.fullmatch(time_of):
        raise ValueError("since must be a position, or a time such as 2026-05-04T12:00:00+03:00")
    return time_of, after or None


def read_as_of(page: Page[Any, Any]) -> datetime:
    """The time up to which a list of changes is complete."""
    try:
        as_of = datetime.fromisoformat(page.meta["as_of"])
    except (KeyError, TypeError, ValueError):
        raise incomplete(page) from None
    # Python has no times after 9999, and none is added to these.
    if as_of.tzinfo is None or as_of.year > 9998:
        raise incomplete(page)
    return as_of
