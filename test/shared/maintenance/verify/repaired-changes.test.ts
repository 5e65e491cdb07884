/** The changes of a repair, as a reader of changes sees them who has read up to now. */
import { beforeAll, expect, it } from 'vitest'
import type { ChangeRange } from '../../../../shared/domain/lists/cursor.ts'
import { openInspection } from '../../../../shared/maintenance/verify/comparison/inspection.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { changeIndexPartition, INDEXED_KINDS } from '../../../../shared/store/keys/change-index.ts'
import { ANNOUNCED_PARTITION_PREFIX } from '../../../../shared/store/keys/events.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { WriteConflict } from '../../../../shared/store/table/errors.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { tableOfFile } from '../../../support/table.ts'
import { faultInjection } from './comparison/fault-injection.ts'
import { createPractice, type Practice, runVerification } from './practice.ts'

const db = tableOfFile()
let made: Practice
let later: Table
/** A reader has read all changes before this time. */
let readUntil: number

beforeAll(async () => {
  made = await createPractice(db.table, {
    patients: 2,
    doctors: 1,
    appointments: 2,
    invoices: 1,
    payments: 2,
    messages: 2,
  })
  readUntil = Date.now() + 60_000
  later = { ...db.table, now: () => readUntil + 60_000 }
})

const announced = async (raw: ReturnType<typeof faultInjection>) =>
  (await raw.scanAll()).filter(({ pk }) => pk.startsWith(ANNOUNCED_PARTITION_PREFIX)).length

it('repairing the index of changes lists a record that was missing as changed now, so that those who keep a copy get it', async () => {
  const raw = faultInjection(db)
  const events = await announced(raw)
  for (const kind of INDEXED_KINDS)
    for (const item of await db.table.query({ pk: changeIndexPartition(made.clinic, kind), limit: 100 }))
      await raw.remove(item)

  expect(await runVerification(later, made.clinic, true)).toMatchObject({ differences: 9, repaired: 9 })

  const range: ChangeRange = {
    from: new Date(readUntil).toISOString(),
    until: new Date(readUntil + 120_000).toISOString(),
    after: undefined,
  }
  const lists = [
    [patientStore, made.patients],
    [appointmentStore, made.appointments],
    [invoiceStore, made.invoices],
    [paymentStore, made.payments],
    [messageStore, made.messages],
  ] as const
  for (const [open, records] of lists) {
    const { items } = await open(db).changes(made.clinic, range, 100)
    expect(items.map(({ id }) => id).sort()).toEqual(records.map(({ id }) => id).sort())
  }
  expect((await runVerification(later, made.clinic)).found).toEqual([])
  expect(await announced(raw)).toBe(events)
})

it('repairing damage tries again after a conflict with another writer', async () => {
  let repairs = 0
  const { inspection, result } = openInspection(db.table, made.clinic, {
    repair: true,
    onDifference: () => {},
    pauseMs: 0,
  })
  const key = { pk: 'a', sk: 'b' }
  const repair = async () => {
    if (++repairs === 1) throw new WriteConflict()
  }
  const left = await inspection.examine(async () =>
    repairs < 2 ? { differences: [{ kind: 'invoice_unsettled', key }], repair } : null,
  )
  expect({ left, ...result() }).toEqual({ left: [], checked: {}, differences: 1, repaired: 1 })
})
