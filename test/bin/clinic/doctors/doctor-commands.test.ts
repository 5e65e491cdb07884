/** When doctors work, and which appointments a change of it leaves outside. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import { availableSlots, type DoctorSlot } from '../../../../shared/domain/booking/availability.ts'
import { NEW_DOCTOR } from '../../../../shared/domain/booking/doctor.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { availabilityStore } from '../../../../shared/store/calendar/availability.ts'
import { doctorStore, MAX_SAVED } from '../../../../shared/store/doctors.ts'
import { doctorKey, holidaysKey } from '../../../../shared/store/keys/clinics.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import { deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import { createAppointment, createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'

const { db, run } = deployedTable()

const MONDAY = '2099-05-04'
const TUESDAY = '2099-05-05'

let mine: PopulatedClinic

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
})

const doctor = (...args: string[]) =>
  run('doctor', 'update', mine.doctor.id, '--clinic', mine.clinic.id, ...args)
const holiday = (name: string, ...args: string[]) => run('holiday', name, '--clinic', mine.clinic.id, ...args)

const appointment = (
  date: string,
  startTime: string,
  endTime: string,
  status: Appointment['status'] = 'scheduled',
) => createAppointment(db.table, mine, { date, startTime, endTime, status })

/** An appointment as `appointment list` lists it. */
const lineOf = (id: string, date = MONDAY) =>
  `${id}  ${date}  09:00-09:30  scheduled  ${mine.appointment.patient.fullName}  Dr. Bo Lind`

/** The lines after a change, with the appointments that it leaves outside. */
const linesOf = (changed: string, outside: string, remedies: string, ...listed: readonly string[]) =>
  [
    changed,
    `${outside}. Nothing cancels them: use ${remedies}. Times are in Europe/Istanbul.`,
    ...listed,
    '',
  ].join('\n')
const MOVE_OR_CANCEL = '"appointment update" or "appointment cancel"'

/** The dates on which slots of an hour can be booked. */
async function bookableDates(): Promise<string[]> {
  const question = { doctor: mine.doctor.id, treatments: [], room: undefined, from: MONDAY, to: TUESDAY }
  const facts = await availabilityStore(db).read(mine.clinic.id, question)
  if (facts.kind !== 'found') throw new Error(facts.kind)
  const slots: DoctorSlot[] = []
  for await (const { calendars, from, to } of facts.portions)
    slots.push(
      ...availableSlots(calendars, {
        from,
        to,
        minutes: 60,
        limit: 100,
        roomBusyOn: () => [],
        timezone: 'Europe/Istanbul',
        clock: { date: '2026-01-01', seconds: 0 },
      }),
    )
  return [...new Set(slots.map(({ date }) => date))]
}

it('names a doctor who cannot be read, and the command that shows what is wrong', async () => {
  await db.table.update(doctorKey(mine.clinic.id, mine.doctor.id), { UpdateExpression: 'REMOVE hours' })
  const expected = `The doctor ${mine.doctor.id} cannot be read. "clinic verify --clinic ${mine.clinic.id}" shows what is wrong.\n`
  expect(await run('doctor', 'show', mine.doctor.id, '--clinic', mine.clinic.id)).toMatchObject({
    code: 4,
    errors: expected,
  })
})

