/** Holidays of a clinic, and their copies in its doctors. */
import { beforeEach, expect, it } from 'vitest'
import type { TimeOff } from '../../../shared/domain/booking/doctor.ts'
import { NEW_DOCTOR } from '../../../shared/domain/booking/doctor.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { holidayStore } from '../../../shared/store/holidays.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'

const day = (date: string): TimeOff => ({ from: date, to: date, reason: null })

const db = tableOfFile()
let clinic: ClinicId
beforeEach(async () => {
  clinic = (await newClinic(db.table)).id
})

async function addDoctor(table: Table = db.table): Promise<string> {
  const after = { ...NEW_DOCTOR, id: newUuid(), fullName: 'Dr. Bo Lind', timeOff: [day('2026-08-01')] }
  await doctorStore({ table }).save(clinic, [{ before: null, after }])
  return after.id
}
const holidaysOf = async (id: string) => (await doctorStore(db).find(clinic, id))?.holidays
const set = (...days: TimeOff[]) => holidayStore(db).set(clinic, () => days)

it('are copied to the doctors there are, and to those who are added later', async () => {
  const id = await addDoctor()
  await set(day('2027-01-01'), day('2026-12-25'))
  expect(await holidayStore(db).refreshCopies(clinic)).toBe(1)
  const sorted = [day('2026-12-25'), day('2027-01-01')]
  expect(await holidaysOf(id)).toEqual(sorted)
  expect((await doctorStore(db).find(clinic, id))?.timeOff).toEqual([day('2026-08-01')])
  expect(await holidaysOf(await addDoctor())).toEqual(sorted)
  expect(await holidayStore(db).refreshCopies(clinic)).toBe(0)
})

it('are refreshed in the doctors that an interrupted refresh has not reached', async () => {
  const ids = [await addDoctor(), await addDoctor(), await addDoctor()]
  await set(day('2026-12-25'))
  let writes = 0
  const tryTransact: Table['tryTransact'] = (...args) => {
    if (++writes === 2) throw new Error('interrupted')
    return db.table.tryTransact(...args)
  }
  const interrupted = holidayStore({ table: { ...db.table, tryTransact } })
  await expect(interrupted.refreshCopies(clinic)).rejects.toThrow('interrupted')
  expect(await holidayStore(db).refreshCopies(clinic)).toBe(1)
  for (const id of ids) expect(await holidaysOf(id)).toEqual([day('2026-12-25')])
})

it('are never those of before a change at the same time, whichever is written last', async () => {
  const id = await addDoctor()
  await set(day('2026-12-25'))
  let isFirst = true
  const tryTransact: Table['tryTransact'] = async (...args) => {
    // Another operator changes the holidays between the reads and the write of this one.
    if (isFirst) {
      isFirst = false
      await set(day('2026-12-25'), day('2026-12-26'))
      await holidayStore(db).refreshCopies(clinic)
    }
    return db.table.tryTransact(...args)
  }
  await holidayStore({ table: { ...db.table, tryTransact } }).refreshCopies(clinic)
  expect(await holidaysOf(id)).toEqual([day('2026-12-25'), day('2026-12-26')])
})

it('cannot be missed by a doctor who is added at the same time', async () => {
  const tryTransact: Table['tryTransact'] = async (...args) => {
    await set(day('2026-12-25'))
    await holidayStore(db).refreshCopies(clinic)
    return db.table.tryTransact(...args)
  }
  await expect(addDoctor({ ...db.table, tryTransact })).rejects.toThrow('condition')
  expect(await holidaysOf(await addDoctor())).toEqual([day('2026-12-25')])
})
