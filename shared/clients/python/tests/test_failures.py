"""Errors, retries and broken responses."""

import socket
import threading
import time

import httpx
import pytest
from conftest import Form, Server, page, record, rejection

from clinic_developer import (
    ApiError,
    AsyncClient,
    AuthenticationError,
    BadRequestError,
    Client,
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

MESSAGE = {"channel": "sms", "patient_id": "p1", "message": "x"}


def send(c):
    return c.messages.send(MESSAGE)


def update(c):
    return c.patients.update("p1", {"first_name": "Ada"}, if_match='"abc"')


def delete(c):
    return c.webhooks.delete("w1")


def read(c):
    return c.patients.get("p1")


def error_of(form, call):
    with pytest.raises(ApiError) as raised:
        form.call(call)
    return raised.value


@pytest.mark.parametrize(
    "status, key, kind",
    [
        (400, "invalid_params", BadRequestError),
        (401, "unauthorized", AuthenticationError),
        (403, "request_blocked", PermissionDeniedError),
        (404, "patient_not_found", NotFoundError),
        (409, "appointment_closed", ConflictError),
        (409, "slot_unavailable", SlotUnavailableError),
        (412, "precondition_failed", PreconditionFailedError),
        (413, "payload_too_large", BadRequestError),
        (422, "patient_inactive", ValidationError),
        (429, "rate_limited", RateLimitError),
        (503, "unavailable", ServerError),
    ],
)
def test_raises_a_class_for_each_kind_of_error(client_of, status, key, kind):
    error = error_of(client_of(Server(rejection(status, key, x_request_id="r-1"))), send)
    assert type(error) is kind
    assert (error.status, error.key, error.code, error.request_id) == (status, key, "CODE", "r-1")


def test_says_what_is_wrong(client_of):
    texts = {
        "phone_number needs its country code, such as +49…; first_name is missing (422, request 7f3)": rejection(
            422,
            "validation",
            [
                {"field": "phone_number", "issue": "needs its country code, such as +49…"},
                {"field": "first_name", "issue": "is missing"},
            ],
            x_request_id="7f3",
        ),
        "The credential does not have the scope patient.write (403)": rejection(403, "missing_scope", [{"scope": "patient.write"}]),
        "The patient does not exist (404)": rejection(404, "patient_not_found", [{"field": "patient_id"}]),
        "The response is not one of the API (403)": lambda _: httpx.Response(403, html="<h1>Forbidden</h1>"),
        "error_of_later (400)": rejection(400, "error_of_later"),
    }
    for text, response in texts.items():
        assert str(error_of(client_of(Server(response)), send)) == text


def test_lists_the_alternatives_of_a_taken_slot(client_of):
    slot = {"appointment_date": "2026-05-04", "start_time": "09:00", "end_time": "09:30"}
    error = error_of(client_of(Server(rejection(409, "slot_unavailable", [slot]))), send)
    assert isinstance(error, SlotUnavailableError) and error.alternatives == [slot]
    assert "; free instead: 2026-05-04 09:00-09:30 (409" in str(error)


RETRYABLE = [
    rejection(429, "rate_limited", retry_after="2"),
    rejection(500, "internal"),
    rejection(502, "provider_unavailable"),
    rejection(503, "unavailable"),
    rejection(504, "timeout"),
    rejection(409, "idempotency_in_progress", retry_after="1"),
    lambda _: httpx.Response(503, html="<h1>Bad gateway</h1>"),
    httpx.ConnectError("x"),
    httpx.ReadError("x"),
    httpx.ReadTimeout("x"),
    httpx.RemoteProtocolError("cut"),
]


@pytest.mark.parametrize("failure", RETRYABLE)
@pytest.mark.parametrize("call", [send, update])
def test_retries_with_the_same_key_and_bytes(client_of, waits, failure, call):
    server = Server(failure, failure, record(202))
    assert client_of(server).call(call).data == {}
    assert len(server.requests) == 3 and len(waits) == 2
    assert len({(r.headers["idempotency-key"], r.content) for r in server.requests}) == 1


@pytest.mark.parametrize("retries", [0, 3, 7])
def test_gives_up_after_the_retries(client_of, retries):
    server = Server(rejection(503, "unavailable"))
    assert isinstance(error_of(client_of(server, retries=retries), send), ServerError)
    assert len(server.requests) == retries + 1


def test_waits_at_most_a_minute_before_a_retry(client_of, waits):
    error_of(client_of(Server(rejection(503, "unavailable")), retries=1100), send)
    assert 59 < max(waits) <= 60


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 415, 422])
def test_does_not_retry_a_rejection(client_of, status):
    server = Server(rejection(status, "some_reason"))
    error_of(client_of(server), send)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "value, seconds",
    [
        ("5", 5),
        (" 60 ", 60),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("soon", 0),
        ("-1", 0),
        ("1e9", 0),
        ("9" * 5000, 0),
        ("Thu, 99 Foo 2026 00:00:00 GMT", 0),
    ],
)
def test_waits_as_long_as_retry_after_says(client_of, waits, value, seconds):
    server = Server(rejection(429, "rate_limited", retry_after=value), record(202))
    client_of(server).call(send)
    assert seconds <= waits[0] <= seconds + 0.2


