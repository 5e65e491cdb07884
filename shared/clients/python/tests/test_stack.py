"""The client against a running API: API has its address, CREDENTIAL a credential with every scope."""

import os
import re
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from clinic_developer import Client, ConnectionFailedError, NotFoundError

API, CREDENTIAL = os.environ.get("API", ""), os.environ.get("CREDENTIAL", "")

pytestmark = pytest.mark.skipif(API == "", reason="API is not set")


@pytest.fixture
def waits():
    """Here the client does wait."""


@pytest.fixture
def clinic():
    with Client(credential=CREDENTIAL, base_url=API) as client:
        yield client


def new_patient():
    return {"first_name": "Ada", "last_name": "Kaya", "external_id": str(uuid4())}


class LosesReplies(httpx.HTTPTransport):
    """Sends each request, and loses the first responses."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def handle_request(self, request):
        response = super().handle_request(request)
        self.count -= 1
        if self.count < 0:
            return response
        response.read()
        raise httpx.ReadError("lost")


def losing(count):
    return Client(credential=CREDENTIAL, base_url=API, http_client=httpx.Client(transport=LosesReplies(count)))


def test_the_samples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, re.M | re.S)
    exec("\n".join(blocks), {"__name__": "__main__"})
    assert "phone_number" in capsys.readouterr().out


def test_a_request_whose_replies_are_lost_is_executed_once(clinic):
    patient = new_patient()
    created = losing(2).patients.create(patient)
    assert created.is_replayed
    found = clinic.patients.list(external_id=patient["external_id"])
    assert [one["id"] for one in found.data] == [created.data["id"]]
    # A replayed change is not compared with its own effect.
    changed = losing(2).patients.update(created.data["id"], {"notes": "x"}, if_match=created.etag)
    assert changed.is_replayed and changed.status == 200


def test_a_delete_whose_reply_is_lost_says_so(clinic):
    webhook = clinic.webhooks.create({"url": f"https://example.com/{uuid4()}", "events": ["invoice.paid"]}).data
    with pytest.raises(ConnectionFailedError) as raised:
        losing(1).webhooks.delete(webhook["id"])
    assert raised.value.may_have_taken_effect
    with pytest.raises(NotFoundError):
        clinic.webhooks.get(webhook["id"])
