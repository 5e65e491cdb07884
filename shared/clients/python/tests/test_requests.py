"""What a call sends, and what it rejects before it sends anything."""

import json
from pathlib import Path

import pytest
from conftest import CREDENTIAL, Server, page, record

from clinic_developer import AsyncClient, Client

BASE = "https://api.example.com/prod/api/developer/v1"


def test_sends_the_credential_and_the_query(client_of):
    server = Server(page([], page=1, total_pages=0))
    client_of(server).call(lambda c: c.patients.list(search="a b&c", is_active=True, limit=5, page=None))
    (request,) = server.requests
    assert str(request.url) == f"{BASE}/patients?limit=5&search=a+b%26c&is_active=true"
    assert request.headers["authorization"] == f"Developer {CREDENTIAL}"
    assert "idempotency-key" not in request.headers


def test_sends_a_parameter_whose_name_is_a_keyword(client_of):
    server = Server(page([], page=1, total_pages=0))
    client_of(server).collect(lambda c: c.invoices.all(from_="2026-01-01", to="2026-12-31"))
    assert server.queries == [{"limit": "100", "from": "2026-01-01", "to": "2026-12-31"}]


def test_sends_a_random_idempotency_key_or_the_given_one(client_of):
    server = Server(record(201))
    form = client_of(server)
    body = {"first_name": "Işıl", "last_name": "Kaya"}
    for key in (None, None, "mine"):
        form.call(lambda c: c.patients.create(body, idempotency_key=key))
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert len(keys[0]) == 32 and keys[0] != keys[1] and keys[2] == "mine"
    assert json.loads(server.requests[0].content) == body


def test_returns_the_record_as_it_is_and_the_headers(client_of):
    headers = {
        "ETag": '"abc"',
        "location": "/api/developer/v1/patients/p1",
        "x-request-id": "r-1",
        "ratelimit": '"default";r=299;t=60',
        "ratelimit-policy": '"default";q=300;w=60',
        "idempotent-replayed": "true",
    }
    response = client_of(Server(record(201, {"id": "p1", "field_of_later": [1]}, **headers))).call(
        lambda c: c.patients.create({"first_name": "Ada", "last_name": "Kaya"})
    )
    assert response.data == {"id": "p1", "field_of_later": [1]}
    assert (response.etag, response.location, response.request_id) == ('"abc"', headers["location"], "r-1")
    assert response.rate_limit == (300, 299, 60) and response.is_replayed and response.status == 201
    assert "Ada" not in repr(response) and "p1" not in repr(response)


def test_sends_if_match(client_of):
    server = Server(record())
    client_of(server).call(lambda c: c.patients.update("p1", {"first_name": "Ada"}, if_match='"abc"'))
    assert server.requests[0].headers["if-match"] == '"abc"'


HOSTILE_IDS = [
    "../patients/p2/deactivate#",
    "p1/deactivate",
    "a?b=c",
    "a#b",
    "%2e%2e",
    "..\\x",
    " ",
    "a\r\nHost: x",
    "\x00",
    "ü/..;/",
]


@pytest.mark.parametrize("id", HOSTILE_IDS)
def test_an_id_does_not_leave_its_route(client_of, id):
    server = Server(record())
    client_of(server).call(lambda c: c.appointments.cancel(id))
    path = server.requests[0].url.raw_path.decode()
    before = path.split("/appointments/")[1].partition("/cancel")[0]
    assert path.count("/") == "/prod/api/developer/v1/appointments/x/cancel".count("/")
    assert path.endswith("/cancel") and "?" not in path and "#" not in path and before


CALLS_WITH_IDS = [
    lambda c, id: c.patients.get(id),
    lambda c, id: c.invoices.payments(id).list(),
    lambda c, id: c.webhooks.redeliver("w1", id),
    lambda c, id: c.webhooks.delete(id),
]


@pytest.mark.parametrize("id, kind", [("", ValueError), (".", ValueError), ("..", ValueError), ("\ud800", ValueError), (None, TypeError), (7, TypeError), (b"x", TypeError)])
@pytest.mark.parametrize("call", CALLS_WITH_IDS)
def test_rejects_an_id_before_the_request(client_of, call, id, kind):
    server = Server(record())
    with pytest.raises(kind, match=r"^(id|delivery_id) must be"):
        client_of(server).call(lambda c: call(c, id))
    assert server.requests == []


