/** The confirmation of an erasure, and its effect on future appointments. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import { addDays, wallClock } from '../../../../shared/domain/clock.ts'
import { fullName } from '../../../../shared/domain/patients/patient.ts'
import { clinicTimestamp } from '../../../../shared/domain/timestamp.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { announcedEvents } from '../../../support/all-items.ts'
import { deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import { crashingTable } from '../../../support/intercepted-table.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../../../support/records.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const stack = deployedTable()
const { db } = stack

/** A patient with appointments in the past and ahead, by the clinic's clock. */
let mine: PopulatedClinic
let appointments: Record<'past' | 'tomorrow' | 'completed', Appointment>

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  const today = wallClock(Date.now(), mine.clinic.timezone).date
  const appointment = (days: number, facts: Partial<Appointment> = {}) => ({
    ...mine.appointment,
    id: newUuid(),
    date: addDays(today, days),
    ...facts,
  })
  appointments = {
    past: appointment(-1),
    tomorrow: appointment(1),
    completed: appointment(2, { status: 'completed' }),
  }
  for (const one of Object.values(appointments))
    await createRecord(db.table, mine.clinic, appointmentStore(db), one)
})

const name = () => fullName(mine.patient)
const erasing = () => ['patient', 'erase', mine.patient.id, '--clinic', mine.clinic.id]
const erasedAt = async () => (await patientStore(db).find(mine.clinic.id, mine.patient.id))?.erasedAt ?? null
const statusOf = async ({ id }: Appointment) =>
  (await appointmentStore(db).find(mine.clinic.id, id))?.record.status
const events = async (record: string) => (await announcedEvents(db, record)).map(([name]) => name)

describe('patient erase', () => {
  it('shows the name, the date of birth and counts at a terminal, and erases when the name was typed', async () => {
    const rejected = await stack.runAsked(async () => 'yes', ...erasing())
    expect(rejected.code).toBe(2)
    expect(rejected.errors).toBe(`This patient is erased permanently:
  name           ${name()}
  date of birth  ${mine.patient.dateOfBirth ?? '-'}
  appointments   4, of which 1 ahead: they are cancelled
  invoices       1
  payments       1
  messages       1
Nothing was done: that is not the patient's full name.
`)
    expect(await erasedAt()).toBeNull()
    expect((await stack.runAsked(async () => name(), ...erasing())).code).toBe(0)
    expect(await erasedAt()).not.toBeNull()
  })

  it('cancels what is ahead with its event, and frees the time; what has begun or ended stays', async () => {
    const { code, printed, lines } = await stack.run('--json', ...erasing(), '--yes', '--confirm', name())
    expect([code, JSON.parse(printed).data.cancelled_appointments]).toEqual([0, 1])
    expect(await statusOf(appointments.tomorrow)).toBe('cancelled')
    expect(await events(appointments.tomorrow.id)).toEqual(['appointment.created', 'appointment.cancelled'])
    expect([await statusOf(appointments.past), await statusOf(appointments.completed)]).toEqual([
      'scheduled',
      'completed',
    ])
    expect(JSON.stringify(lines)).not.toContain(mine.patient.lastName)
    expect((await runVerification(db.table, mine.clinic.id)).found).toEqual([])
  })

  it('is completed without a question after an interruption, the appointments included', async () => {
    const crashed = patientChanges(crashingTable(db.table)).erase(mine.clinic.id, mine.patient.id)
    await expect(crashed).rejects.toThrow('crash')
    expect([await erasedAt(), await statusOf(appointments.tomorrow)]).toEqual([
      expect.any(String),
      'scheduled',
    ])
    expect((await stack.run(...erasing())).code).toBe(0)
    expect(await statusOf(appointments.tomorrow)).toBe('cancelled')
  })
})

