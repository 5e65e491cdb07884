/** Appointments to come need free time. NOW is 2026-05-01, 10:00 in the clinic. */
import { describe, expect, it } from 'vitest'
import { trialTable } from '../../../../bin/clinic/import/run/trial-table.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { doctorDayKey } from '../../../../shared/store/keys/calendar.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { inRounds } from '../../../../shared/sync/entities/appointment-overlaps.ts'
import { appointment, FIRST, importedClinic } from '../../../bin/clinic/import/calendar-fixtures.ts'
import { interruptedTable } from '../../../support/intercepted-table.ts'
import { runVerification } from '../../maintenance/verify/practice.ts'

const imported = importedClinic()
const { idOf, load } = imported

const coming = { ...appointment, appointment_date: '2031-05-04', start_time: '09:00', end_time: '09:30' }
const other = { ...coming, external_id: 'b', patient_external_id: 2, start_time: '09:15', end_time: '09:45' }

const appointments = async () =>
  (await appointmentStore(imported.db).page(imported.clinic.id, {}, FIRST)).items
const verified = async () =>
  (await runVerification(imported.db.table, imported.clinic.id)).found.map(({ kind, note }) => [kind, note])

describe('an appointment to come', () => {
  it('is rejected with the external id and time of another that takes its time, also in the same file', async () => {
    const result = await load('appointments', [coming, other])
    expect(result).toMatchObject({ imported: 1, rejected: 1 })
    expect(result.reasons).toEqual([
      'the appointment would overlap appointment a at 09:00 of the same doctor; import the row with --allow-overlaps if both are right',
    ])
    expect(await verified()).toEqual([])
  })

  it('is imported with --allow-overlaps, and reported by verify with both ids', async () => {
    await load('appointments', [coming])
    expect(await load('appointments', [other], undefined, { allowOverlaps: true })).toMatchObject({
      imported: 1,
    })
    const ids = [await idOf('appointment', 'a'), await idOf('appointment', 'b')]
    const [[kind, note] = []] = await verified()
    expect(kind).toBe('appointments_overlap')
    expect(ids.some((id) => note === `overlaps appointment ${id} of the same doctor`)).toBe(true)
    // Appointments that overlap already can change in other fields.
    expect(await load('appointments', [{ ...other, notes: 'Allowed' }])).toMatchObject({ updated: 1 })
  })

  it('is rejected if a booking takes its time while it is written', async () => {
    const book = () => load('appointments', [other])
    const result = await load('appointments', [coming], interruptedTable(imported.db.table, book))
    expect(result).toMatchObject({ imported: 0, rejected: 1 })
    expect(await appointments()).toHaveLength(1)
  })

  it('is rejected with the id of a hold that has its time', async () => {
    const key = doctorDayKey(imported.clinic.id, await idOf('doctor', '1'), coming.appointment_date)
    const until = imported.db.table.now() / 1000 + 60
    const holds = [{ id: shortId(imported.clinic.id), from: '09:15', to: '09:45', until }]
    await imported.db.table.putMany([{ ...key, holds, v: 1 }])
    expect(await load('appointments', [coming])).toMatchObject({
      reasons: [
        expect.stringContaining(`would overlap hold ${imported.clinic.id} at 09:15 of the same doctor`),
      ],
    })
  })

  it('needs a free room, also in a check', async () => {
    await load('rooms', [{ external_id: 'r', name: 'R1' }])
    await load('doctors', [{ external_id: 2, full_name: 'Dr. Bo Lind' }])
    const inRoom = { room_external_id: 'r' }
    const rows = [
      { ...coming, ...inRoom },
      { ...other, ...inRoom, doctor_external_id: 2 },
    ]
    using trial = trialTable(imported.db.table)
    for (const table of [trial, imported.db.table])
      expect(await load('appointments', rows, table)).toMatchObject({
        imported: 1,
        reasons: [expect.stringContaining('of the same room')],
      })
  })
})

it('lets history overlap itself, and appointments of today that are over', async () => {
  const rows = ['2026-03-29', '2026-05-01'].flatMap((date) => [
    { ...coming, external_id: `${date} a`, appointment_date: date },
    { ...other, external_id: `${date} b`, appointment_date: date },
  ])
  expect(await load('appointments', rows)).toMatchObject({ imported: 4, rejected: 0 })
})

it('divides rows so that each round checks one of a day, after those that are not checked', () => {
  const rows = ['d1', 'd2 r1', '', 'd1', 'd1', '', 'd3 r1']
  const rounds = [['', ''], ['d1', 'd2 r1'], ['d1', 'd3 r1'], ['d1']]
  expect(inRounds(rows, (days) => days.match(/\S+/g) ?? [])).toEqual(rounds)
})

describe('rooms and treatments of an appointment', () => {
  it('are imported, by external ids or by their own', async () => {
    await load('rooms', [{ external_id: 'r', name: 'R1' }])
    const treatment = { duration_minutes: 30, price: '80.00' }
    await load('treatments', [
      { ...treatment, external_id: 't', name: 'Consultation' },
      { ...treatment, external_id: 'u', name: 'Test' },
    ])
    const [room, first, second] = [
      await idOf('room', 'r'),
      await idOf('treatment', 't'),
      await idOf('treatment', 'u'),
    ]
    await load('appointments', [{ ...coming, room_external_id: 'r', treatment_external_ids: ['t', 'u'] }])
    const [{ room: inRoom, treatments } = {}] = await appointments()
    expect([inRoom?.name, treatments?.map(({ name }) => name)]).toEqual(['R1', ['Consultation', 'Test']])
    const own = { ...coming, room_id: room, treatment_ids: `${first}; ${second}` }
    expect(await load('appointments', [own])).toMatchObject({ unchanged: 1 })
    expect(await load('appointments', [{ ...own, room_id: null, treatment_ids: null }])).toMatchObject({
      updated: 1,
    })
    expect(await appointments()).toMatchObject([{ room: null, treatments: [] }])
  })

  it.each([
    [{ room_external_id: 'x' }, 'room_external_id is unknown: the clinic has no such room'],
    [
      { treatment_external_ids: 'x;y' },
      'treatment_external_ids is unknown: the clinic has no such treatment',
    ],
    [{ room_id: '1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b' }, 'room_id is unknown: the clinic has no such room'],
    [{ room_id: 'R1' }, 'room_id must have ids of records'],
    [
      { room_id: '1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b', room_external_id: 'r' },
      'are both given; leave one empty',
    ],
  ])('are rejected if they are %j', async (wrong, reason) => {
    expect(await load('appointments', [{ ...appointment, ...wrong }])).toMatchObject({
      reasons: [expect.stringContaining(reason)],
    })
  })
})