BAD_CALLS = [
    (lambda c: c.patients.create(None), TypeError, "body"),
    (lambda c: c.patients.create([1]), TypeError, "body"),
    (lambda c: c.patients.create({"first_name": object()}), TypeError, "body"),
    (lambda c: c.patients.create({"first_name": float("nan")}), ValueError, "body"),
    (lambda c: c.patients.create({"first_name": "\ud800"}), ValueError, "body"),
    (lambda c: c.patients.list(search="\ud800"), ValueError, "search has"),
    (lambda c: c.patients.create({}, idempotency_key="a\r\nb"), ValueError, "idempotency_key"),
    (lambda c: c.patients.create({}, idempotency_key=7), TypeError, "idempotency_key"),
    (lambda c: c.patients.create({}, idempotency_key="a b"), ValueError, "idempotency_key"),
    (lambda c: c.patients.create({}, idempotency_key="a" * 256), ValueError, "idempotency_key"),
    (lambda c: c.patients.create({}, timeout=0), ValueError, "timeout"),
    (lambda c: c.patients.create({}, timeout="5"), TypeError, "timeout"),
    # The etag of a response that had none: without the error, the condition would be lost.
    (lambda c: c.patients.update("p", {}, if_match=None), TypeError, "if_match"),
    (lambda c: c.patients.update("p", {}, if_match=""), ValueError, "if_match"),
    (lambda c: c.patients.list(search=["x"]), TypeError, "search"),
    (lambda c: c.patients.list(limit=1.5), TypeError, "limit"),
]


@pytest.mark.parametrize("call, kind, name", BAD_CALLS)
def test_rejects_an_argument_before_the_request(client_of, call, kind, name):
    server = Server(record())
    with pytest.raises(kind, match=f"^{name} "):
        client_of(server).call(call)
    assert server.requests == []


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    "name, value, error",
    [
        ("credential", None, TypeError),
        ("credential", "ck_1", ValueError),
        ("credential", "ck_1:", ValueError),
        ("credential", "ck_1:cs\n1", ValueError),
        ("base_url", None, TypeError),
        ("base_url", "api.example.com", ValueError),
        ("base_url", "ftp://api.example.com", ValueError),
        ("base_url", "https://user:pass@api.example.com", ValueError),
        ("base_url", "https://api.example.com?x=1", ValueError),
        ("base_url", "https://", ValueError),
        ("base_url", "https://api.example.com:99999", ValueError),
        ("timeout", float("inf"), ValueError),
        ("timeout", 1e12, ValueError),
        ("timeout", True, TypeError),
        ("retries", -1, ValueError),
        ("retries", 1.5, TypeError),
        ("http_client", object(), TypeError),
    ],
)
def test_rejects_an_option(kind, name, value, error):
    with pytest.raises(error, match=f"^{name} must") as raised:
        kind(**{"credential": CREDENTIAL, "base_url": "https://api.example.com", name: value})
    assert "cs" not in str(raised.value).replace("cs_...", "")


@pytest.mark.parametrize("base_url", ["https://a.example/prod", "https://a.example/prod/", "https://a.example/prod/api/developer/v1/"])
def test_takes_the_address_with_or_without_the_base_path(base_url):
    client = Client(credential=CREDENTIAL, base_url=base_url)
    assert repr(client) == "<Client https://a.example/prod/api/developer/v1>"


def test_has_a_method_for_every_route(client_of):
    document = json.loads((Path(__file__).parents[4] / "docs/openapi.json").read_text("utf-8"))
    routes = {
        (method.upper(), path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if not operation.get("deprecated")
    }
    sent = set()

    def handler(request):
        path = request.url.path.split("/api/developer/v1")[1]
        path = path.replace("/id-1", "/{id}").replace("/id-2", "/{delivery_id}").replace("/id-3", "/{time_off_id}")
        sent.add((request.method, path))
        return page([], page=1, total_pages=0)(request)

    form = client_of(handler, retries=0)
    for call in calls_of(form.client):
        try:
            form.call(lambda _: call())
        except Exception:  # The response does not fit every method.
            pass
    assert sent == routes


def calls_of(of):
    """Every public function that sends a request, with ids and an empty body as arguments."""
    import inspect

    for name in dir(of):
        if name.startswith("_") or name == "close":
            continue
        value = getattr(of, name)
        if not callable(value):
            yield from calls_of(value)
            continue
        parameters = inspect.signature(value).parameters.values()
        given = {"id": "id-1", "delivery_id": "id-2", "time_off_id": "id-3", "body": {}, "date": "2026-05-04", "since": "2026-05-04T12:00:00Z"}
        arguments = {p.name: given[p.name] for p in parameters if p.name in given}
        if name in ("payments", "deliveries", "time_off") and list(arguments) == ["id"]:
            yield from calls_of(value(**arguments))
        elif name not in ("pages", "all", "changes"):
            yield lambda value=value, arguments=arguments: value(**arguments)
