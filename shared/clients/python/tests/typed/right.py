"""A program in which type checkers must find nothing."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Literal, Mapping, Optional, Tuple

from clinic_developer import (
    ApiError,
    AsyncClient,
    AuthenticationError,
    BadRequestError,
    Client,
    NotFoundError,
    Page,
    PermissionDeniedError,
    PreconditionFailedError,
    RateLimitError,
    Response,
    ServerError,
    SlotUnavailableError,
    UnexpectedResponseError,
    ValidationError,
    verify_webhook,
)
from clinic_developer.models import Appointment, Event, PatientCreate, Patient, PatientDetails, WebhookEvent

client = Client(credential="ck_1:cs_1", base_url="https://api.example.com", timeout=5, retries=0)

ada: PatientCreate = {"first_name": "Ada", "last_name": "Kaya", "gender": None}
created: Response[PatientDetails] = client.patients.create(ada, idempotency_key="k")
name: str = created.data["full_name"]
etag: Optional[str] = created.etag
client.patients.update(created.data["id"], {"first_name": "Eva"}, if_match=created.etag)
booked: Appointment = client.appointments.book(
    {"patient_id": "p", "doctor_id": "d", "appointment_date": "2026-05-04", "start_time": "09:00"}
).data
client.appointments.cancel(booked["id"])
client.appointments.cancel(booked["id"], {})
deleted: None = client.webhooks.delete("w").data

total: int = client.patients.list(search="x").meta["total"]
as_of: str = client.patients.list(updated_since="2026-05-04T12:00:00Z").meta["as_of"]
cursor: Optional[str] = client.patients.list(after="a").meta["next_after"]
patients: List[Patient] = [patient for patient in client.patients.all(is_active=True, limit=5)]
for changed in client.patients.changes(since="2026-05-04T12:00:00Z"):
    position: str = changed.position
    changed_ids: List[str] = [patient["id"] for patient in changed.data]
for appointment in client.appointments.all(expand="patient"):
    phone: Optional[str] = appointment["patient"]["phone_number"]
billed: Optional[str] = client.invoices.get("i", expand="patient").data["patient"]["email"]
expand: Optional[Literal["patient"]] = "patient" if billed else None
some_name: str = client.appointments.list(expand=expand, after=cursor).data[0]["patient"]["full_name"]
for slot in client.availability.all(treatment_id="t", date="2026-05-04", date_to="2026-05-08", doctor_id=None):
    offered: List[str] = [slot["doctor"]["id"], slot["date"], slot["start_time"]]
day: str = client.availability.get(doctor_id="d", date="2026-05-04", date_to="2026-05-08").data[0]["date"]
event_cursor: str = client.events.list(after=cursor).meta["next_after"]
lists = {"patients": client.patients, "appointments": client.appointments, "messages": client.messages}
for kind in lists.values():
    for copied in kind.changes(since="2026-05-04T12:00:00Z"):
        copied_ids: List[str] = [record["id"] for record in copied.data]
for delivery in client.webhooks.deliveries("w").all():
    print(delivery["status"])
page = client.doctors.list()
limit = page.rate_limit
left: int = limit.remaining if limit else 0


def handle(event: WebhookEvent) -> str:
    if event["event"] == "import.completed":
        return event["data"]["entity"]
    if event["event"] == "appointment.cancelled":
        return event["data"]["start_time"]
    return event["id"]


def receive(body: bytes, headers: Dict[str, str]) -> str:
    return handle(verify_webhook(body, headers, "whsec_x"))


def receive_wsgi(body: bytes, environ: Dict[str, Any]) -> str:
    return handle(verify_webhook(body, environ, "whsec_x"))


def receive_asgi(body: bytes, scope_headers: Iterable[Tuple[bytes, bytes]]) -> str:
    return handle(verify_webhook(body, scope_headers, "whsec_x"))


def receive_any(body: bytes, headers: Mapping[str, str]) -> str:
    return handle(verify_webhook(body, headers, "whsec_x"))


def first(events: Page[Event, object]) -> str:
    return handle(events.data[0])


try:
    client.appointments.confirm("a")
except SlotUnavailableError as error:
    start: str = error.alternatives[0]["start_time"]
    taken: int = error.status
except (BadRequestError, AuthenticationError, PermissionDeniedError, NotFoundError, PreconditionFailedError) as error:
    rejected: int = error.status
except (ValidationError, RateLimitError, ServerError, UnexpectedResponseError) as error:
    failed: int = error.status
except ApiError as error:
    if error.key == "appointment_closed":
        print(error.details, error.status, error.retry_after)


async def main() -> None:
    async with AsyncClient(credential="ck_1:cs_1", base_url="https://api.example.com") as clinic:
        account = await clinic.me()
        scopes = account.data["scopes"]
        print(scopes)
        async for invoice in clinic.invoices.all(from_="2026-01-01"):
            amount: float = invoice["total_amount"]
            print(amount)
        async for changes in clinic.appointments.changes(since=position, follow=True):
            print(changes.position)
