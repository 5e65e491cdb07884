/** Refreshes that were interrupted, and the worker that finishes them. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Patient } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { dueRefreshes } from '../../../../shared/store/copies/due-refreshes.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorStore, MAX_SAVED } from '../../../../shared/store/doctors.ts'
import { holidayStore } from '../../../../shared/store/holidays.ts'
import {
  DUE_REFRESH_PARTITIONS,
  doctorOwner,
  staleCopiesPartition,
} from '../../../../shared/store/keys/copies.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { freshTable } from '../../../support/table.ts'

const MINUTE_MS = 60_000

let at: number
let table: Table
let mine: PopulatedClinic

beforeEach(async () => {
  at = Date.now()
  table = { ...(await freshTable()).table, now: () => at }
  mine = await createPopulatedClinic(table)
})

/** The same table for a writer that crashes when it begins to refresh copies. */
const crashing = (): Table => ({
  ...table,
  get: (key) =>
    key.pk === staleCopiesPartition(mine.clinic.id) ? Promise.reject(new Error('crash')) : table.get(key),
})

async function crashWhile(work: (table: Table) => Promise<unknown>): Promise<void> {
  await expect(work(crashing())).rejects.toThrow('crash')
}

const renameTo = (lastName: string) => (on: Table) =>
  patientChanges(on).update(mine.clinic.id, mine.patient.id, { lastName } satisfies Partial<Patient>)

async function saveDoctor(fullName: string): Promise<void> {
  const doctors = doctorStore({ table })
  const before = await doctors.find(mine.clinic.id, mine.doctor.id)
  if (!before) throw new Error('the doctor is missing')
  const { version, ...stored } = before
  await doctors.save(mine.clinic.id, [{ before, after: { ...stored, fullName } }])
}

/** One run of the worker, on a table of its own. */
async function sweep(on: Table = table, signal: AbortSignal = new AbortController().signal): Promise<number> {
  const refreshes = dueRefreshes({ table: on })
  let finished = 0
  for await (const batch of refreshes.dueBatches(at, 2))
    for (const due of batch) {
      await refreshes.finish(due, signal)
      finished++
    }
  return finished
}

const dueItems = async () =>
  (await Promise.all(DUE_REFRESH_PARTITIONS.map((pk) => table.query({ pk, limit: 100 })))).flat()

const marks = () => table.query({ pk: staleCopiesPartition(mine.clinic.id), limit: 100 })

const appointment = async () =>
  (await appointmentStore({ table }).find(mine.clinic.id, mine.appointment.id))?.record

async function expectNothingLeft(): Promise<void> {
  expect(await dueItems()).toEqual([])
  expect(await marks()).toEqual([])
}

it('a holiday that is interrupted before its refresh reaches the doctors by the worker after a minute', async () => {
  const holiday = { from: '2030-01-01', to: '2030-01-01', reason: null }
  await holidayStore({ table }).set(mine.clinic.id, () => [holiday])
  const copies = async () => (await doctorStore({ table }).find(mine.clinic.id, mine.doctor.id))?.holidays
  expect([await sweep(), await copies()]).toEqual([0, undefined])
  at += MINUTE_MS
  expect([await sweep(), await copies()]).toEqual([1, [holiday]])
  await expectNothingLeft()
})

