/** The commands that end and move appointments. */
import { beforeEach, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { patientKey } from '../../../../shared/store/keys/patients.ts'
import { deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import {
  createAppointment,
  createPopulatedClinic,
  createRecord,
  type PopulatedClinic,
} from '../../../support/records.ts'
import { tableText } from '../../../support/table-text.ts'

const { db, run } = deployedTable()

/** The reason in lower case, like the text of the table. */
const REASON = 'canary reason'

let mine: PopulatedClinic

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
})

const cancel = (...more: string[]) =>
  run('appointment', 'cancel', mine.appointment.id, '--clinic', mine.clinic.id, ...more)
const erase = () => patientChanges(db.table).erase(mine.clinic.id, mine.patient.id)
const stored = async () => (await appointmentStore(db).find(mine.clinic.id, mine.appointment.id))?.record

it('stores no reason for an erased patient, whose time can be freed without one', async () => {
  await erase()
  const rejected = await cancel('--reason', REASON)
  expect([rejected.code, rejected.errors.trim()]).toEqual([
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

it('says of an appointment that has the status already that nothing changed', async () => {
  const { id } = mine.appointment
  expect((await cancel()).printed).toBe(`Appointment ${id} is cancelled\n`)
  expect((await cancel()).printed).toBe(`Nothing changed: appointment ${id} is cancelled already\n`)
})

const close = (outcome: string, ...more: string[]) =>
  run('appointment', outcome, mine.appointment.id, '--clinic', mine.clinic.id, ...more)

it('gets a status, which can be repeated, and is changed only when it is reopened', async () => {
  for (const _ of ['first', 'again']) expect((await close('complete')).code).toBe(0)
  expect(await stored()).toMatchObject({ status: 'completed' })
  expect(await rejection(close('cancel'))).toContain(
    'The appointment is completed. Use "appointment reopen" first.',
  )
  const reopen = () => run('appointment', 'reopen', mine.appointment.id, '--clinic', mine.clinic.id)
  expect((await reopen()).printed).toBe(`Appointment ${mine.appointment.id} is scheduled again\n`)
  expect((await reopen()).printed).toContain('Nothing changed')
  expect((await cancel()).code).toBe(0)
  expect(await rejection(reopen())).toContain('The appointment is cancelled, which is final.')
  expect(await rejection(close('complete'))).toContain('The appointment is cancelled, which is final.')
})

it('is completed ahead of its day only with a confirmation, and never missed ahead of its start', async () => {
  const ahead = { ...mine.appointment, id: newUuid(), date: '2099-05-04' }
  await createRecord(db.table, mine.clinic, appointmentStore(db), ahead)
  mine = { ...mine, appointment: ahead }
  expect(await rejection(close('complete'))).toBe(
    'The appointment can be completed from 2099-05-04T00:00:00+03:00 on: it has not taken place yet.\n' +
      'Nothing was done. Use --yes to do it.\n',
  )
  expect(await rejection(close('no-show'))).toContain('from 2099-05-04T09:00:00+03:00 on')
  expect(await stored()).toMatchObject({ status: 'scheduled' })
  expect((await close('complete', '--yes')).code).toBe(0)
  expect(await stored()).toMatchObject({ status: 'completed' })
})

describe('a move', () => {
  const MONDAY = '2099-05-04'
  const move = (...more: string[]) =>
    run('appointment', 'move', mine.appointment.id, '--clinic', mine.clinic.id, ...more)
  it('keeps the length, clears a confirmation, and frees the old time', async () => {
    expect(await output(move('--date', MONDAY, '--time', '10:00'))).toBe(
      `Moved appointment ${mine.appointment.id} to ${MONDAY} 10:00-10:30 (Europe/Istanbul) with Dr. Bo Lind\n`,
    )
    expect((await move('--time', '16:30', '--room', mine.room.id)).code).toBe(0)
    const { printed: shown } = await run('--json', 'appointment', 'list', '--clinic', mine.clinic.id)
    expect(JSON.parse(shown).data).toMatchObject([
      { appointment_date: MONDAY, start_time: '16:30', end_time: '17:00', room: { id: mine.room.id } },
    ])
    expect(await output(move('--time', '16:30'))).toMatch(/^Nothing changed: /)
  })

  it('lists the next free times if the time is taken, and changes nothing', async () => {
    await createAppointment(db.table, mine, { date: MONDAY, startTime: '10:00', endTime: '11:00' })
    expect(await rejection(move('--date', MONDAY, '--time', '10:30'))).toBe(
      [
        'The time of the doctor is taken. The next free times, in Europe/Istanbul:',
        ...['11:00-11:30', '11:30-12:00', '12:00-12:30'].map((time) => `  ${MONDAY} ${time}`),
        '',
      ].join('\n'),
    )
    const json = JSON.parse((await move('--date', MONDAY, '--time', '10:30', '--json')).errors)
    expect(json.error).toMatchObject({
      exit_code: 2,
      alternatives: [{ appointment_date: MONDAY, start_time: '11:00', end_time: '11:30' }, {}, {}],
    })
    expect(await stored()).toMatchObject({ date: mine.appointment.date, startTime: '09:00' })
  })

  it.each([
    [
      ['holiday', 'create', '2099-05-04/2099-05-05', '--name', 'Spring days'],
      'The clinic is closed on 2099-05-04: 2099-05-04/2099-05-05 "Spring days" is a holiday. Choose another date.',
    ],
    [
      ['holiday', 'create', MONDAY],
      'The clinic is closed on 2099-05-04: 2099-05-04 is a holiday. Choose another date.',
    ],
    [
      ['doctor', 'update', () => mine.doctor.id, '--add-time-off', `${MONDAY} "Family"`],
      'Dr. Bo Lind is off on 2099-05-04: 2099-05-04 "Family" is time off. Choose another date or doctor.',
    ],
    [
      ['doctor', 'update', () => mine.doctor.id, '--no-active'],
      'Dr. Bo Lind is inactive. Choose another doctor, or use "doctor update --active".',
    ],
  ])('says why the doctor does not work on the date, after %j', async (args, message) => {
    const [group, ...more] = args.map((arg) => (typeof arg === 'string' ? arg : arg()))
    expect((await run(group as string, ...more, '--clinic', mine.clinic.id)).code).toBe(0)
    expect(await rejection(move('--date', MONDAY, '--time', '10:00'))).toBe(`${message}\n`)
    const json = JSON.parse((await move('--date', MONDAY, '--time', '10:00', '--json')).errors)
    expect(json.error).toMatchObject({ exit_code: 2, message })
  })

  it.each([
    [['--date', MONDAY, '--time', '17:00'], "The time is outside the doctor's working hours"],
    [['--date', '2020-05-04'], 'The start time is not in the future'],
    [['--date', MONDAY, '--doctor', newUuid()], '"doctor list" lists all doctors'],
    [['--date', MONDAY, '--room', newUuid()], '"room list" lists all rooms'],
    [
      ['--date', '4.5.2099', '--duration', 'x'],
      '--date must be a date that exists, as YYYY-MM-DD\n--duration ',
    ],
    [['--duration', '0x1e'], '--duration must be a whole number of minutes from 5 to 480'],
    [[], 'Nothing to change: specify at least one option.'],
  ])('is rejected with %j', async (args, message) => {
    expect(await rejection(move(...args))).toContain(message)
    expect(await stored()).toMatchObject({ date: mine.appointment.date, startTime: '09:00' })
  })

  it('is rejected for an appointment that is over', async () => {
    await cancel()
    expect((await move('--date', MONDAY)).errors).toContain('The appointment is cancelled, which is final.')
  })
})