def date_in(seconds):
    from email.utils import formatdate

    return formatdate(time.time() + seconds, usegmt=True)


@pytest.mark.parametrize("date", [None, "soon", ""])
def test_compares_a_date_in_retry_after_with_its_own_clock_without_a_date_of_the_response(client_of, waits, date):
    limited = rejection(429, "rate_limited", retry_after=date_in(30), **({} if date is None else {"date": date}))
    client_of(Server(limited, record(202))).call(send)
    assert 28 <= waits[0] <= 31


@pytest.mark.parametrize("ahead", [-86400, -20, 0, 20, 86400])
@pytest.mark.parametrize("wait, seconds", [(30, 30), (-30, 0)])
def test_compares_a_date_in_retry_after_with_the_clock_of_the_server(client_of, waits, ahead, wait, seconds):
    limited = rejection(429, "rate_limited", retry_after=date_in(ahead + wait), date=date_in(ahead))
    client_of(Server(limited, record(202))).call(send)
    assert seconds - 1 <= waits[0] <= seconds + 1.2


def test_does_not_wait_longer_than_a_minute(client_of, waits):
    server = Server(rejection(429, "daily_message_limit", retry_after="7200"))
    error = error_of(client_of(server), send)
    assert (error.retry_after, len(server.requests), waits) == (7200, 1, [])


LOST = [httpx.ReadError("x"), httpx.ReadTimeout("x"), rejection(500, "internal"), lambda _: httpx.Response(200, html="<p>")]


@pytest.mark.parametrize("failure", LOST)
def test_does_not_repeat_a_delete_that_may_have_taken_effect(client_of, failure):
    server = Server(failure, rejection(404, "webhook_not_found"))
    error = error_of(client_of(server), delete)
    assert error.may_have_taken_effect and len(server.requests) == 1
    assert "may have taken effect" in str(error)


@pytest.mark.parametrize("failure", [httpx.ConnectError("x"), httpx.ConnectTimeout("x"), rejection(429, "rate_limited")])
def test_repeats_a_delete_that_has_had_no_effect(client_of, failure):
    server = Server(failure, lambda _: httpx.Response(204))
    assert client_of(server).call(delete).data is None
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "failures, call, may",
    [
        ([httpx.ConnectError("x")], send, False),
        ([httpx.ReadError("x")], send, True),
        ([httpx.ReadTimeout("x")], update, True),
        ([rejection(500, "internal")], send, True),
        ([rejection(503, "clinic_paused")], send, False),
        ([rejection(409, "idempotency_in_progress")], send, True),
        ([rejection(422, "validation")], send, False),
        ([httpx.ReadTimeout("x")], read, False),
        # What an earlier attempt did stays unknown, unless the API says that it has not executed this key.
        ([httpx.ReadError("x"), rejection(429, "rate_limited", retry_after="600")], send, True),
        ([httpx.ReadError("x"), rejection(401, "unauthorized")], send, True),
        ([httpx.ReadError("x"), httpx.ConnectError("x")], send, True),
        ([httpx.ReadError("x"), rejection(503, "clinic_paused")], send, True),
        ([httpx.ReadError("x"), rejection(422, "validation")], send, False),
    ],
)
def test_says_whether_the_request_may_have_taken_effect(client_of, failures, call, may):
    error = error_of(client_of(Server(*failures)), call)
    assert error.may_have_taken_effect is may
    assert error.idempotency_key if call is not read else error.idempotency_key is None


def test_tells_timeouts_and_connections_apart(client_of):
    for failure, kind, text in [
        (httpx.ReadTimeout("x"), RequestTimeoutError, "No whole response within 30 s (the request may have taken effect)"),
        (httpx.ConnectTimeout("x"), RequestTimeoutError, "No whole response within 30 s"),
        (httpx.ConnectError("x"), ConnectionFailedError, "The connection could not be established"),
        (httpx.ReadError("x"), ConnectionFailedError, "The connection was lost before the whole response arrived (the request may have taken effect)"),
    ]:
        error = error_of(client_of(Server(failure)), send)
        assert (type(error), str(error), error.status) == (kind, text, None)


