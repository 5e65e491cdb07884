"""Calls every method of the published Python client (wioclinic on PyPI), one after the other.

With `record`, prints the requests that the client would send, with placeholders such as `$patient` for values. Without,
reads `base_url`, `key`, `secret` and `values` as JSON from standard input, sends the requests, and prints one line of
JSON for each call.
"""

import json
import sys

import httpx
from wioclinic import WioClinic, WioClinicError

SECRET = "a-secret-of-the-integrator"

# The name of a call, the call itself, and which values of its result later calls use.
CALLS = [
    ("me", lambda c, v: c.me(), {}),
    ("health", lambda c, v: c.health(), {}),
    ("clinic.get", lambda c, v: c.clinic.get(), {}),
    ("clinic.doctors", lambda c, v: c.clinic.doctors(), {}),
    ("clinic.departments", lambda c, v: c.clinic.departments(), {}),
    ("clinic.rooms", lambda c, v: c.clinic.rooms(), {}),
    ("clinic.treatments", lambda c, v: c.clinic.treatments(), {}),
    ("clinic.price_lists", lambda c, v: c.clinic.price_lists(), {}),
    ("patients.list", lambda c, v: c.patients.list(), {}),
    (
        "patients.list with filters",
        lambda c, v: c.patients.list(page=1, limit=5, search="a", is_active=True),
        {},
    ),
    (
        "patients.create",
        lambda c, v: c.patients.create(
            first_name="Ada",
            last_name="Kaya",
            date_of_birth="1990-05-17",
            gender="female",
            phone_number="+905321234567",
            email_address="ada@example.com",
            national_id="10000000146",
            notes="Prefers mornings",
        ),
        {"patient": "id"},
    ),
    ("patients.get", lambda c, v: c.patients.get(v["patient"]), {}),
    (
        "patients.update",
        lambda c, v: c.patients.update(v["patient"], last_name="Kaya Demir", notes="Prefers evenings"),
        {},
    ),
    (
        "availability.check",
        lambda c, v: c.availability.check(doctor_id=v["doctor"], date=v["date"]),
        {},
    ),
    (
        "availability.check with duration",
        lambda c, v: c.availability.check(doctor_id=v["doctor"], date=v["date"], duration=15),
        {f"{edge}{at}": f"{at}.{edge}_time" for at in range(5) for edge in ("start", "end")},
    ),
    ("appointments.create", lambda c, v: create(c, v, 0), {"appointment": "id"}),
    (
        "appointments.create with treatments",
        lambda c, v: create(c, v, 1, notes="First appointment", treatment_ids=[v["treatment"]]),
        {"missed": "id"},
    ),
    ("appointments.create to cancel", lambda c, v: create(c, v, 2), {"cancelled": "id"}),
    ("appointments.create to cancel with a reason", lambda c, v: create(c, v, 3), {"called_off": "id"}),
    ("appointments.list", lambda c, v: c.appointments.list(), {}),
    (
        "appointments.list with filters",
        lambda c, v: c.appointments.list(
            date_from=v["date"],
            date_to=v["date"],
            patient_id=v["patient"],
            doctor_id=v["doctor"],
            status="scheduled",
        ),
        {},
    ),
    ("appointments.get", lambda c, v: c.appointments.get(v["appointment"]), {}),
    (
        "appointments.update",
        lambda c, v: c.appointments.update(
            v["appointment"],
            appointment_date=v["date"],
            start_time=v["start4"],
            end_time=v["end4"],
            notes="Moved",
        ),
        {},
    ),
    ("appointments.confirm", lambda c, v: c.appointments.confirm(v["appointment"]), {}),
    ("appointments.check_in", lambda c, v: c.appointments.check_in(v["appointment"]), {}),
    ("appointments.complete", lambda c, v: c.appointments.complete(v["appointment"]), {}),
    ("appointments.no_show", lambda c, v: c.appointments.no_show(v["missed"]), {}),
    ("appointments.cancel", lambda c, v: c.appointments.cancel(v["cancelled"]), {}),
    (
        "appointments.cancel with a reason",
        lambda c, v: c.appointments.cancel(v["called_off"], reason="Patient is abroad"),
        {},
    ),
    ("finance.list_invoices", lambda c, v: c.finance.list_invoices(), {}),
    (
        "finance.list_invoices with filters",
        lambda c, v: c.invoices.list_invoices(
            patient_id=v["patient"], status="paid", from_date="2026-01-01", to_date="2026-12-31"
        ),
        {},
    ),
    ("finance.get_invoice", lambda c, v: c.finance.get_invoice(v["invoice"]), {}),
    ("finance.invoice_payments", lambda c, v: c.finance.invoice_payments(v["invoice"]), {}),
    ("finance.list_payments", lambda c, v: c.finance.list_payments(), {}),
    (
        "finance.list_payments with filters",
        lambda c, v: c.payments.list_payments(
            patient_id=v["patient"], from_date="2026-01-01", to_date="2026-12-31"
        ),
        {},
    ),
    (
        "messages.send an SMS",
        lambda c, v: c.messages.send(patient_id=v["patient"], channel="sms", message="See you tomorrow"),
        {},
    ),
    (
        "messages.send an email",
        lambda c, v: c.messages.send(
            patient_id=v["patient"], channel="email", subject="Your appointment", message="See you tomorrow"
        ),
        {},
    ),
    ("messages.list", lambda c, v: c.messages.list(patient_id=v["patient"], channel="sms"), {}),
    (
        "webhooks.create",
        lambda c, v: c.webhooks.create(
            target_url="https://example.com/hooks",
            subscribed_events=["appointment.created", "payment.received"],
            signing_secret=SECRET,
        ),
        {"webhook": "id"},
    ),
    ("webhooks.list", lambda c, v: c.webhooks.list(), {}),
    ("webhooks.get", lambda c, v: c.webhooks.get(v["webhook"]), {}),
    (
        "webhooks.update",
        lambda c, v: c.webhooks.update(
            v["webhook"],
            target_url="https://example.com/other",
            subscribed_events=["patient.updated"],
            signing_secret=f"{SECRET}-2",
            is_active=True,
        ),
        {},
    ),
    ("webhooks.test", lambda c, v: c.webhooks.test(v["webhook"]), {"delivery": "id"}),
    ("webhooks.deliveries", lambda c, v: c.webhooks.deliveries(v["webhook"]), {}),
    (
        "webhooks.replay_delivery",
        lambda c, v: c.webhooks.replay_delivery(v["webhook"], v["delivery"]),
        {},
    ),
    ("webhooks.delete", lambda c, v: c.webhooks.delete(v["webhook"]), {}),
    ("patients.deactivate", lambda c, v: c.patients.deactivate(v["patient"]), {}),
]


