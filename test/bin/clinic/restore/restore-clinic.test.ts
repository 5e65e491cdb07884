/** `restore clinic` on a deployed stack, whose table has a copy of an earlier time. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { openDataFolder } from '../../../../bin/local/data-folder.ts'
import { startDynamoDb } from '../../../../infra/local/engines/dynamodb.ts'
import type { Doctor } from '../../../../shared/domain/booking/doctor.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { documentClient } from '../../../../shared/runtime/document-client.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { tableFormatKey } from '../../../../shared/store/keys/operator.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { openTable, type Table } from '../../../../shared/store/table/table.ts'
import { contentOf } from '../../../shared/maintenance/restore/clinic/content.ts'
import { aDoctor, runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { allItems } from '../../../support/all-items.ts'
import { deployedTable, output, type RecordedCall, rejection } from '../../../support/deployed-stack.ts'
import { ENGINE_ACCESS } from '../../../support/engine-access.ts'
import { importRows, writeRows } from '../../../support/imports.ts'
import { runTool } from '../../../support/operator-tool.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { restored } from '../../../support/restored.ts'
import { anAppointment } from '../../../support/sample-records.ts'
import { rounds } from '../../../support/scale.ts'
import { aPatient, createTestTable, freshTable, newClinic, type TestTable } from '../../../support/table.ts'
import { sortedJson } from '../../../support/table-text.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** The command waits 40 s for others that write. Here, none does. */
vi.mock('node:timers/promises', async (load) => {
  const timers = await load<typeof import('node:timers/promises')>()
  const wait = (ms: number, ...more: []) => timers.setTimeout(ms > 10_000 ? 0 : ms, ...more)
  return { ...timers, setTimeout: wait }
})

const folder = temporaryFolder()

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

/** How many rows of each file exist before a bad import, and how many it adds: 5,000 in `npm run prove`. */
const ROWS = {
  doctors: { before: 2, added: 1 },
  patients: { before: rounds(6, 1950), added: rounds(2, 50) },
  appointments: { before: rounds(8, 1950), added: rounds(2, 50) },
  invoices: { before: rounds(4, 450), added: rounds(2, 50) },
  payments: { before: rounds(4, 450), added: rounds(2, 47) },
}

/** A row of each file. A bad one has other values in most columns. */
const FILES: Readonly<Record<keyof typeof ROWS, (at: number, isBad: boolean) => object>> = {
  doctors: (at, isBad) => ({ full_name: `Dr. ${isBad ? 'Wrong' : 'Right'} ${at}` }),
  patients: (at, isBad) => ({
    first_name: isBad ? 'Wrong' : 'Right',
    last_name: `Last${at}`,
    email_address: isBad ? 'wrong@example.com' : `p${at}@example.com`,
    is_active: (at % 3 === 0) !== isBad,
    national_id: `${isBad ? 'X' : 'N'}-${at}`,
  }),
  appointments: (at, isBad) => ({
    patient_external_id: (at + Number(isBad)) % ROWS.patients.before,
    doctor_external_id: (at + Number(isBad)) % ROWS.doctors.before,
    appointment_date: new Date(Date.UTC(isBad ? 2012 : 2018, 0, 1 + at)).toISOString().slice(0, 10),
    start_time: isBad ? '10:00' : '09:00',
    end_time: '10:30',
    status: isBad ? 'scheduled' : 'completed',
  }),
  invoices: (at, isBad) => ({
    patient_external_id: at % ROWS.patients.before,
    invoice_number: `R-${at}`,
    issue_date: isBad ? '2012-04-01' : '2018-04-01',
    line_items: [{ description: 'Consultation', unit_price: isBad ? '0.50' : '80.00' }],
  }),
  payments: (at, isBad) => ({
    invoice_external_id: at % ROWS.invoices.before,
    amount: isBad ? '1.00' : '20.00',
    payment_method: 'card',
    payment_date: isBad ? '2012-04-02' : '2018-04-02',
  }),
}

/** Imports all files with the command: the rows that were there, or, by a bad import, these with other values, and more. */
async function importFiles(clinic: ClinicId, isBad: boolean): Promise<void> {
  const files = Object.entries(FILES).map(([name, row]) => {
    const { before, added } = ROWS[name as keyof typeof ROWS]
    const file = join(folder, `${name}.ndjson`)
    const count = isBad ? before + added : before
    writeRows(
      file,
      Array.from({ length: count }, (_, at) => ({ external_id: at, ...row(at, isBad) })),
    )
    return file
  })
  await output(stack.run('import', '--yes', '--clinic', clinic, ...files))
}

