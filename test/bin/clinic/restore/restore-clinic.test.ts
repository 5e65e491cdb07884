/** `restore clinic` on a deployed stack, whose table has a copy of an earlier time. */
import { beforeAll, expect, it } from 'vitest'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { tableFormatKey } from '../../../../shared/store/keys/operator.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { allItems } from '../../../support/all-items.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { restored } from '../../../support/restored.ts'
import { freshTable, newClinic, type TestTable } from '../../../support/table.ts'
import { sortedJson } from '../../../support/table-text.ts'

const stack = deployedTable()
const { db } = stack
let world: PopulatedClinic
let copy: TestTable
let to: string

beforeAll(async () => {
  world = await createPopulatedClinic(db.table)
  copy = await restored(db)
  to = new Date().toISOString().replace(/\.\d+/, '.000')
  await patientChanges(db.table).update(world.clinic.id, world.patient.id, { firstName: 'Wrong' })
})

const args = (...more: string[]) => [
  ...['restore', 'clinic', world.clinic.id, '--to', to],
  ...(more.includes('--from') ? [] : ['--from', copy.name]),
  ...more,
]
const content = async () => (await allItems(db)).map(sortedJson).sort()

it('shows what it would do, and writes nothing without --yes or a yes', async () => {
  const before = await content()
  const { code, printed } = await stack.run('--json', ...args())
  expect([code, JSON.parse(printed).data]).toEqual([
    0,
    {
      restored: false,
      put_back: [{ kind: 'patient', id: world.patient.id }],
      holidays_put_back: false,
      removed: [],
      conflicts: [],
      staying: [],
      settings_that_differ: [],
    },
  ])
  expect((await stack.run(...args())).printed).toMatch(/Put back: 1 patient\n(.*\n)*Nothing was done/)
  expect((await stack.runAsked(async () => 'no', ...args())).errors).toMatch(
    /Put back: 1 patient\nNothing was done/,
  )
  expect(await content()).toEqual(before)
})

// It waits for 20 s.
it.runIf(process.env.PROVE === '1')('puts the records back with --yes', async () => {
  const { clinic, patient } = world
  // Nothing that began before this pause is still running.
  await clinicStore(db).update(clinic.id, { pausedAt: to, pauseInEffectAt: '2026-05-01T07:00:00.000Z' })
  const { code, printed } = await stack.run(...args('--yes'))
  expect([code, printed]).toEqual([0, expect.stringContaining('Put back 1 record and removed 0')])
  expect(await patientStore(db).find(clinic.id, patient.id)).toMatchObject({ firstName: patient.firstName })
  await clinicStore(db).update(clinic.id, { pausedAt: null, pauseInEffectAt: null })
})

it('rejects a copy that is not one of the clinic at this time', async () => {
  const empty = await freshTable()
  expect(await rejection(stack.run(...args('--from', empty.name)))).toBe(
    `Table ${empty.name} does not have clinic ${world.clinic.id}.\n`,
  )
  expect(await rejection(stack.run(...args('--from', db.name)))).toMatch(/^--from is the table in use/)
  expect(await rejection(stack.run(...args('--from', 'none')))).toMatch(/^Table none does not exist/)
  const unnamed = args('--from').filter((word) => word !== '--from')
  expect(await rejection(stack.run(...unnamed))).toContain(
    `Table ${db.name}-${to.replace(/\D/g, '').slice(0, 14)}`,
  )
  await copy.table.transact([copy.table.putWrite({ ...tableFormatKey, format: 0 })])
  expect(await rejection(stack.run(...args()))).toMatch(/before a migration/)
  await copy.table.deleteMany([tableFormatKey])
})

it('rejects an appointment that is not created since, and one without --remove-created', async () => {
  const { id } = world.appointment
  expect(await rejection(stack.run(...args('--remove-appointment', id)))).toMatch(/needs --remove-created/)
  expect(await rejection(stack.run(...args('--remove-created', '--remove-appointment', id)))).toMatch(
    /was not created after that time/,
  )
})

it('rejects "clinic resume" and another restore while one is not complete', async () => {
  const { id } = await newClinic(db.table)
  await clinicStore(db).update(id, { pausedAt: to, restoring: { to, from: copy.name, wasPaused: false } })
  const command = `--to ${to} --from ${copy.name}`
  expect(await rejection(stack.run('clinic', 'resume', '--clinic', id))).toContain(
    `restore clinic ${id} ${command}`,
  )
  const other = ['restore', 'clinic', id, '--to', '2026-05-01T00:00:00Z', '--from', copy.name]
  expect(await rejection(stack.run(...other))).toContain(`Complete it first: ${command}`)
})