BROKEN = {
    "empty": lambda _: httpx.Response(200),
    "HTML": lambda _: httpx.Response(200, html="<h1>Welcome</h1>"),
    "cut JSON": lambda _: httpx.Response(200, content=b'{"data": {"id'),
    "not UTF-8": lambda _: httpx.Response(200, content=b'{"data": "\xff"}'),
    "a list": lambda _: httpx.Response(200, json=[1]),
    "text": lambda _: httpx.Response(200, json="ok"),
    "null": lambda _: httpx.Response(200, json=None),
    "without data": lambda _: httpx.Response(200, json={"meta": {}}),
    "data of a list": lambda _: httpx.Response(200, json={"data": [], "meta": {}}),
    "data of text": lambda _: httpx.Response(200, json={"data": "x"}),
    "too deep": lambda _: httpx.Response(200, content=b"[" * 200_000),
    "a number of 5,000 digits": lambda _: httpx.Response(200, content=b'{"data":' + b"9" * 5000 + b"}"),
    "not gzip": lambda _: httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Stream([b"x" * 100])),
    "204 without need": lambda _: httpx.Response(204),
}


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    def __init__(self, chunks):
        self.chunks = chunks

    def __iter__(self):
        return iter(self.chunks)

    async def __aiter__(self):
        for chunk in self.chunks:
            yield chunk


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("call", [read, send])
def test_raises_for_a_broken_response_and_recovers(client_of, name, call):
    error = error_of(client_of(Server(BROKEN[name])), call)
    assert isinstance(error, (UnexpectedResponseError, ConnectionFailedError))
    assert error.may_have_taken_effect is (call is send)
    server = Server(BROKEN[name], record(200, {"id": "p1"}))
    assert client_of(server).call(call).data == {"id": "p1"}


@pytest.mark.parametrize("status", [301, 302, 304, 307, 308])
def test_follows_no_redirect(client_of, status):
    server = Server(lambda _: httpx.Response(status, headers={"location": "https://elsewhere.example/"}))
    error = error_of(client_of(server), send)
    assert isinstance(error, UnexpectedResponseError) and error.status == status
    assert [request.url.host for request in server.requests] == ["api.example.com"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"error": 5, "message": null, "details": "x", "details_omitted": "y"}', b'{"message": "errors.developer_api.x", "details": [1, null, {"field": 7}]}']
)
def test_raises_for_an_error_with_a_broken_body(client_of, body):
    error = error_of(client_of(Server(lambda _: httpx.Response(422, content=body))), send)
    assert type(error) is ValidationError and str(error)


@pytest.mark.parametrize("meta", [{}, {"page": 1}, {"next_after": 7}, {"total_pages": "x"}])
def test_raises_for_a_list_that_does_not_say_where_it_continues(client_of, meta):
    with pytest.raises(UnexpectedResponseError):
        client_of(Server(page([1], **meta))).collect(lambda c: c.patients.all())


@pytest.mark.parametrize("cursors", ["a", "ab", "abc"])
def test_raises_for_a_cursor_that_leads_back(client_of, cursors):
    server = Server(*(page([1], next_after=cursor, has_more=True) for cursor in cursors + cursors[0]))
    with pytest.raises(UnexpectedResponseError):
        client_of(server).collect(lambda c: c.events.all())
    assert len(server.requests) == len(cursors) + 1


def serve(respond):
    """A server on this machine that handles each connection with `respond`. Returns its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                respond(connection)

    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def drip(connection):
    """Sends a body byte by byte, each within the timeout."""
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(100):
        try:
            connection.sendall(b" ")
        except OSError:
            return
        time.sleep(0.05)


def drip_headers(connection):
    try:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        for at in range(100):
            connection.sendall(f"x-{at}: 1\r\n".encode())
            time.sleep(0.05)
    except OSError:
        return


def cut(connection):
    connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"data": {"id": "p1"}}')


def silence(connection):
    time.sleep(1)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("respond, raised", [(drip, RequestTimeoutError), (drip_headers, RequestTimeoutError), (silence, RequestTimeoutError), (cut, ConnectionFailedError)])
def test_ends_a_response_that_never_completes(kind, respond, raised):
    client = Form(kind, None, base_url=serve(respond), timeout=0.3, retries=0)
    began = time.monotonic()
    with pytest.raises(raised):
        client.call(read)
    assert time.monotonic() - began < 3
    client.call(lambda c: c.close())
