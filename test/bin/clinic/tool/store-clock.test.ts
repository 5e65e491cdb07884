import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { expect, it } from 'vitest'
import { storeClock } from '../../../../bin/clinic/tool/store-clock.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { openTable } from '../../../../shared/store/table/table.ts'
import { aPatient, engineClient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

const HOUR_MS = 3_600_000

it.each([
  ['an hour slow', -HOUR_MS],
  ['an hour fast', HOUR_MS],
  ['two minutes fast', 120_000],
])('dates changes by the clock of the store when the machine’s clock is %s', async (_, error) => {
  const client = engineClient()
  const table = openTable(client, db.name, { now: storeClock(client, () => Date.now() + error) })
  const { id: clinic } = await newClinic(db.table)
  const patient = aPatient()
  const before = Date.now()
  await patientStore({ table }).find(clinic, patient.id)
  await patientWriter({ table }).createMany(clinic, [patient])
  const stored = await patientStore({ table }).find(clinic, patient.id)
  const changedAt = Date.parse(stored?.updatedAt ?? '')
  expect(changedAt).toBeGreaterThanOrEqual(before - 1000)
  expect(changedAt).toBeLessThanOrEqual(Date.now() + 1000)
})

it('leaves a clock that is right as it is', async () => {
  const client = engineClient()
  let stoppedAt: number | undefined
  const clock = storeClock(client, () => stoppedAt ?? Date.now())
  await client.send(new GetCommand({ TableName: db.name, Key: { pk: 'a', sk: 'b' } }))
  stoppedAt = Date.now()
  expect(clock()).toBe(stoppedAt)
})

it('follows the machine when its clock is set', async () => {
  const client = engineClient()
  let error = HOUR_MS
  const clock = storeClock(client, () => Date.now() + error)
  const read = () => client.send(new GetCommand({ TableName: db.name, Key: { pk: 'a', sk: 'b' } }))
  await read()
  error = 0
  await read()
  expect(Math.abs(clock() - Date.now())).toBeLessThan(1500)
})
