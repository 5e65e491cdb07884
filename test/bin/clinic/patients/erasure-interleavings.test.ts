/**
 * Erasures that overlap with everything that writes about a patient: requests that book and send, imports of every kind, and
 * renames, against a store whose transactions overlap and conflict. Whatever comes first, nothing of the patient is left.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, it } from 'vitest'
import { fileEntities } from '../../../../bin/clinic/import/run/file-entities.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { UnavailableError } from '../../../../shared/store/table/errors.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { handlerOf, request, stubFunctionEnvironment } from '../../../support/functions.ts'
import { importAlone } from '../../../support/imports.ts'
import { mockClient } from '../../../support/mock-client.ts'
import { type SeededRandom, seeded } from '../../../support/random.ts'
import type { EngineCall } from '../../../support/realistic-dynamodb/call.ts'
import { freshRealisticTable, type RealisticTable, SHORT_LATENCY } from '../../../support/realistic-table.ts'
import { rounds } from '../../../support/scale.ts'
import { newClinic } from '../../../support/table.ts'
import { tableText } from '../../../support/table-text.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const CANARY = /canar|5327351735|1931-07-13/
const folder = temporaryFolder()

const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)
sqs.on(SendMessageCommand).resolves({})
sqs.on(SendMessageBatchCommand).resolves({})

const PATIENT = {
  external_id: 'canary-national-id',
  first_name: 'Canarella',
  last_name: 'Canarowitz',
  date_of_birth: '1931-07-13',
  phone_number: '+905327351735',
  email_address: 'canary@canaries.example',
}
const DOCTOR = { external_id: 'd', full_name: 'Dr. Bo Lind', hours: 'mon-sun 08:00-20:00' }
const INVOICE = {
  external_id: 'canary-invoice',
  patient_external_id: PATIENT.external_id,
  issue_date: '2026-04-01',
  invoice_number: 'CANARY-1',
  line_items: [{ description: 'Canary treatment', unit_price: 100 }],
}
const imports = (at: number): [name: string, row: object][] => [
  ['patients', { ...PATIENT, last_name: `Canarson ${at}` }],
  [
    'appointments',
    {
      ...{
        external_id: `canary-appointment-${at}`,
        patient_external_id: PATIENT.external_id,
        doctor_external_id: 'd',
      },
      appointment_date: '2026-03-02',
      start_time: '09:00',
      end_time: '09:30',
      notes: 'Canary note',
    },
  ],
  ['invoices', { ...INVOICE, external_id: `canary-invoice-${at}`, invoice_number: `CANARY-1-${at}` }],
  [
    'payments',
    {
      external_id: `canary-payment-${at}`,
      invoice_external_id: INVOICE.external_id,
      amount: 10,
      payment_method: 'card',
      payment_date: '2026-04-02',
      description: 'Card of the canary',
    },
  ],
  [
    'messages',
    {
      external_id: `canary-message-${at}`,
      patient_external_id: PATIENT.external_id,
      channel: 'sms',
      recipient: PATIENT.phone_number,
      message: 'Dear canary',
      provider_message_id: 'canary-1',
    },
  ],
]

type Scene = {
  db: RealisticTable
  clinic: Clinic
  headers: Record<string, string>
  patient: string
  doctor: string
}

async function importRow({ db, clinic }: Pick<Scene, 'db' | 'clinic'>, name: string, row: object) {
  const file = join(folder, `${name}-${newUuid()}.ndjson`)
  writeFileSync(file, `${JSON.stringify(row)}\n`)
  const entity = fileEntities(db.table, Date.now).find((one) => one.name === name)
  if (!entity) throw new Error(`no entity ${name}`)
  // A patient who was renamed in between is overwritten.
  const reasons: string[] = []
  await importAlone(file, entity, clinic, {
    now: Date.now,
    overwrite: true,
    onRejected: (_, all) => reasons.push(...all),
  })
  for (const reason of reasons) expect(reason).toContain('the patient was erased')
  return reasons.length === 0 ? 'written' : 'rejected'
}

async function send({ headers }: Scene, id: string, body: object) {
  const { status } = await request(id, { headers: { ...headers, 'idempotency-key': newUuid() }, body })
  expect([201, 202, 404, 409, 502, 503]).toContain(status)
  return status < 300 ? 'written' : status === 404 ? 'rejected' : 'failed'
}

/** Whether a call creates a record of a patient. */
const isCreation = ({ operation, input }: EngineCall): boolean =>
  operation === 'TransactWriteItems' &&
  (input.TransactItems as { Put?: { ConditionExpression?: string; Item: { pk: { S: string } } } }[]).some(
    ({ Put }) => Put?.ConditionExpression === 'attribute_not_exists(pk)' && /#[AIYM]$/.test(Put.Item.pk.S),
  )

