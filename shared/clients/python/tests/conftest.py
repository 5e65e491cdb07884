"""Every test with `client_of` runs twice: with the synchronous and with the asynchronous client."""

import asyncio
import inspect
import json

import httpx
import pytest

from clinic_developer import AsyncClient, Client, aio, sync

CREDENTIAL = "ck_1:cs_1"


class Form:
    """A client of one form, whose calls and iterators are used in the same way."""

    def __init__(self, kind, http_client, **options):
        self.loop = asyncio.new_event_loop()
        self.client = kind(**{"credential": CREDENTIAL, "base_url": "https://api.example.com/prod", **options}, http_client=http_client)

    def call(self, function):
        result = function(self.client)
        return self.loop.run_until_complete(result) if inspect.isawaitable(result) else result

    def collect(self, function, count=None):
        found = []

        async def asynchronously(iterator):
            async for one in iterator:
                found.append(one)
                if len(found) == count:
                    break

        iterator = function(self.client)
        if hasattr(iterator, "__aiter__"):
            self.loop.run_until_complete(asynchronously(iterator))
        else:
            for one in iterator:
                found.append(one)
                if len(found) == count:
                    break
        return found


class Server:
    """Returns the given responses in turn, the last one again and again, and keeps the requests."""

    def __init__(self, *responses):
        self.responses = list(responses)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        response = self.responses[0] if len(self.responses) == 1 else self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        if callable(response):
            return response(request)
        return response

    @property
    def queries(self):
        return [dict(request.url.params) for request in self.requests]


@pytest.fixture(params=["sync", "async"])
def client_of(request):
    def make(handler, **options):
        transport = httpx.MockTransport(handler)
        if request.param == "sync":
            return Form(Client, httpx.Client(transport=transport), **options)
        return Form(AsyncClient, httpx.AsyncClient(transport=transport), **options)

    return make


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """The seconds that the client has waited. No test waits."""
    waited = []

    async def sleep_async(duration):
        waited.append(duration)

    monkeypatch.setattr(sync.client, "sleep", waited.append)
    for module in (aio.transport, aio.lists):
        monkeypatch.setattr(module, "sleep", sleep_async)
    return waited


def record(status=200, data=None, **headers):
    return lambda _: httpx.Response(status, json={"data": data or {}}, headers=headers)


def rejection(status, key, details=None, **headers):
    body = {"error": "CODE", "message": f"errors.developer_api.{key}", **({"details": details} if details else {})}
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: httpx.Response(status, content=json.dumps(body), headers=headers)


def page(ids, **meta):
    return lambda _: httpx.Response(200, json={"data": [{"id": id} for id in ids], "meta": meta})
