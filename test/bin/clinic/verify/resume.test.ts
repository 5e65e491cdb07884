/** Verifications that continue where one was stopped, and a clinic that cannot be verified. */
import { beforeAll, expect, it } from 'vitest'
import { verificationParts } from '../../../../shared/maintenance/verify/verify-clinic.ts'
import { verifyClinics } from '../../../../shared/maintenance/verify/verify-clinics.ts'
import { walk } from '../../../../shared/maintenance/walk/walk.ts'
import { ownerPartition } from '../../../../shared/store/keys/calendar.ts'
import { verificationKey, walkKey } from '../../../../shared/store/keys/operator.ts'
import { createPractice, type Practice } from '../../../shared/maintenance/verify/practice.ts'
import { deployedStack } from '../../../support/deployed-stack.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'

const SIZE = { patients: 8, doctors: 2, appointments: 12, invoices: 6, payments: 5, messages: 4 }

const db = tableOfFile()
let practice: Practice
let run: Awaited<ReturnType<typeof deployedStack>>['run']
beforeAll(async () => {
  practice = await createPractice(db.table, SIZE)
  const { clinic, appointments } = practice
  const list = ownerPartition(clinic, 'A', 'patient', appointments[0]?.patient.id ?? '')
  await db.table.deleteMany(await db.table.query({ pk: list, limit: 1 }))
  run = (await deployedStack({ TableName: db.name, OperatorLogGroup: 'operator-group' })).run
})

/** Leaves the progress of a command that was stopped in the messages, after it had found two differences. */
async function stop(): Promise<void> {
  const stopped = walk(db.table, verificationParts, {
    progress: verificationKey('read', practice.clinic),
    visit: async ([part]) => {
      if (part === 'messages') throw new Error('stopped')
      return { differences: part === 'patients' ? 2 : 0, repaired: 0, patients: part === 'patients' ? 8 : 0 }
    },
    finish: async () => {},
  })
  await expect(stopped).rejects.toThrow('stopped')
}

it('continues with the part in which it was stopped, and counts what was found before', async () => {
  const verify = (...args: string[]) => run('--json', 'verify', '--clinic', practice.clinic, ...args)
  await stop()
  const resumed = await verify()
  expect([resumed.code, resumed.errors]).toEqual([
    1,
    expect.stringMatching(/^Resumed at 4 parts, begun at \S+Z\n$/),
  ])
  expect(JSON.parse(resumed.printed).data).toMatchObject({
    checked: { patients: 8, messages: 4 },
    total: 2,
    differences: [],
  })
  await stop()
  const whole = await verify('--restart')
  expect([whole.code, whole.errors]).toEqual([1, ''])
  expect(JSON.parse(whole.printed).data).toMatchObject({ total: 1, differences: [{ kind: 'row_missing' }] })
})

it('verifies the other clinics if one cannot be verified, and counts it', async () => {
  const [broken, other] = [await newClinic(db.table), await newClinic(db.table)]
  const failed: string[] = []
  const verified: string[] = []
  const onClinicFailed = (id: string, { message }: Error) => failed.push(`${id} ${message}`)
  const result = await verifyClinics(
    db.table,
    { progress: { table: db.table, key: walkKey('read', 'verify') }, onClinicFailed },
    async ({ id }) => {
      if (id === broken.id) throw new Error('unknown')
      verified.push(id)
      return 1
    },
  )
  expect([result, failed]).toEqual([{ remaining: 2, failed: 1 }, [`${broken.id} unknown`]])
  expect(verified).toEqual([practice.clinic, other.id].toSorted())
})