/** Repeats a command whose retries ran out of time, as its operator does. */
const repeatedly = <T>(command: () => Promise<T>): Promise<T> =>
  command().catch((error) => {
    if (error instanceof UnavailableError) return repeatedly(command)
    throw error
  })

/** The operations concurrent with the erasure. */
function operations(
  scene: Scene,
  random: SeededRandom,
): [() => Promise<string>, ...(() => Promise<string>)[]] {
  const { db, clinic, patient, doctor } = scene
  const sms = { channel: 'sms', patient_id: patient, message: 'Dear canary' }
  const appointment = { patient_id: patient, doctor_id: doctor, notes: 'Canary note' }
  return [
    () => send(scene, 'send-message', sms),
    ...[0, 1].flatMap((at) =>
      imports(at).map(
        ([name, row]) =>
          () =>
            importRow(scene, name, row),
      ),
    ),
    () => send(scene, 'send-message', { ...sms, channel: 'email', subject: 'Canary' }),
    ...['09:00', '09:15', '10:00'].map(
      (start_time) => () =>
        send(scene, 'create-appointment', { ...appointment, appointment_date: '2030-01-07', start_time }),
    ),
    ...[0, 1].map((at) => async () => {
      const lastName = `Canarina ${at} ${random.integer(0, 9)}`
      const renamed = await repeatedly(() =>
        patientChanges(db.table).update(clinic.id, patient, { lastName }),
      )
      return renamed ? 'written' : 'rejected'
    }),
  ]
}

async function setTheScene(db: RealisticTable): Promise<Scene> {
  const clinic = await newClinic(db.table)
  const { headers } = await issueCredential(db.table, clinic)
  await createWebhook(db.table, clinic.id)
  for (const [name, row] of [
    ['doctors', DOCTOR],
    ['patients', PATIENT],
    ['invoices', INVOICE],
  ] as const)
    expect(await importRow({ db, clinic }, name, row)).toBe('written')
  const idOf = await readImportIds(db.table, clinic.id)
  return { db, clinic, headers, patient: idOf('patient', PATIENT.external_id), doctor: idOf('doctor', 'd') }
}

it('leaves nothing of the patient, in whatever order operations overlap with the erasure', async () => {
  const db = await freshRealisticTable({ latency: SHORT_LATENCY })
  stubFunctionEnvironment(db.name, { AWS_ENDPOINT_URL_DYNAMODB: db.dynamodb.endpoint })
  // Loaded now, so that no operation waits for it.
  for (const id of ['send-message', 'create-appointment']) await handlerOf({ id })
  const results = new Map<string, number>()
  for (let seed = 1; seed <= rounds(10, 100); seed++) {
    const random = seeded(seed)
    sns.on(PublishCommand).callsFake(async () => {
      await sleep(random.integer(0, 30))
      if (random.chance(0.3)) throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' })
      return { MessageId: newUuid() }
    })
    const scene = await setTheScene(db)
    const { clinic, patient } = scene
    const erase = async () => {
      await repeatedly(() => patientChanges(db.table).erase(clinic.id, patient))
      return 'erased'
    }
    // Creations take longer than a whole erasure: they arrive long after what they were decided by was read.
    const milliseconds = random.integer(50, 400)
    db.dynamodb.faults.next({ kind: 'delayed', milliseconds, matches: isCreation, times: 1000 })
    // Few at a time, so that they overlap with the erasure instead of waiting for one another.
    const chosen = Array.from({ length: 6 }, () => random.pick(operations(scene, random)))
    const started = [...chosen, erase].map(async (operation) => {
      await sleep(random.integer(0, 250))
      return operation()
    })
    for (const result of await Promise.all(started)) results.set(result, (results.get(result) ?? 0) + 1)
    db.dynamodb.faults.clear()
    await eventFanOut({ table: db.table, now: Date.now, newId: newUuid }).fanOut(clinic.id, async () => {})

    const text = await tableText(db)
    const left = text.split('\n').filter((line) => CANARY.test(line))
    expect(left, `seed ${seed}`).toEqual([])
    expect((await patientStore(db).find(clinic.id, patient))?.erasedAt, `seed ${seed}`).not.toBeNull()
  }
  // Otherwise the operations would not overlap with the erasure.
  expect(results.get('written')).toBeGreaterThan(5)
  expect(results.get('rejected')).toBeGreaterThan(5)
}, 600_000)
