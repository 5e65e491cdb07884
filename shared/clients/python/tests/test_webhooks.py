import base64
import hashlib
import hmac
import json

import pytest
from standardwebhooks import Webhook

from clinic_developer import WebhookVerificationError, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = '{"id": "evt_1", "event": "patient.created", "data": {"id": "ı"}}'
NOW = 1_777_888_999


def signed(body=BODY, secret=SECRET, at=NOW):
    key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    digest = hmac.new(key, f"evt_1.{at}.{body}".encode(), hashlib.sha256).digest()
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def accepts(body, headers, secret=SECRET, now=NOW):
    try:
        return verify_webhook(body, headers, secret, now=now) == json.loads(body)
    except WebhookVerificationError:
        return False


@pytest.mark.parametrize("secret", [SECRET, "a secret of one's own"])
def test_accepts_a_signed_delivery(secret):
    headers = signed(secret=secret)
    assert accepts(BODY, headers, secret) and accepts(BODY.encode(), headers, secret)
    assert accepts(BODY, {name.title(): value for name, value in headers.items()}, secret)
    both = {**headers, "webhook-signature": f"v1,AAAA v2,x {headers['webhook-signature']}"}
    assert accepts(BODY, both, secret)


def test_agrees_with_the_library_of_standard_webhooks(monkeypatch):
    import datetime

    import standardwebhooks.webhooks as library

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(NOW, tz)

    monkeypatch.setattr(library, "datetime", Clock)

    def agree(body, headers):
        try:
            Webhook(SECRET).verify(body, headers)
            theirs = True
        except Exception:
            theirs = False
        assert (accepts(body, headers), headers) == (theirs, headers)
        return theirs

    headers = signed()
    assert agree(BODY, headers)
    assert not agree(BODY.replace("1", "2"), headers)
    assert agree(BODY, signed(at=NOW - 299)) and not agree(BODY, signed(at=NOW - 301)) and not agree(BODY, signed(at=NOW + 301))
    for name, value in headers.items():
        agree(BODY, {other: text for other, text in headers.items() if other != name})
        for at, character in enumerate(value):
            agree(BODY, {**headers, name: value[:at] + ("1" if character == "0" else "0") + value[at + 1 :]})


@pytest.mark.parametrize("change", [{"webhook-timestamp": "nan"}, {"webhook-timestamp": "9" * 400}, {"webhook-timestamp": "٣"}, {"webhook-signature": "ü"}, {"webhook-signature": "\udcff"}, {"webhook-id": "\udcff"}, {"webhook-signature": ""}, {"webhook-id": ""}])
def test_rejects_hostile_headers(change):
    assert not accepts(BODY, {**signed(), **change})
    assert not accepts(BODY, {})
    assert not accepts(BODY + "\udcff", signed())


def test_names_the_clock_and_the_option_when_the_time_is_off():
    with pytest.raises(WebhookVerificationError, match="clock of this machine.*`now`"):
        verify_webhook(BODY, signed(at=NOW - 301), SECRET, now=NOW)


@pytest.mark.parametrize("body", ["", "[]", "{", "{}", "[" * 100_000])
def test_rejects_a_signed_body_that_is_not_an_event(body):
    with pytest.raises(WebhookVerificationError):
        verify_webhook(body, signed(body), SECRET, now=NOW)


@pytest.mark.parametrize("secret, body, error, name", [("", BODY, ValueError, "secret"), ("whsec_?", BODY, ValueError, "secret"), ("whsec_", BODY, ValueError, "secret"), (None, BODY, TypeError, "secret"), (SECRET, {"id": 1}, TypeError, "body")])
def test_rejects_an_argument(secret, body, error, name):
    with pytest.raises(error, match=f"^{name} must"):
        verify_webhook(body, signed(), secret, now=NOW)


def environ(headers):
    return {"REQUEST_METHOD": "POST", "wsgi.input": object(), **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}}


def asgi(headers):
    return [(b"host", b"example.com"), *((name.encode(), value.encode()) for name, value in headers.items())]


@pytest.mark.parametrize("form", [environ, asgi, lambda headers: list(headers.items()), lambda headers: dict(asgi(headers))])
def test_reads_the_headers_of_wsgi_and_asgi(form):
    assert accepts(BODY, form(signed()))
    assert not accepts(BODY, form({**signed(), "webhook-id": "evt_2"}))
    assert not accepts(BODY, form({}))


def test_reads_a_signature_of_several_header_lines():
    other, right = "v1,AAAA", signed()["webhook-signature"]
    for value in [f"{other}, {right}", f"{right},{other}", f"v1a,x,{right}"]:
        assert accepts(BODY, {**signed(), "webhook-signature": value})
    lines = [pair for pair in asgi(signed()) if pair[0] != b"webhook-signature"]
    assert accepts(BODY, [*lines, (b"webhook-signature", other.encode()), (b"webhook-signature", right.encode())])


@pytest.mark.parametrize("shape", [None, 7, "x", ["webhook-id"], {name: [value] for name, value in signed().items()}])
def test_names_the_headers_of_another_shape(shape):
    with pytest.raises(TypeError, match="^headers must"):
        verify_webhook(BODY, shape, SECRET, now=NOW)
