"""A program in which type checkers must find every mistake: one in each line with `# wrong`."""

from __future__ import annotations

from clinic_developer import ApiError, AsyncClient, Client, verify_webhook
from clinic_developer.models import PatientCreate, WebhookEvent

client = Client(credential="ck_1:cs_1", base_url="https://api.example.com")

Client("ck_1:cs_1")  # wrong
Client(key="ck_1", base_url="https://api.example.com")  # wrong
nameless: PatientCreate = {"last_name": "Kaya"}  # wrong
misspelled: PatientCreate = {"first_name": "Ada", "last_name": "Kaya", "phone": "+49"}  # wrong
neutral: PatientCreate = {"first_name": "Ada", "last_name": "Kaya", "gender": "x"}  # wrong
client.patients.create({"first_name": 1, "last_name": "Kaya"})  # wrong
client.patients.create()  # wrong
client.patients.get()  # wrong
client.patients.get(1)  # wrong
client.patients.delete("p")  # wrong
client.patient.list()  # wrong
client.patients.list(serch="x")  # wrong
client.patients.list(is_active="yes")  # wrong
client.patients.list(updated_since="2026-05-04T12:00:00Z", search="x")  # wrong
client.patients.list(page=1, after="a")  # wrong
client.doctors.changes(since="2026-05-04T12:00:00Z")  # wrong
client.availability.get(doctor_id="d")  # wrong
client.appointments.list(expand="doctor")  # wrong
client.messages.send({"channel": "fax", "patient_id": "p", "message": "x"})  # wrong
client.patients.deactivate("p", {})  # wrong
client.patients.get("p", if_match="x")  # wrong
client.webhooks.delete("w", idempotency_key="x")  # wrong
client.patients.list()["data"]  # wrong
client.patients.get("p").data["fullname"]  # wrong
client.patients.get("p").data.full_name  # wrong
as_of: str = client.patients.list().meta["as_of"]  # wrong
number: int = client.patients.get("p").data["full_name"]  # wrong
client.patients.list().meta["pages"]  # wrong
for plain in client.appointments.all():
    print(plain["patient"]["phone_number"])  # wrong
client.availability.get(doctor_id="d", date="2026-05-04").data[0]["date"]  # wrong
client.availability.get(doctor_id="d", date="2026-05-04", date_to="2026-05-05").data[0]["doctor"]  # wrong
verify_webhook(b"", 7, "whsec_x")  # wrong


def handle(event: WebhookEvent) -> object:
    if event["event"] == "appointment.canceled":  # wrong
        return None
    if event["event"] == "invoice.paid":
        return event["data"]["start_time"]  # wrong
    return event["data"]["patient_id"]  # wrong


try:
    client.me()
except ApiError as error:
    print(error.message)  # wrong
    status: int = error.status  # wrong
    print(error.alternatives)  # wrong
    print(error.key == "slot_unavailabel")  # wrong


async def main() -> None:
    clinic = AsyncClient(credential="ck_1:cs_1", base_url="https://api.example.com")
    print(clinic.me().data)  # wrong
    for patient in clinic.patients.all():  # wrong
        pass