/** Writes to a clinic: the same items for the same number of steps, in any table that has the clinic's items. */
function writerOf({ table }: TestTable, clinic: ClinicId, doctor: Doctor) {
  let steps = 0
  let ids = 0
  const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  const own: Table = { ...table, newId, now: () => WRITERS_BEGIN + steps * 1000 }
  const writer = patientWriter({ table: own })
  return async () => {
    steps++
    const named = { firstName: 'Own', lastName: `Own${steps}`, phoneNumber: null, emailAddress: null }
    const patient = aPatient({ id: newId(), ...named })
    await writer.createMany(clinic, [patient])
    await patientChanges(own).update(clinic, patient.id, { lastName: `Changed${steps}` })
    const changes = new Changeset(own, clinic)
    const booked = anAppointment({
      id: newId(),
      patient: { id: patient.id, fullName: `Own Changed${steps}` },
      doctor: { id: doctor.id, fullName: doctor.fullName },
      date: new Date(Date.UTC(2018, 0, steps)).toISOString().slice(0, 10),
    })
    appointmentStore({ table: own }).change(changes, null, booked)
    await changes.commit()
  }
}

const WRITERS_BEGIN = Date.now()

it('lists what was created since if nothing is to be put back', async () => {
  const { id } = await newClinic(db.table)
  const copy = await restored(db)
  await patientWriter(db).createMany(id, [aPatient()])
  expect((await stack.run('restore', 'clinic', id, '--to', to, '--from', copy.name)).printed).toBe(
    'Nothing is put back or removed.\nCreated since, and stay: 1 patient\n',
  )
})

it('finds no difference in records whose rows were imported again with other spaces', async () => {
  const clinic = await newClinic(db.table)
  const holiday = { external_id: 'h', from: '2026-12-25', name: 'Christmas' }
  const load = async (space: string) => {
    await importRows(folder, db.table, clinic, 'holidays', [{ ...holiday, to: `2026-12-26${space}` }])
    for (const [name, row] of Object.entries(FILES)) {
      const [column, value] = Object.entries(row(0, false))[0] as [string, unknown]
      const again = { external_id: 0, ...row(0, false), [column]: `${value}${space}` }
      expect(await importRows(folder, db.table, clinic, name, [again])).toMatchObject({ reasons: [] })
    }
  }
  await load('')
  const copy = await restored(db)
  const to = new Date().toISOString().replace(/\.\d+/, '.000')
  await load(' ')
  const { printed } = await stack.run('restore', 'clinic', clinic.id, '--to', to, '--from', copy.name)
  expect(printed).toBe(`Nothing differs from ${to}.\n`)
})

it('undoes a bad import exactly, and every item of other clinics is as their writers left it', async () => {
  const { table } = db
  const { id: clinic } = await newClinic(table)
  const others: [ClinicId, Doctor][] = []
  for (let count = 0; count < rounds(2, 10); count++) {
    const [{ id }, doctor] = [await newClinic(table), aDoctor('Dr. Own')]
    await doctorStore({ table }).save(id, [{ before: null, after: doctor }])
    others.push([id, doctor])
  }
  await importFiles(clinic, false)
  const copy = await restored(db)
  const to = new Date().toISOString().replace(/\.\d+/, '.000')
  const before = await contentOf(db, clinic)
  await importFiles(clinic, true)
  // A function that has the index in memory.
  const { search } = patientSearch(db)
  const foundBy = async (text: string) => (await search(clinic, text, { page: 1, limit: 1 })).total
  expect(await foundBy('wrong')).toBe(ROWS.patients.before + ROWS.patients.added)

  let isDone = false
  const writers = others.map(async ([id, doctor]) => {
    const step = writerOf(db, id, doctor)
    let steps = 0
    for (; !isDone; steps++) {
      await step()
      await sleep(rounds(5, 1500))
    }
    return steps
  })
  const restoring = stack.run(
    'restore',
    'clinic',
    clinic,
    '--to',
    to,
    '--from',
    copy.name,
    '--remove-created',
    '--yes',
  )
  const { code, printed, errors, calls } = await restoring.finally(() => {
    isDone = true
  })
  expect([code, errors]).toEqual([0, ''])
  const added = Object.values(ROWS).reduce((sum, rows) => sum + rows.added, 0)
  expect(printed).toContain(`and removed ${added} of clinic`)
  expect(printed.match(/^Waiting \d+ s for .*$/gm)).toHaveLength(2)
  expect(await contentOf(db, clinic)).toEqual(before)
  expect((await runVerification(table, clinic)).found).toEqual([])
  expect([await foundBy('wrong'), await foundBy('right')]).toEqual([0, ROWS.patients.before])

  // The same steps in the copy, which nothing was restored in.
  const steps = await Promise.all(writers)
  expect(Math.min(...steps)).toBeGreaterThan(rounds(1, 50))
  await Promise.all(
    others.map(async ([id, doctor], at) => {
      const step = writerOf(copy, id, doctor)
      for (let count = 0; count < (steps[at] as number); count++) await step()
    }),
  )
  const [now, expected] = [await allItems(db), await allItems(copy)]
  for (const [id] of others) expect(itemsOf(now, id)).toEqual(itemsOf(expected, id))
  const keys = calls.flatMap(writtenKeys)
  expect(keys.length).toBeGreaterThan(50)
  expect(keys.filter((key) => !key.includes(shortId(clinic)) && !key.includes(clinic))).toEqual([])
})

