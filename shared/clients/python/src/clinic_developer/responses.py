"""Successful responses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Generic, List, Mapping, NamedTuple, Optional, TypeVar

if TYPE_CHECKING:
    from .models import ChangesMeta

T = TypeVar("T")
M = TypeVar("M")


class RateLimit(NamedTuple):
    """The requests of the credential in the current minute."""

    limit: int
    remaining: int
    reset: int
    """Seconds until the minute ends."""


class Response(Generic[T]):
    """A response. `data` is as the API sent it, with fields that this version of the client does not know."""

    def __init__(self, data: T, status: int, headers: Mapping[str, str]) -> None:
        self.data: T = data
        self.status = status
        self.headers = headers
        """The response headers. Names are case-insensitive."""

    @property
    def etag(self) -> Optional[str]:
        """Identifies this state of the record. Pass it as `if_match` to change the record only in this state."""
        return self.headers.get("etag")

    @property
    def location(self) -> Optional[str]:
        """The path of the created record."""
        return self.headers.get("location")

    @property
    def request_id(self) -> Optional[str]:
        """Include it when you contact support."""
        return self.headers.get("x-request-id")

    @property
    def is_replayed(self) -> bool:
        """Whether this is the stored response to an earlier request with the same idempotency key."""
        return "idempotent-replayed" in self.headers

    @property
    def rate_limit(self) -> Optional[RateLimit]:
        """The requests that are left. None if the response does not say so."""
        left = re.match(r'"\w+";r=(\d{1,9});t=(\d{1,9})$', self.headers.get("ratelimit", ""))
        policy = re.match(r'"\w+";q=(\d{1,9});', self.headers.get("ratelimit-policy", ""))
        return RateLimit(int(policy[1]), int(left[1]), int(left[2])) if left and policy else None

    def __repr__(self) -> str:
        # Without the data: it may be of a patient, and end up in a log.
        return f"<{type(self).__name__} {self.status}, request {self.request_id}>"


class Page(Response[List[T]], Generic[T, M]):
    """A page of a list."""

    def __init__(self, data: List[T], meta: M, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(data, status, headers)
        self.meta: M = meta


class ChangesPage(Page[T, "ChangesMeta"]):
    """Records that have changed."""

    def __init__(self, page: Page[T, ChangesMeta], position: str) -> None:
        super().__init__(page.data, page.meta, page.status, page.headers)
        self.position = position
        """Where the list continues after this page. Store it with the records, and pass it as `since` later."""