describe('appointments that a change leaves outside', () => {
  it.each([
    [['--hours', 'mon-fri 10:00-17:00']],
    [['--breaks', 'mon 09:15-09:45']],
    [['--exception', `${MONDAY} 10:00-12:00`]],
    [['--add-time-off', MONDAY]],
  ])('are listed by doctor update %j as appointment list lists them, and stay', async (args) => {
    const outside = await appointment(MONDAY, '09:00', '09:30')
    await appointment(MONDAY, '09:00', '09:30', 'cancelled')
    await appointment('2099-05-09', '09:00', '09:30')
    const { code, printed } = await doctor(...args)
    expect(code).toBe(0)
    const text = '1 scheduled appointment is now outside working hours'
    expect(printed).toBe(linesOf('Changed doctor Dr. Bo Lind', text, MOVE_OR_CANCEL, lineOf(outside)))
    expect((await appointmentStore(db).find(mine.clinic.id, outside))?.record.status).toBe('scheduled')
  })

  it('are all listed when their doctor or patient is deactivated, once', async () => {
    const { patient, clinic } = mine
    const coming = [
      lineOf(await appointment(MONDAY, '09:00', '09:30')),
      lineOf(await appointment('2099-05-09', '09:00', '09:30'), '2099-05-09'),
    ]
    await appointment(MONDAY, '10:00', '10:30', 'cancelled')
    await appointment('2020-05-04', '10:00', '10:30')
    const text = (of: string) => `2 scheduled appointments are now without an active ${of}`
    const ofDoctor = linesOf('Changed doctor Dr. Bo Lind', text('doctor'), MOVE_OR_CANCEL, ...coming)
    expect((await doctor('--no-active')).printed).toBe(ofDoctor)
    expect((await doctor('--active')).printed).toBe('Changed doctor Dr. Bo Lind\n')
    const update = (...more: string[]) =>
      run('patient', 'update', patient.id, '--clinic', clinic.id, '--no-active', ...more)
    const ofPatient = linesOf(
      `Changed patient ${patient.id}`,
      text('patient'),
      '"appointment cancel"',
      ...coming,
    )
    expect(await output(update())).toBe(ofPatient)
    const again = JSON.parse((await update('--json')).printed).data
    expect(again).toMatchObject({ is_active: false, appointments_outside: [] })
  })

  it('are in the JSON, earliest first, and their patients in the access trail', async () => {
    const ids = [await appointment(TUESDAY, '09:00', '09:30'), await appointment(MONDAY, '16:00', '17:00')]
    const { printed, lines } = await doctor('--no-active', '--json')
    const { changed, appointments_outside } = JSON.parse(printed).data
    expect([changed, appointments_outside.map(({ id }: { id: string }) => id)]).toEqual([
      true,
      ids.toReversed(),
    ])
    expect(appointments_outside[0]).toMatchObject({
      appointment_date: MONDAY,
      start_time: '16:00',
      end_time: '17:00',
      status: 'scheduled',
      patient: { id: mine.patient.id, full_name: mine.appointment.patient.fullName },
      doctor: { id: mine.doctor.id, full_name: 'Dr. Bo Lind' },
      patient_id: mine.patient.id,
      doctor_id: mine.doctor.id,
    })
    expect(lines[1]?.records).toContain(mine.patient.id)
  })

  it('are none if the change leaves all of them inside, or they were outside before', async () => {
    await appointment(MONDAY, '09:00', '09:30')
    await appointment('2099-05-09', '09:00', '09:30')
    expect((await doctor('--hours', 'mon 08:00-12:00')).printed).toBe('Changed doctor Dr. Bo Lind\n')
  })
})

it('changes of one doctor at the same time are all made', async () => {
  const days = ['2099-01-05', '2099-01-06', '2099-01-07']
  const results = await Promise.all([
    ...days.map((day) => doctor('--add-time-off', day)),
    doctor('--hours', 'mon 08:00-12:00'),
  ])
  expect(results.map(({ code, errors }) => [code, errors])).toEqual(results.map(() => [0, '']))
  const stored = await doctorStore(db).find(mine.clinic.id, mine.doctor.id)
  expect(stored?.timeOff.map(({ from }) => from).toSorted()).toEqual(days)
  expect(Object.keys(stored?.hours ?? {})).toEqual(['mon'])
})

describe('a change that changes nothing', () => {
  it.each([[['--active']], [['--hours', 'mon-fri 09:00-17:00']], [['--breaks', '']]])(
    'is reported by doctor update %j, and writes nothing',
    async (args) => {
      const key = doctorKey(mine.clinic.id, mine.doctor.id)
      const before = await db.table.get(key)
      expect(await output(doctor(...args))).toBe(
        'Nothing changed: doctor Dr. Bo Lind has these values already\n',
      )
      expect(await db.table.get(key)).toEqual(before)
    },
  )

  it('is reported for a clinic and a patient, too', async () => {
    const of = ['--clinic', mine.clinic.id]
    const same = ['patient', 'update', mine.patient.id, ...of, '--first-name', mine.patient.firstName]
    expect((await run(...same)).printed).toBe(
      `Nothing changed: patient ${mine.patient.id} has these values already\n`,
    )
    expect((await run('patient', 'update', mine.patient.id, ...of)).errors).toContain('Nothing to change')
    expect(
      (await run('clinic', 'update', '--clinic', mine.clinic.id, '--name', 'Clinic', '--yes')).printed,
    ).toBe('Nothing changed: clinic Clinic has these values already\n')
    expect(
      (await run('doctor', 'update', mine.doctor.id, ...of, '--department', mine.department.id)).printed,
    ).toContain('Nothing changed')
  })
})