describe('a rename that is interrupted before its refresh', () => {
  it('is finished by the worker after a minute, in every list', async () => {
    await crashWhile(renameTo('New'))
    expect(await sweep()).toBe(0)
    expect((await appointment())?.patient.fullName).toBe(`${mine.patient.firstName} ${mine.patient.lastName}`)

    at += MINUTE_MS
    expect(await sweep()).toBe(1)

    const invoice = await invoiceStore({ table }).find(mine.clinic.id, mine.invoice.id)
    const name = `${mine.patient.firstName} New`
    expect((await appointment())?.patient.fullName).toBe(name)
    expect(invoice?.record.patient.fullName).toBe(name)
    await expectNothingLeft()
  })

  it('is finished for a doctor whom the operator renamed', async () => {
    await saveDoctor('Dr. New')
    at += MINUTE_MS
    await sweep()
    expect((await appointment())?.doctor.fullName).toBe('Dr. New')
    await expectNothingLeft()
  })

  it('is finished for a patient whose erasure was interrupted', async () => {
    await crashWhile((on) => patientChanges(on).erase(mine.clinic.id, mine.patient.id))
    at += MINUTE_MS
    await sweep()
    expect((await appointment())?.patient.fullName).not.toContain(mine.patient.lastName)
    await expectNothingLeft()
  })

  it('is finished by two workers at a time', async () => {
    await crashWhile(renameTo('New'))
    await saveDoctor('Dr. New')
    at += MINUTE_MS
    await Promise.all([sweep(), sweep()])
    expect(await appointment()).toMatchObject({
      patient: { fullName: `${mine.patient.firstName} New` },
      doctor: { fullName: 'Dr. New' },
    })
    await expectNothingLeft()
  })

  it('stays due when the worker runs out of time, without an error, and the next one continues', async () => {
    await crashWhile(renameTo('New'))
    at += MINUTE_MS
    const over = new AbortController()
    const slow: Table = {
      ...table,
      query: async (range) => {
        if (range.pk.startsWith('due#')) return table.query(range)
        over.abort()
        throw over.signal.reason
      },
    }
    await sweep(slow, over.signal)
    expect(await dueItems()).toHaveLength(1)
    await sweep()
    expect((await appointment())?.patient.fullName).toBe(`${mine.patient.firstName} New`)
    await expectNothingLeft()
  })

  it('fails when the table fails, and stays due', async () => {
    await crashWhile(renameTo('New'))
    at += MINUTE_MS
    await expect(sweep(crashing())).rejects.toThrow('crash')
    expect(await dueItems()).toHaveLength(1)
  })
})

it('leaves nothing behind a rename that refreshes its copies itself', async () => {
  await renameTo('New')(table)
  await expectNothingLeft()
})

describe('a second rename', () => {
  it('that refreshes the copies itself leaves the first due item, which the worker removes', async () => {
    await crashWhile(renameTo('First'))
    at += 1000
    await renameTo('Second')(table)
    expect(await marks()).toEqual([])
    at += MINUTE_MS
    expect(await sweep()).toBe(1)
    expect((await appointment())?.patient.fullName).toBe(`${mine.patient.firstName} Second`)
    await expectNothingLeft()
  })

  it('during the refresh of the first by the worker keeps its own mark and due item', async () => {
    await saveDoctor('Dr. First')
    at += MINUTE_MS
    let isFirst = true
    const interrupted: Table = {
      ...table,
      transact: async (writes) => {
        if (isFirst) {
          isFirst = false
          await saveDoctor('Dr. Second')
        }
        await table.transact(writes)
      },
    }
    await sweep(interrupted)

    const [mark, ...others] = await marks()
    expect(mark).toMatchObject({ sk: doctorOwner(mine.doctor.id), v: 2, at: at + MINUTE_MS })
    expect(others).toEqual([])
    expect((await dueItems()).map(({ sk }) => Number(sk.split('#')[0]))).toEqual([at + MINUTE_MS])
    at += MINUTE_MS
    await sweep()
    expect((await appointment())?.doctor.fullName).toBe('Dr. Second')
    await expectNothingLeft()
  })
})

it('saves as many renamed doctors in one transaction as it allows', async () => {
  const doctors = doctorStore({ table })
  const stored = await doctors.find(mine.clinic.id, mine.doctor.id)
  if (!stored) throw new Error('the doctor is missing')
  const { version, ...doctor } = stored
  const ids = Array.from({ length: MAX_SAVED }, newUuid)
  const created = ids.map((id) => ({ before: null, after: { ...doctor, id } }))
  await doctors.save(mine.clinic.id, created)
  const before = await doctors.findMany(mine.clinic.id, ids)
  const renamed = [...before.values()].map((one) => ({ before: one, after: { ...one, fullName: 'Dr. New' } }))
  await doctors.save(mine.clinic.id, renamed)
  expect(await dueItems()).toHaveLength(MAX_SAVED)
})
