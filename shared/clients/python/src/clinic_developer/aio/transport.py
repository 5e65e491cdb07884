"""Sends requests, and sends them again where that is safe."""

from __future__ import annotations

from contextvars import ContextVar
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Mapping, Optional, Type, TypeVar

import httpx

from ..errors import ApiError
from ..requests import Request, authorization, base_of, leaves_unknown, retries_of, seconds
from ..responses import Response

if TYPE_CHECKING:
    from types import TracebackType

Self = TypeVar("Self", bound="AsyncClientBase")


async def sleep(duration: float) -> None:
    from anyio import sleep  # A dependency of httpx, loaded with the first wait only.

    await sleep(duration)


deadline: ContextVar[float] = ContextVar("deadline", default=inf)
"""When the attempt that reads ends, by the monotonic clock."""


async def limit_reads(event: str, info: Mapping[str, Any]) -> None:
    """Ends reading at the deadline: the timeout of httpx limits the time between two chunks only.

    httpcore calls it with what happens to a connection.
    """
    if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
        return
    stream = info["return_value"]
    read = stream.read

    async def read_until_deadline(max_bytes: int, timeout: Optional[float] = None) -> bytes:
        remaining = deadline.get() - monotonic()
        if remaining <= 0:
            raise httpx.ReadTimeout("The response is incomplete")
        content: bytes = await read(max_bytes, remaining if timeout is None else min(timeout, remaining))
        return content

    stream.read = read_until_deadline


class AsyncTransport:
    def __init__(
        self, credential: str, base_url: str, timeout: float, retries: int, http_client: Optional[httpx.AsyncClient]
    ) -> None:
        self.base = base_of(base_url)
        self.headers = {"authorization": authorization(credential), "accept": "application/json"}
        self.timeout = seconds(timeout)
        self.retries = retries_of(retries)
        if http_client is not None and not isinstance(http_client, httpx.AsyncClient):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"http_client must be an httpx.AsyncClient, not {type(http_client).__name__}")
        self.is_own = http_client is None
        self.http = httpx.AsyncClient() if http_client is None else http_client

    async def close(self) -> None:
        if self.is_own:
            await self.http.aclose()

    async def send(self, request: Request) -> Response[Any]:
        attempt, was_unknown = 0, False
        while True:
            try:
                return await self.send_once(request)
            except ApiError as error:
                error.may_have_taken_effect |= was_unknown and leaves_unknown(error)
                was_unknown = error.may_have_taken_effect
                wait = request.wait_before_retry(error, attempt)
                if wait is None or attempt >= self.retries:
                    raise
            await sleep(wait)
            attempt += 1

    async def send_once(self, request: Request) -> Response[Any]:
        timeout = request.timeout or self.timeout
        token = deadline.set(monotonic() + timeout)
        try:
            response = await self.http.request(
                request.method,
                self.base + request.target,
                headers={**self.headers, **request.headers},
                content=request.content,
                timeout=timeout,
                follow_redirects=False,
                auth=None,
                extensions={"trace": limit_reads},
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise request.failure(error, timeout) from error
        finally:
            deadline.reset(token)
        return request.outcome(response.status_code, response.headers, response.content)


class AsyncResource:
    """Requests of one kind of record."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport


class AsyncClientBase:
    def __init__(
        self,
        *,
        credential: str,
        base_url: str,
        timeout: float = 30,
        retries: int = 3,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """
        credential: `ck_...:cs_...`

        base_url: The address of the API, with or without `/api/developer/v1`.

        timeout: Seconds that one attempt may take.

        retries: How often a request is repeated at most.

        http_client: For a proxy or certificates of your own. You close it yourself.
        """
        self._transport = AsyncTransport(credential, base_url, timeout, retries, http_client)
        self._add_resources(self._transport)

    def _add_resources(self, transport: AsyncTransport) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._transport.base}>"