def create(client, values, at, **more):
    """Books the free slot at a position of the list of free slots."""
    return client.appointments.create(
        patient_id=values["patient"],
        doctor_id=values["doctor"],
        appointment_date=values["date"],
        start_time=values[f"start{at}"],
        end_time=values[f"end{at}"],
        **more,
    )


class Placeholders(dict):
    def __missing__(self, name):
        return f"${name}"


def value_at(result, path):
    for step in path.split("."):
        result = result[int(step)] if step.isdigit() else result[step]
    return result


def record():
    """Prints what the client sends, without sending it."""
    sent = []

    def keep(request):
        sent.append(request)
        return httpx.Response(200, json={"data": {}})

    transport = httpx.Client(transport=httpx.MockTransport(keep))
    client = WioClinic(key_id="$key", secret="$secret", base_url="https://api", http_client=transport)
    requests = []
    for name, call, keeps in CALLS:
        call(client, Placeholders())
        request = sent.pop()
        headers = {
            header: value
            for header, value in request.headers.items()
            if header not in ("host", "connection", "accept-encoding", "content-length")
        }
        if "x-idempotency-key" in headers:
            headers["x-idempotency-key"] = "$new"
        requests.append(
            {
                "call": name,
                "method": request.method,
                "target": request.url.raw_path.decode().replace("%24", "$"),
                "headers": headers,
                "body": request.content.decode(),
                "keeps": keeps,
            }
        )
    print(json.dumps(requests, indent=2))


def send():
    """Calls the API, and prints the outcome of each call."""
    given = json.load(sys.stdin)
    values = given["values"]
    client = WioClinic(key_id=given["key"], secret=given["secret"], base_url=given["base_url"])
    for name, call, keeps in CALLS:
        try:
            result = call(client, values)
            for value, path in keeps.items():
                values[value] = value_at(result, path)
            print(json.dumps({"call": name, "outcome": "ok"}), flush=True)
        except (WioClinicError, LookupError, TypeError) as error:
            body = getattr(error, "body", None)
            print(json.dumps({"call": name, "outcome": repr(error), "body": body}), flush=True)


if __name__ == "__main__":
    record() if sys.argv[1:] == ["record"] else send()
