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

const CASES: [text: string, kind: DifferenceKind, key: Difference['key'], note?: string][] = [
  [`invoice ${ID} is missing from its patient's list`, 'row_missing', ownerRow('I', 'patient', DOCTOR)],
  [`payment ${ID} is different in its invoice's list`, 'row_differs', ownerRow('Y', 'invoice', DOCTOR)],
  [`appointment ${ID} is in its doctor's list and does not belong there`, 'row_extra', listRow('A', DOCTOR)],
  [`message ${ID} is missing from the clinic's list`, 'row_missing', listRow('M', null)],
  [
    `message ${ID} refers to what does not exist: patient x`,
    'dangling_reference',
    keyOf('M', ID),
    'patient x',
  ],
  [
    `patient ${ID} is missing from the index of changes`,
    'change_missing',
    changeIndexKey(CLINIC, 'P', { id: ID, updatedAt: '2026-05-01T07:00:00Z' }),
  ],
  [
    `appointment ${ID} takes no time on 2026-05-01 of doctor ${DOCTOR}`,
    'busy_missing',
    calendar.doctorDayKey(CLINIC, DOCTOR, '2026-05-01'),
    `appointment ${ID}`,
  ],
  [
    `appointment ${ID} overlaps appointment ${DOCTOR} of the same doctor`,
    'appointments_overlap',
    keyOf('A', ID),
    `overlaps appointment ${DOCTOR} of the same doctor`,
  ],
  [
    'the counts of payments of the clinic in 2026-05 are wrong: x is 1',
    'tally_wrong',
    tally('Y', null),
    'x is 1',
  ],
  [
    `the counts of appointments of doctor ${DOCTOR} in 2026-05 are wrong: x`,
    'tally_wrong',
    tally('A', DOCTOR),
    'x',
  ],
  [
    'position 7 of the list of patients differs from its patient',
    'patient_row_differs',
    patientRowKey(CLINIC, 7),
  ],
  [`patient ${ID} cannot be read`, 'record_unreadable', patientKey(CLINIC, ID)],
  [`patient ${ID} is not found by national id`, 'national_id_missing', nationalIdKey(CLINIC, 'h', ID)],
  [`room ${ID} is wrong: departmentId x`, 'catalogue_wrong', roomKey(CLINIC, ID), 'departmentId x'],
  [`doctor ${ID} has other holidays than the clinic`, 'holidays_outdated', doctorKey(CLINIC, ID)],
  [
    'credential ck_a_1 has outdated settings of the clinic',
    'credential_outdated',
    clinicCredentialKey(CLINIC, 'ck_a_1'),
  ],
]

describe('a difference in words', () => {
  it.each(CASES)('is "%s"', (text, kind, key, note) => {
    expect(inWords({ kind, key, note })).toBe(text)
  })

  it('names the record and its id apart too, and neither where it concerns none', () => {
    const key = ownerRow('I', 'patient', DOCTOR)
    expect(subjectOf({ kind: 'row_missing', key })).toEqual({ record: 'invoice', id: ID })
    expect(subjectOf({ kind: 'tally_wrong', key: tally('Y', null) })).toEqual({ record: null, id: null })
  })

  it('has no key and no name of a kind, for any kind', () => {
    for (const kind of Object.keys(DIFFERENCES) as DifferenceKind[])
      for (const key of [keyOf('A', ID), { pk: `${shortId(CLINIC)}#X`, sk: '1' }])
        expect(inWords({ kind, key, note: 'x' })).not.toMatch(/_|#/)
  })
})
