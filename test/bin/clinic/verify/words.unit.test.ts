import { describe, expect, it } from 'vitest'
import { inWords, subjectOf } from '../../../../bin/clinic/verify/words.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import {
  DIFFERENCES,
  type Difference,
  type DifferenceKind,
} from '../../../../shared/maintenance/verify/comparison/difference.ts'
import * as calendar from '../../../../shared/store/keys/calendar.ts'
import { roomKey } from '../../../../shared/store/keys/catalogue.ts'
import { changeIndexKey } from '../../../../shared/store/keys/change-index.ts'
import { clinicCredentialKey, doctorKey } from '../../../../shared/store/keys/clinics.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { nationalIdKey, patientKey, patientRowKey } from '../../../../shared/store/keys/patients.ts'

const CLINIC = '0199a000-0000-7000-8000-000000000001' as ClinicId
const ID = 'a0440000-0000-4000-8000-000000000002'
const DOCTOR = 'd0c70000-0000-4000-8000-000000000003'
type Entity = Parameters<typeof calendar.calendarKey>[1]
const row = (pk: string) => ({ pk, sk: `s#2026-05-01#09:00#${shortId(ID)}` })
const ownerRow = (entity: Entity, owner: 'patient' | 'invoice', id: string) =>
  row(calendar.ownerPartition(CLINIC, entity, owner, id))
const listRow = (entity: Entity, doctor: string | null) =>
  row(calendar.calendarListPartition(CLINIC, entity, doctor))
const tally = (entity: Entity, doctor: string | null) => ({
  pk: calendar.tallyPartition(CLINIC, entity, doctor),
  sk: '2026-05',
})
const keyOf = (entity: Entity, id: string) => calendar.calendarKey(CLINIC, entity, id)

const CASES: [text: string, difference: Difference][] = [
  [
    `invoice ${ID} is missing from its patient's list`,
    { kind: 'row_missing', key: ownerRow('I', 'patient', DOCTOR) },
  ],
  [
    `payment ${ID} is different in its invoice's list`,
    { kind: 'row_differs', key: ownerRow('Y', 'invoice', DOCTOR) },
  ],
  [
    `appointment ${ID} is in its doctor's list and does not belong there`,
    { kind: 'row_extra', key: listRow('A', DOCTOR) },
  ],
  [`message ${ID} is missing from the clinic's list`, { kind: 'row_missing', key: listRow('M', null) }],
  [
    `message ${ID} refers to what does not exist: patient x`,
    { kind: 'dangling_reference', key: keyOf('M', ID), note: 'patient x' },
  ],
  [
    `patient ${ID} is missing from the index of changes`,
    {
      kind: 'change_missing',
      key: changeIndexKey(CLINIC, 'P', { id: ID, updatedAt: '2026-05-01T07:00:00Z' }),
    },
  ],
  [
    `appointment ${ID} takes no time on 2026-05-01 of doctor ${DOCTOR}`,
    {
      kind: 'busy_missing',
      key: calendar.doctorDayKey(CLINIC, DOCTOR, '2026-05-01'),
      note: `appointment ${ID}`,
    },
  ],
  [
    `appointment ${ID} overlaps appointment ${DOCTOR} of the same doctor`,
    {
      kind: 'appointments_overlap',
      key: keyOf('A', ID),
      note: `overlaps appointment ${DOCTOR} of the same doctor`,
    },
  ],
  [
    `the counts of payments of the clinic in 2026-05 are wrong: x is 1, not 2`,
    {
      kind: 'tally_wrong',
      key: tally('Y', null),
      note: 'x is 1, not 2',
    },
  ],
  [
    `the counts of appointments of doctor ${DOCTOR} in 2026-05 are wrong: x`,
    { kind: 'tally_wrong', key: tally('A', DOCTOR), note: 'x' },
  ],
  [
    'position 7 of the list of patients differs from its patient',
    { kind: 'patient_row_differs', key: patientRowKey(CLINIC, 7) },
  ],
  [`patient ${ID} cannot be read`, { kind: 'record_unreadable', key: patientKey(CLINIC, ID) }],
  [
    `patient ${ID} is not found by national id`,
    { kind: 'national_id_missing', key: nationalIdKey(CLINIC, 'h', ID) },
  ],
  [
    `room ${ID} is wrong: departmentId x`,
    { kind: 'catalogue_wrong', key: roomKey(CLINIC, ID), note: 'departmentId x' },
  ],
  [
    `doctor ${ID} has other holidays than the clinic`,
    { kind: 'holidays_outdated', key: doctorKey(CLINIC, ID) },
  ],
  [
    'credential ck_a_1 has outdated settings of the clinic',
    { kind: 'credential_outdated', key: clinicCredentialKey(CLINIC, 'ck_a_1') },
  ],
]

describe('a difference in words', () => {
  it.each(CASES)('is "%s"', (text, difference) => {
    expect(inWords(difference)).toBe(text)
  })

  it('names the record and its id apart too, and neither where it concerns none', () => {
    const [[, difference] = []] = CASES
    expect(subjectOf(difference as Difference)).toEqual({ record: 'invoice', id: ID })
    expect(subjectOf({ kind: 'tally_wrong', key: tally('Y', null) })).toEqual({
      record: null,
      id: null,
    })
  })

  it('has no key and no name of a kind, for any kind', () => {
    for (const kind of Object.keys(DIFFERENCES) as DifferenceKind[])
      for (const key of [keyOf('A', ID), { pk: `${shortId(CLINIC)}#X`, sk: '1' }])
        expect(inWords({ kind, key, note: 'x' })).not.toMatch(/_|#/)
  })
})
