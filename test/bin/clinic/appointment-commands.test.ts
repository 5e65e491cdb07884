/** The commands that end appointments, for patients who were erased or are being erased. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { anonymizeResponse } from '../../../shared/api/anonymize-response.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { deployedStack } from '../../support/deployed-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../support/records.ts'
import { freshTable, type TestTable } from '../../support/table.ts'
import { tableText } from '../../support/table-text.ts'

/** In lower case, as the text of the table. */
const REASON = 'canary reason'

let db: TestTable
let mine: PopulatedClinic
let run: Awaited<ReturnType<typeof deployedStack>>['run']

beforeAll(async () => {
  db = await freshTable()
  run = (await deployedStack({ OperatorLogGroup: 'operator-group', TableName: db.name })).run
})
beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
})

const cancel = (...more: string[]) =>
  run('appointment', 'cancel', mine.appointment.id, '--clinic', mine.clinic.id, ...more)
const erase = () => patientChanges(db.table).erase(mine.clinic.id, mine.patient.id, anonymizeResponse)
const stored = async () => (await appointmentStore(db).find(mine.clinic.id, mine.appointment.id))?.record

it('stores no reason for an erased patient, whose time can be freed without one', async () => {
  await erase()
  const refused = await cancel('--reason', REASON)
  expect([refused.code, refused.errors.trim()]).toEqual([
    2,
    'The patient was erased: cancel the appointment without --reason.',
  ])
  expect(await stored()).toMatchObject({ status: 'scheduled', cancellationReason: null })
  expect((await cancel()).code).toBe(0)
  expect(await stored()).toMatchObject({ status: 'cancelled', cancellationReason: null })
})

it('is conditional on the state of the patient, so that an erasure at the same time finds the reason or prevents it', async () => {
  const { calls } = await cancel('--reason', REASON)
  const [transaction] = calls.filter(({ operation }) => operation === 'TransactWriteItems')
  const { pk, sk } = patientKey(mine.clinic.id, mine.patient.id)
  expect(transaction?.input.TransactItems).toContainEqual({
    ConditionCheck: expect.objectContaining({ Key: { pk: { S: pk }, sk: { S: sk } } }),
  })
  await erase()
  expect(await tableText(db)).not.toContain(REASON)
})
