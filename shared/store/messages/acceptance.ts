import type { Clinic, ClinicId } from '../../domain/clinic.ts'
import type { Channel, Message } from '../../domain/message.ts'
import { clinicStore } from '../clinics.ts'
import { TTL } from '../keys/key.ts'
import { dueMessageKey, messageQuotaKey } from '../keys/messages.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { IdempotencyGuard, StoredResponse } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import { messageStore } from './messages.ts'

/** What a request for a message is judged by. */
export type AcceptanceContext = {
  readonly patient: StoredPatient | undefined
  readonly clinic: Clinic | null
  /** Messages of the channel that the clinic sent on that day so far. */
  readonly sentToday: number
}

/** A message to be written to the log, with the answer to keep. */
export type Acceptance<Body> = {
  readonly message: Message
  readonly status: number
  readonly response: Body
  /** The most messages of its channel that the clinic sends in a day. */
  readonly dailyLimit: number
  /** Until when a repetition is told that this one is under way; undefined when the answer is final. */
  readonly busyUntil?: number | undefined
}

/** Counts of a day are kept a little longer than the day lasts anywhere. */
const QUOTA_SECONDS = 3 * 24 * 60 * 60

/** Enters messages into the communication log before anything is sent. */
export function messageAcceptance({ table }: { table: Table }) {
  const messages = messageStore({ table })
  const patients = patientStore({ table })
  const clinics = clinicStore({ table })

  /**
   * Reads, lets `decide` judge what was read, and writes the log entry with its due time, its answer and the day's
   * count in one transaction, under the condition that the patient is still as read and the day's limit is kept.
   */
  async function accept<Body>(
    clinic: ClinicId,
    wanted: { readonly patient: string; readonly channel: Channel; readonly date: string },
    idempotency: IdempotencyGuard,
    decide: (facts: AcceptanceContext) => Acceptance<Body>,
  ): Promise<StoredResponse | Acceptance<Body>> {
    return retryOnConflict(async () => {
      const [storedResponse, known, settings, quota] = await Promise.all([
        idempotency.find(),
        patients.findMany(clinic, [wanted.patient]),
        clinics.find(clinic),
        table.get(messageQuotaKey(clinic, wanted.date)),
      ])
      if (storedResponse) return storedResponse
      const patient = known.get(wanted.patient)
      const sentToday = (quota?.[wanted.channel] as number | undefined) ?? 0
      const acceptance = decide({ patient, clinic: settings, sentToday })
      const changes = new Changeset(table, clinic)
      messages.change(changes, null, acceptance.message)
      if (patient) changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      addToQuota(changes, wanted, acceptance)
      const { message, status, response, busyUntil } = acceptance
      if (busyUntil === undefined) idempotency.store(changes, status, response, wanted.patient)
      else idempotency.reserve(changes, status, response, wanted.patient, busyUntil)
      if (message.dispatch)
        changes.put(dueMessageKey({ clinic, id: message.id, at: message.dispatch.dueAt }), 'new')
      await changes.commit()
      return acceptance
    })
  }

  function addToQuota(
    changes: Changeset,
    { channel, date }: { readonly channel: Channel; readonly date: string },
    { message, dailyLimit }: Acceptance<unknown>,
  ): void {
    const quota = messageQuotaKey(changes.clinic, date)
    changes.add(quota, channel, 1)
    changes.limitCounter(quota, channel, dailyLimit)
    changes.set(quota, TTL, Math.floor(Date.parse(message.acceptedAt) / 1000) + QUOTA_SECONDS)
  }

  return { accept }
}