it('doctor show needs no other doctor, which may be unreadable', async () => {
  await db.table.transact([
    db.table.putWrite({ ...doctorKey(mine.clinic.id, newUuid()), fullName: 'Dr. No' }),
  ])
  expect((await run('doctor', 'list', '--clinic', mine.clinic.id)).code).toBe(4)
  expect(await output(run('doctor', 'show', mine.doctor.id, '--clinic', mine.clinic.id))).toContain(
    'Dr. Bo Lind',
  )
})

describe('time off', () => {
  it('is added once, and removed as it was added', async () => {
    const nothing = 'Nothing changed: doctor Dr. Bo Lind has these values already\n'
    expect(await output(doctor('--remove-time-off', '2099-05-04/2099-05-08'))).toBe(nothing)
    expect((await doctor('--add-time-off', '2099-05-04/2099-05-08')).code).toBe(0)
    expect(await bookableDates()).toEqual([])
    for (const days of ['2099-05-04/2099-05-08', TUESDAY])
      expect(await output(doctor('--add-time-off', days))).toBe(nothing)
    expect(await rejection(doctor('--add-time-off', `${TUESDAY} "Travel"`))).toBe(
      'Nothing was changed: 2099-05-05 is time off already, as 2099-05-04/2099-05-08. Remove it first.\n',
    )
    expect(await rejection(doctor('--remove-time-off', '2099-05-04'))).toBe(
      'Nothing was changed: 2099-05-04 is not time off. Specify it as it was added: 2099-05-04/2099-05-08\n',
    )
    const { code } = await doctor('--remove-time-off', '2099-05-04/2099-05-08', '--add-time-off', MONDAY)
    expect([code, await bookableDates()]).toEqual([0, [TUESDAY]])
  })

  it('is shown with its reason, and removed with it or without', async () => {
    await doctor('--add-time-off', `${MONDAY} "Conference; far"; ${TUESDAY} "Travel"`)
    const shown = `${MONDAY} "Conference; far"; ${TUESDAY} "Travel"`
    expect((await run('doctor', 'list', '--clinic', mine.clinic.id)).printed).toContain(`off ${shown}`)
    expect((await run('doctor', 'show', mine.doctor.id, '--clinic', mine.clinic.id)).printed).toContain(shown)
    expect((await doctor('--remove-time-off', `${MONDAY} "Conference; far"; ${TUESDAY}`)).code).toBe(0)
    expect(await bookableDates()).toEqual([MONDAY, TUESDAY])
  })
})

it('exceptions of a doctor are shown, and can be removed', async () => {
  await doctor('--exception', MONDAY, `${TUESDAY} 09:00-12:00`)
  expect(await bookableDates()).toEqual([TUESDAY])
  expect((await run('doctor', 'list', '--clinic', mine.clinic.id)).printed).toContain(
    `, exceptions ${MONDAY} off; ${TUESDAY} 09:00-12:00`,
  )
  expect(await output(doctor('--remove-exception', '2099-05-06'))).toContain('Nothing changed')
  expect(await rejection(doctor('--remove-exception', '2099-05-06', MONDAY))).toBe(
    `Nothing was changed: 2099-05-06 is not an exception. Exceptions: ${MONDAY} off; ${TUESDAY} 09:00-12:00\n`,
  )
  expect((await doctor('--remove-exception', MONDAY)).code).toBe(0)
  expect(await bookableDates()).toEqual([MONDAY, TUESDAY])
  expect((await run('doctor', 'show', mine.doctor.id, '--clinic', mine.clinic.id)).printed).toMatch(
    /^exceptions +2099-05-05 09:00-12:00$/m,
  )
})