/** Every item with a clinic's id. */
const itemsOf = (items: readonly object[], clinic: ClinicId) =>
  items
    .map(sortedJson)
    .filter((item) => item.includes(shortId(clinic)) || item.includes(clinic))
    .sort()

/** The keys of what a call writes. */
function writtenKeys({ operation, input }: RecordedCall): string[] {
  const { Key, Item, TransactItems = [], RequestItems = {} } = input
  if (!/Put|Update|Delete|Write/.test(operation)) return []
  const writes = [...TransactItems, ...Object.values(RequestItems).flat()].map(
    (write) => Object.values(write as object)[0],
  )
  return [{ Key, Item }, ...writes].flatMap((write) => {
    const { pk, sk } = write.Key ?? write.Item ?? {}
    return pk ? [`${pk.S} ${sk.S}`] : []
  })
}

it('rejects a copy that is not one of the clinic at this time', async () => {
  const empty = await freshTable()
  expect(await rejection(stack.run(...args('--from', empty.name)))).toBe(
    `${empty.name} does not have clinic ${world.clinic.id}.\n`,
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

describe('--from-data', () => {
  const data = temporaryFolder()
  /** What a local stack says of itself, and its log group. */
  const local = createServer((request, response) =>
    response.end(
      request.method === 'POST'
        ? '{}'
        : JSON.stringify({
            region: 'local',
            outputs: { TableName: db.name, OperatorLogGroup: 'operators' },
            endpoints: { dynamodb: inject('dynamodb'), logs: `http://127.0.0.1:${port()}/logs` },
          }),
    ),
  )
  const port = () => (local.address() as AddressInfo).port
  let here: PopulatedClinic
  let deployed: string | undefined
  let at: string
  const rehearse = async (...more: string[]) => {
    const args = ['restore', 'clinic', here.clinic.id, '--to', at, '--from-data', data, ...more]
    const { code, printed, errors } = await runTool(args, { PORT: String(port()) })
    return { code, printed: printed + errors }
  }
  const files = () => readdirSync(data).map((name) => [name, readFileSync(join(data, name)).toString('hex')])

  beforeAll(async () => {
    deployed = process.env.AWS_ENDPOINT_URL_DYNAMODB
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', undefined)
    here = await createPopulatedClinic(db.table)
    at = new Date().toISOString().replace(/\.\d+/, '.000')
    openDataFolder(data)()
    const engine = await startDynamoDb({ dataDir: data, onUnexpectedExit: () => {} })
    const settings = { endpoint: engine.endpoint, ...ENGINE_ACCESS }
    const raw = new DynamoDBClient(settings)
    await createTestTable(raw, db.name)
    await openTable(documentClient(settings), db.name).putMany(await allItems(db))
    await engine.stop()
    local.listen(0, '127.0.0.1')
    await once(local, 'listening')
  })
  afterAll(() => {
    local.close()
  })

  it('restores from the data of another folder, which stays as it was', async () => {
    const { id } = here.patient
    const patient = async () => (await patientStore(db).findMany(here.clinic.id, [id])).get(id)?.firstName
    const before = await patient()
    await patientChanges(db.table).update(here.clinic.id, id, { firstName: 'Wrong' })
    const filesBefore = files()
    const planned = await rehearse()
    expect(planned).toEqual({
      code: 0,
      printed: expect.stringMatching(/Put back: 1 patient\n(.*\n)*Nothing was done/),
    })
    expect(await patient()).toBe('Wrong')
    expect((await rehearse('--yes')).code).toBe(0)
    expect([await patient(), files()]).toEqual([before, filesBefore])
  })

  it('is rejected for a folder without data, one that a process uses, and a deployed stack', async () => {
    const release = openDataFolder(data)
    expect((await rehearse()).printed).toContain('is used by another process')
    release()
    expect(await rehearse('--from-data', folder)).toEqual({
      code: 2,
      printed: expect.stringContaining('has no data of'),
    })
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', deployed)
    const onAws = ['restore', 'clinic', here.clinic.id, '--to', to, '--from-data', data]
    expect(await rejection(stack.run(...onAws))).toContain('for the local stack')
  })
})