describe('erasure list', () => {
  const list = (...args: string[]) => stack.run('erasure', 'list', '--clinic', mine.clinic.id, ...args)
  const LONG_AGO = '2026-05-01T07:00:00.000Z'

  it('lists those of a clinic, also while it is deleted and after, when its time zone is unknown', async () => {
    const { patient, clinic } = mine
    await stack.run(...erasing(), '--yes', '--confirm', name())
    const at = new Date((await erasedAt()) ?? '')
    const line = `${clinicTimestamp(at.toISOString(), clinic.timezone)}  ${patient.id}  `
    expect(await output(list())).toContain(line)
    await clinicStore(db).beginDeletion(clinic.id, LONG_AGO)
    expect(await output(list())).toContain(line)
    expect(JSON.parse((await list('--json')).printed).clinic_deleted).toBeNull()

    const deleting = [
      'clinic',
      'delete',
      '--clinic',
      clinic.id,
      '--without-export',
      '--yes',
      '--confirm',
      clinic.name,
    ]
    expect((await stack.run(...deleting)).code).toBe(0)
    const utc = `${at.toISOString().slice(0, 19)}Z`
    const { code, printed } = await list()
    expect([code, printed]).toEqual([0, expect.stringContaining(`${utc}  ${patient.id}  `)])
    expect(printed).toMatch(/\nThe clinic was deleted at \S+Z by \S+\. Times are in UTC\.\n$/)
    const { data, clinic_deleted } = JSON.parse((await list('--json')).printed)
    expect(data).toMatchObject([{ clinic_id: clinic.id, patient_id: patient.id, erased_at: utc }])
    expect(clinic_deleted).toEqual({ at: expect.stringMatching(/Z$/), by: expect.any(String) })
  })

  it('is rejected for a clinic that never existed', async () => {
    for (const id of [newUuid(), 'x']) {
      expect(await rejection(stack.run('erasure', 'list', '--clinic', id))).toBe(
        `Clinic ${id} does not exist. Run "clinic list" to see all clinics.\n`,
      )
    }
  })
})

describe('erasure replay', () => {
  const folder = temporaryFolder()

  it('wants the number of patients that the file lists, unless all are erased already', async () => {
    const file = join(folder, 'erasures.ndjson')
    const { clinic, patient } = mine
    const line = { clinic_id: clinic.id, erased_at: '2026-05-01T10:00:00+03:00', operator: 'eva' }
    const lines = [patient.id, newUuid()].map((patient_id) => `${JSON.stringify({ ...line, patient_id })}\n`)
    writeFileSync(file, lines.join(''))
    const replay = (...args: string[]) =>
      stack.run('erasure', 'replay', '--clinic', clinic.id, '--from', file, ...args)
    for (const args of [[], ['--yes'], ['--yes', '--confirm', '1']])
      expect((await replay(...args)).code).toBe(2)
    expect(await erasedAt()).toBeNull()
    expect(await output(replay('--yes', '--confirm', '2'))).toBe(
      '1 erased, 0 already erased, 1 unknown to the table\n',
    )
    expect(await statusOf(appointments.tomorrow)).toBe('cancelled')
    expect((await replay()).code).toBe(0)
  })

  it('reads the file that the list wrote, both relative to the folder in which npm was run', async () => {
    vi.stubEnv('INIT_CWD', folder)
    onTestFinished(() => void vi.stubEnv('INIT_CWD', undefined))
    const { clinic } = mine
    await stack.run(...erasing(), '--yes', '--confirm', name())
    expect((await stack.run('erasure', 'list', '--clinic', clinic.id, '--to', 'list.ndjson')).code).toBe(0)
    expect(existsSync(join(folder, 'list.ndjson'))).toBe(true)
    const replay = await stack.run('erasure', 'replay', '--clinic', clinic.id, '--from', 'list.ndjson')
    expect([replay.code, replay.printed]).toEqual([0, '0 erased, 1 already erased, 0 unknown to the table\n'])
    expect(
      await rejection(stack.run('erasure', 'replay', '--clinic', clinic.id, '--from', 'other.ndjson')),
    ).toContain('other.ndjson')
  })
})