describe('a doctor', () => {
  it.each([
    ['--exception', '2200-01-01 off'],
    ['--add-time-off', '2199-12-31/9999-12-31'],
  ])('has no %s after the last date', async (option, days) => {
    expect(await rejection(doctor(option, days))).toBe(`${option} must not be after 2199-12-31\n`)
  })

  it('is added with weekly hours, breaks and days off, which the list shows', async () => {
    const hours = 'mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00'
    const of = ['--clinic', mine.clinic.id]
    const added = await run('--json', 'doctor', 'create', ...of, '--name', 'Dr. Eva Noll', '--hours', hours)
    const { id, hours: shown } = JSON.parse(added.printed).data
    expect(shown).toBe(hours)
    const times = ['--hours', 'mon 09:00-18:00', '--breaks', 'mon 12:00-13:00']
    const off = ['--time-off', '2026-12-24/2026-12-26; 2027-01-01']
    await run('doctor', 'create', ...of, '--name', 'Dr. Ida Rot', ...times, ...off)
    await run('doctor', 'update', id, ...of, '--no-active')
    const { printed } = await run('doctor', 'list', ...of)
    expect(printed).toContain('Dr. Eva Noll  inactive')
    expect(printed).toContain(
      'active    mon 09:00-18:00, breaks mon 12:00-13:00, off 2026-12-24/2026-12-26; 2027-01-01',
    )
    expect(await rejection(run('doctor', 'create', ...of, '--name', 'X', '--hours', 'mon 9-17'))).toContain(
      '--hours "mon 9-17"',
    )
  })

  it('is neither added nor activated while the clinic has 500 active ones, also by concurrent commands', async () => {
    const of = ['--clinic', mine.clinic.id]
    const doctors = Array.from({ length: 498 }, () => ({
      ...NEW_DOCTOR,
      fullName: 'Dr. Ida Rot',
      id: newUuid(),
    }))
    for (const chunk of chunked(doctors, MAX_SAVED))
      await doctorStore(db).save(
        mine.clinic.id,
        chunk.map((after) => ({ before: null, after })),
      )
    await doctor('--no-active')
    const add = () => run('doctor', 'create', ...of, '--name', 'Dr. Eva Noll')
    const results = await Promise.all([add(), add(), add()])
    expect(results.map(({ code }) => code).toSorted()).toEqual([0, 0, 2])
    expect(await rejection(doctor('--active'))).toBe(
      'The clinic has 500 active doctors already, the most that it can have.\n',
    )
    await run('doctor', 'update', doctors[0]?.id ?? '', ...of, '--no-active')
    expect((await doctor('--active')).code).toBe(0)
    const active = (await doctorStore(db).list(mine.clinic.id)).filter(({ isActive }) => isActive)
    expect(active).toHaveLength(500)
  })
})

describe('holidays of a clinic', () => {
  it('close it, and list the appointments', async () => {
    const ids = [await appointment(MONDAY, '09:00', '09:30'), await appointment(TUESDAY, '09:00', '09:30')]
    const { code, printed } = await holiday('create', MONDAY, '--name', 'Spring day')
    expect(code).toBe(0)
    expect(printed).toContain(
      `Changed the holidays of 1 doctor\n${MONDAY}  Spring day\n1 scheduled appointment`,
    )
    expect([printed.includes(ids[0] as string), printed.includes(ids[1] as string)]).toEqual([true, false])
    expect(await bookableDates()).toEqual([TUESDAY])
    expect((await run('doctor', 'list', '--clinic', mine.clinic.id)).printed).toContain(`holidays ${MONDAY}`)
  })

  it('are added once, removed as they were added, and leave time off alone', async () => {
    await doctor('--add-time-off', TUESDAY)
    await holiday('create', '2099-05-04/2099-05-06')
    expect(await output(holiday('create', MONDAY))).toContain('Nothing changed\n2099-05-04/2099-05-06\n')
    expect((await holiday('delete', MONDAY)).errors).toBe(
      'Nothing was changed: 2099-05-04 is not a holiday. Specify it as it was added: 2099-05-04/2099-05-06\n',
    )
    expect(await output(holiday('delete', '2099-05-04/2099-05-06'))).toBe(
      'Changed the holidays of 1 doctor\nNo holidays\n',
    )
    expect(await bookableDates()).toEqual([MONDAY])
    expect(await output(holiday('delete', MONDAY))).toBe('Nothing changed\nNo holidays\n')
  })

  it('are at most as many as each doctor can have a copy of', async () => {
    const days = Array.from({ length: 200 }, (_, at) => new Date(Date.UTC(2098, 0, 1 + at)).toISOString())
    await holiday('create', days.map((day) => day.slice(0, 10)).join('; '))
    expect(await rejection(holiday('create', MONDAY))).toBe(
      'Nothing was changed: a clinic can have 200 holidays. Remove past ones first.\n',
    )
  })

  it('say which doctors lack them after an interruption, and are continued by the same command', async () => {
    const day = { from: MONDAY, to: MONDAY, reason: null }
    await db.table.transact([db.table.putWrite({ ...holidaysKey(mine.clinic.id), days: [day], v: 1 })])
    expect((await holiday('list')).printed).toContain(`Dr. Bo Lind ${mine.doctor.id} does not have them yet`)
    expect(await holiday('create', MONDAY)).toMatchObject({ code: 0 })
    expect((await holiday('list')).printed).toBe(`${MONDAY}\n`)
    expect(await bookableDates()).toEqual([TUESDAY])
  })
})
