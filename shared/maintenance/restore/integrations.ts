/** The records of a clinic that integrators know: their credentials, endpoints, events, deliveries and responses. */
import { ROUTES } from '../../api/routes.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { mirrorCredentials } from '../../store/credential-changes.ts'
import { calendarPartition, ENTITY_CODES } from '../../store/keys/calendar.ts'
import { treatmentsPartition } from '../../store/keys/catalogue.ts'
import { clinicCredentialsPartition, doctorsPartition } from '../../store/keys/clinics.ts'
import { ALL_ANNOUNCED_PARTITIONS, eventHeadKey, eventsPartition } from '../../store/keys/events.ts'
import { storedResponseRoute, storedResponsesPartition } from '../../store/keys/idempotency.ts'
import { messageQuotaPartition } from '../../store/keys/messages.ts'
import { patientKey } from '../../store/keys/patients.ts'
import {
  DUE_DELIVERY_PARTITIONS,
  deliveriesPartition,
  parseWebhookKey,
  webhookCountKey,
  webhookHealthPartition,
  webhooksPartition,
} from '../../store/keys/webhooks.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import { bySortKey, mirrorPartition, type Restore } from './mirror-partition.ts'

/** Requests whose effects are not undone by a restore: messages that were sent, and endpoints with their deliveries. */
const LASTING_ROUTES = new Set(
  ROUTES.filter(({ method, path }) => method !== 'GET' && /^\/(messages|webhooks)\b/.test(path)).map(
    ({ id }) => id,
  ),
)

/**
 * Takes over a clinic's credentials, endpoints, events and deliveries as the source has them: a credential that was revoked
 * stays revoked, a cursor stays valid, and delivered events are not delivered again. Returns the number of changed items.
 */
export async function takeOverIntegrations(tables: Restore, clinic: ClinicId): Promise<number> {
  let count = await mirrorCredentials(tables.source, tables.restored, clinic)
  const webhooks = await webhookIds(tables, clinic)
  const partitions = [
    clinicCredentialsPartition(clinic),
    ...webhooks.map((id) => deliveriesPartition(clinic, id)),
    webhooksPartition(clinic),
    webhookCountKey(clinic).pk,
    webhookHealthPartition(clinic),
    eventsPartition(clinic),
    eventHeadKey(clinic).pk,
    messageQuotaPartition(clinic),
  ]
  for (const pk of partitions) count += await mirrorPartition(tables, pk)
  return (
    count +
    (await mirrorPartition(tables, storedResponsesPartition(clinic), (key) =>
      LASTING_ROUTES.has(storedResponseRoute(key)),
    ))
  )
}

/** Takes over, for all clinics, which events have to be fanned out and which deliveries are due. */
export async function takeOverDueItems(tables: Restore): Promise<number> {
  let count = 0
  for (const pk of [...ALL_ANNOUNCED_PARTITIONS, ...DUE_DELIVERY_PARTITIONS])
    count += await mirrorPartition(tables, pk)
  return count
}

/** Endpoints that one of the tables has: an interrupted run may have removed some already. */
async function webhookIds({ source, restored }: Restore, clinic: ClinicId): Promise<string[]> {
  const ids = new Set<string>()
  for (const table of [source, restored])
    for await (const page of partitionPages(table, webhooksPartition(clinic)))
      for (const item of page) ids.add(parseWebhookKey(item))
  return [...ids]
}

/**
 * Makes the events of every record continue after the last one that the source announced: endpoints ignore an event whose
 * sequence number they have had. Returns the number of records.
 */
export async function continueEventCounters(
  { source, restored }: Restore,
  clinic: ClinicId,
): Promise<number> {
  let count = 0
  const partitions = [
    patientKey(clinic, '').pk,
    doctorsPartition(clinic),
    treatmentsPartition(clinic),
    ...ENTITY_CODES.map((entityCode) => calendarPartition(clinic, entityCode)),
  ]
  for (const pk of partitions) {
    for await (const page of partitionPages(source, pk)) {
      const existing = await bySortKey(restored, page)
      const behind = page.filter(({ sk, ev }) => {
        const item = existing.get(sk)
        return item && eventsOf(ev) > eventsOf(item.ev)
      })
      for (const { pk, sk, ev } of behind)
        await restored.update(
          { pk, sk },
          { UpdateExpression: 'SET ev = :count', ExpressionAttributeValues: { ':count': ev } },
        )
      count += behind.length
    }
  }
  return count
}

const eventsOf = (ev: unknown): number => (ev as number | undefined) ?? 0
