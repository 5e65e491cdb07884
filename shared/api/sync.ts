/** Records of a clinic's own system, which pushes them as they change. */
import * as z from 'zod'
import type { Scope } from '../domain/scope.ts'
import { defineRoute } from './route.ts'
import { oneOf, Uuid } from './schemas.ts'

/** The entities of imports, each with the scope that writes its records, or none besides `sync.write`. */
export const SYNC_ENTITIES = {
  departments: 'catalogue.write',
  doctors: 'schedule.write',
  holidays: 'schedule.write',
  rooms: 'catalogue.write',
  treatments: 'catalogue.write',
  'price-lists': 'catalogue.write',
  patients: 'patient.write',
  appointments: 'appointment.write',
  invoices: 'invoice.write',
  payments: 'finance.write',
  messages: null,
} as const satisfies Readonly<Record<string, Scope | null>>

type SyncEntity = keyof typeof SYNC_ENTITIES

const ENTITIES = Object.keys(SYNC_ENTITIES) as [SyncEntity, ...SyncEntity[]]

const MAX_RECORDS = 50

const SyncRequest = z
  .strictObject({
    entity: oneOf(ENTITIES),
    records: z
      .array(z.record(z.string(), z.unknown(), { error: 'must be an object' }), {
        error: `must be a list of 1 to ${MAX_RECORDS} records`,
      })
      .min(1, { error: `must be a list of 1 to ${MAX_RECORDS} records` })
      .max(MAX_RECORDS, { error: `must be a list of 1 to ${MAX_RECORDS} records` }),
    overwrite: z.boolean({ error: 'must be true or false' }).optional(),
    allow_overlaps: z.boolean({ error: 'must be true or false' }).optional(),
  })
  .meta({ id: 'SyncRequest' })

const SyncIssue = z.lazy(() =>
  z.strictObject({ field: z.string(), issue: z.string() }).meta({ id: 'SyncIssue' }),
)

const OUTCOMES = ['created', 'updated', 'unchanged', 'rejected'] as const

const SyncResult = z.lazy(() =>
  z
    .strictObject({
      external_id: z.string().nullable(),
      id: Uuid.nullable(),
      outcome: oneOf(OUTCOMES),
      issues: z.array(SyncIssue),
      warnings: z.array(SyncIssue),
    })
    .meta({ id: 'SyncResult' }),
)

export type SyncResult = z.input<typeof SyncResult>

const SyncResponse = z.lazy(() =>
  z.strictObject({
    data: z.array(SyncResult),
    meta: z
      .strictObject({
        created: z.int().min(0),
        updated: z.int().min(0),
        unchanged: z.int().min(0),
        rejected: z.int().min(0),
      })
      .meta({ id: 'SyncMeta' }),
  }),
)

/** What became of a record, as `shared/sync` says it. */
type SyncedRecord = Omit<SyncResult, 'external_id' | 'issues' | 'warnings'> & {
  readonly externalId: string | null
  readonly issues: readonly z.input<typeof SyncIssue>[]
  readonly warnings: readonly z.input<typeof SyncIssue>[]
}

export function renderSync(records: readonly SyncedRecord[]): z.input<typeof SyncResponse> {
  const countOf = (outcome: SyncResult['outcome']) => records.filter((one) => one.outcome === outcome).length
  return {
    data: records.map(({ externalId, issues, warnings, ...result }) => ({
      external_id: externalId,
      ...result,
      issues: [...issues],
      warnings: [...warnings],
    })),
    meta: {
      created: countOf('created'),
      updated: countOf('updated'),
      unchanged: countOf('unchanged'),
      rejected: countOf('rejected'),
    },
  }
}

export const syncRecords = defineRoute({
  id: 'sync-records',
  method: 'POST',
  path: '/sync',
  summary: "Write records of the clinic's own system",
  description:
    'Creates and changes records of one entity, each by itself, as an import of files does: fields, references and rules are ' +
    'those of import files. A record is named by its `external_id`, or by its `id`; a patient, doctor or appointment ' +
    'with both gets the external id. What is unchanged since it was sent last is not written. The response says in the order ' +
    'of the records what became of each; those rejected as `unavailable` are to be sent again.',
  scope: 'sync.write',
  furtherScope: { field: 'entity', byValue: SYNC_ENTITIES },
  body: SyncRequest,
  response: { status: 200, body: SyncResponse },
  errors: [],
  uses: { memory: 1024 },
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const syncDescriptions = () => ({
  SyncRequest: {
    entity: 'Entity of the records. Besides `sync.write`, the credential needs the scope that writes it.',
    records: 'Records with the fields of import files in NDJSON.',
    overwrite:
      'Replaces what was changed here since it was sent last, and lets a patient become another person.',
    allow_overlaps: 'Adds upcoming appointments to time that is taken.',
  },
  SyncResult: {
    external_id: "Id in the clinic's own system that was sent. Null if none was, or it is not valid.",
    id: 'Id of the record. Null if none follows from what was sent.',
    outcome: 'What became of the record. A rejected one was not changed, unless an issue is `unavailable`.',
    issues: 'Why it was rejected.',
    warnings: 'What looks wrong, but was written.',
  },
  SyncIssue: {
    field: 'Field of the record.',
    issue:
      'What is wrong, or one of `unavailable`, `conflict`, `removed`, `another_person`, `linked_by_api`, `external_id_taken`, ' +
      '`slot_unavailable`, `room_unavailable`, `appointment_not_due`, `invoice_number_taken`, `message_in_progress`, `erased`.',
  },
  'sync-records': {
    data: 'What became of the records, in their order.',
    meta: 'Numbers of records by their outcomes.',
  },
  SyncMeta: {
    created: 'Number of created records.',
    updated: 'Number of updated records.',
    unchanged: 'Number of unchanged records.',
    rejected: 'Number of rejected records.',
  },
})
