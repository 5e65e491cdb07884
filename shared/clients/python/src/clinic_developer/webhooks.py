"""Verifies deliveries by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, Mapping, Optional, Protocol, Tuple, Union, cast

if TYPE_CHECKING:
    from .models import WebhookEvent

# The largest accepted difference between a delivery's timestamp and the current time, in seconds.
TOLERANCE = 300


class Items(Protocol):
    """The headers of a request, as a dict or as the class of a web framework."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


# WSGI passes the headers in its environ, ASGI as a list of pairs.
Headers = Union[Items, Mapping[str, Any], Iterable[Tuple[bytes, bytes]]]


class WebhookVerificationError(Exception):
    """The delivery does not come from the API: respond with 400."""


def verify_webhook(
    body: Union[str, bytes], headers: Headers, secret: str, *, now: Optional[float] = None
) -> WebhookEvent:
    """Verifies a delivery and returns its event, which has a type for each value of `event`.

    body: The raw body, exactly as received.

    headers: The headers of the request: `request.headers` of Django, Flask, FastAPI and aiohttp, the environ of WSGI, the
    `scope["headers"]` of ASGI, or a dict. The case of their names does not matter.

    secret: The secret that the API returned when the endpoint was created, or the one you chose.

    now: Seconds since the epoch. Defaults to the current time.
    """
    key = signing_key(secret)
    # Text that is not valid Unicode matches no signature.
    content = body.encode(errors="surrogatepass") if isinstance(body, str) else body
    if not isinstance(content, (bytes, bytearray)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"body must be the raw body, str or bytes, not {type(body).__name__}")
    values = read_headers(headers)
    id, timestamp = values.get("webhook-id", ""), values.get("webhook-timestamp", "")
    current = time.time() if now is None else now
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(current - int(timestamp)) > TOLERANCE:
        raise WebhookVerificationError(
            "The webhook timestamp is missing, or more than five minutes off the clock of this machine: "
            "correct the clock, or set the option `now`"
        )
    signed = f"{id}.{timestamp}.".encode(errors="surrogatepass") + content
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # There are several signatures for 24 hours after a secret rotation. A comma joins headers of the same name.
    signatures = re.findall(r"(?:^|[ ,])(v1,[^ ,]*)", values.get("webhook-signature", ""))
    matches = [hmac.compare_digest(expected, one.encode(errors="surrogatepass")) for one in signatures]
    if id == "" or not any(matches):
        raise WebhookVerificationError("The webhook signature does not match the secret")
    try:
        event: Any = json.loads(content)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict) or "event" not in event:
        raise WebhookVerificationError("The webhook body is not an event")
    return cast("WebhookEvent", event)


def read_headers(headers: Headers) -> Dict[str, str]:
    """The headers of the signature, by their names in lower case."""
    values: Dict[str, str] = {}
    try:
        for name, value in pairs_of(headers):
            key = name.lower().replace("_", "-")
            key = key[len("http-") :] if key.startswith("http-") else key
            if key.startswith("webhook-"):
                values[key] = f"{values[key]},{value}" if key in values else value
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"headers must be those of the request, such as request.headers, not {type(headers).__name__}") from None
    for name, value in values.items():
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"headers must have a str as {name}, not {type(value).__name__}")
    return values


def pairs_of(headers: Any) -> Iterator[Tuple[str, str]]:
    for name, value in headers.items() if hasattr(headers, "items") else headers:
        yield decoded(name), decoded(value)


def decoded(text: Any) -> Any:
    return text.decode("latin-1") if isinstance(text, bytes) else text


def signing_key(secret: str) -> bytes:
    if not isinstance(secret, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"secret must be a str, not {type(secret).__name__}")
    if secret == "":
        raise ValueError("secret must not be empty")
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        key = base64.b64decode(secret[len("whsec_") :], validate=True)
    except (binascii.Error, ValueError):
        key = b""
    # Anyone can sign with an empty key.
    if key == b"":
        raise ValueError("secret must be whsec_ followed by base64")
    return key
