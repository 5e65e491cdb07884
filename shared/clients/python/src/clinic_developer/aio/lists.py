"""Lists: a page, all pages, all records, and what has changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, AsyncIterator, Generic, Optional, Set, TypeVar

from ..requests import Query, Request, following, incomplete, place_of, read_as_of
from ..responses import ChangesPage, Page
from .transport import AsyncResource, AsyncTransport, sleep

# Covariant, so that type checkers find `changes` in a collection of several resources.
T = TypeVar("T", covariant=True)

# A change is listed 20 seconds after it was made: `as_of` is that long ago, without the fraction of its second.
VISIBILITY_DELAY = timedelta(seconds=21)


async def fetch_page(transport: AsyncTransport, path: str, query: Query, timeout: Optional[float]) -> Page[Any, Any]:
    response = await transport.send(Request("GET", path, query=query, timeout=timeout, shape="list"))
    return Page(response.data["data"], response.data["meta"], response.status, response.headers)


async def iterate_pages(
    transport: AsyncTransport, path: str, query: Query, timeout: Optional[float]
) -> AsyncIterator[Page[Any, Any]]:
    remaining: Optional[Query] = query
    cursors: Set[str] = set()
    while remaining is not None:
        page = await fetch_page(transport, path, remaining, timeout)
        yield page
        remaining = following(remaining, page, cursors)


async def iterate_records(
    transport: AsyncTransport, path: str, query: Query, timeout: Optional[float]
) -> AsyncIterator[Any]:
    async for page in iterate_pages(transport, path, query, timeout):
        for record in page.data:
            yield record


class AsyncRecordResource(AsyncResource, Generic[T]):
    """Records of one kind, with a list of changes."""

    _path: str

    async def changes(
        self, *, since: str, limit: int = 100, follow: bool = False, timeout: Optional[float] = None
    ) -> AsyncIterator[ChangesPage[T]]:
        """Iterates over pages of the records that have changed, in the order of their changes.

        since: A time with an offset, or the `position` of an earlier page.

        follow: Continue at the end: look for changes every 20 seconds.
        """
        updated_since, after = place_of(since)
        end: Optional[datetime] = None
        complete: Optional[datetime] = None
        cursors: Set[str] = set()
        while True:
            query: Query = {"updated_since": updated_since, "after": after, "limit": limit}
            page = await fetch_page(self._transport, self._path, query, timeout)
            as_of = read_as_of(page)
            if end is None:
                end = as_of + VISIBILITY_DELAY
            remaining = following(query, page, cursors)
            if remaining is not None:
                after = str(remaining["after"])
                yield ChangesPage(page, f"{updated_since}|{after}")
                continue
            # The time advances between two lists, which are 20 seconds apart.
            if complete is not None and as_of <= complete:
                raise incomplete(page)
            updated_since, after, complete, cursors = str(page.meta["as_of"]), None, as_of, set()
            yield ChangesPage(page, updated_since)
            if as_of >= end and not follow:
                return
            await sleep((VISIBILITY_DELAY if follow else min(end - as_of, VISIBILITY_DELAY)).total_seconds())
