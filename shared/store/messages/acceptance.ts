import type { Clinic, ClinicId } from '../../domain/clinic.ts'
import type { Channel, Message } from '../../domain/message.ts'
import type { KeptAnswer } from '../../domain/stored-response.ts'
import { clinicStore } from '../clinics.ts'
import { TTL } from '../keys/key.ts'
import { dueMessageKey, messageQuotaKey } from '../keys/messages.ts'
import { patientKey } from '../keys/patients.ts'
import { type PlacedPatient, patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { Once } from '../table/idempotency.ts'
import { uncontested } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import { messageStore } from './messages.ts'

/** What a request for a message is judged by. */
export type AcceptanceFacts = {
  readonly patient: PlacedPatient | undefined
  readonly clinic: Clinic | null
  /** Messages of the channel that the clinic sent on that day so far. */
  readonly sentToday: number
}

/** A message to be written to the log, with the answer to keep. */
export type Acceptance<Answer> = {
  readonly message: Message
  readonly status: number
  readonly answer: Answer
  /** The most messages of its channel that the clinic sends in a day. */
  readonly mostToday: number
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
  async function accept<Answer>(
    clinic: ClinicId,
    wanted: { readonly patient: string; readonly channel: Channel; readonly date: string },
    once: Once,
    decide: (facts: AcceptanceFacts) => Acceptance<Answer>,
  ): Promise<KeptAnswer | Acceptance<Answer>> {
    return uncontested(async () => {
      const [kept, known, settings, quota] = await Promise.all([
        once.find(),
        patients.findMany(clinic, [wanted.patient]),
        clinics.find(clinic),
        table.get(messageQuotaKey(clinic, wanted.date)),
      ])
      if (kept) return kept
      const patient = known.get(wanted.patient)
      const sentToday = (quota?.[wanted.channel] as number | undefined) ?? 0
      const acceptance = decide({ patient, clinic: settings, sentToday })
      const changes = new Changeset(table, clinic)
      messages.change(changes, null, acceptance.message)
      if (patient) changes.require(patientKey(clinic, patient.id), patient.version)
      count(changes, wanted, acceptance)
      const { message, status, answer, busyUntil } = acceptance
      if (busyUntil === undefined) once.keep(changes, status, answer, wanted.patient)
      else once.reserve(changes, status, answer, wanted.patient, busyUntil)
      if (message.dispatch)
        changes.put(dueMessageKey({ clinic, id: message.id, at: message.dispatch.dueAt }), 'new')
      await changes.commit()
      return acceptance
    })
  }

  function count(
    changes: Changeset,
    { channel, date }: { readonly channel: Channel; readonly date: string },
    { message, mostToday }: Acceptance<unknown>,
  ): void {
    const quota = messageQuotaKey(changes.clinic, date)
    changes.add(quota, channel, 1)
    changes.below(quota, channel, mostToday)
    changes.set(quota, TTL, Math.floor(Date.parse(message.acceptedAt) / 1000) + QUOTA_SECONDS)
  }

  return { accept }
}
