import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import { type PatientFields, patientUpdates } from '../../shared/store/patients/patient-updates.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { patientsByExternalId } from '../../shared/store/patients/patients.ts'
import { patientSearch } from '../../shared/store/patients/search.ts'
import {
  activePageBound,
  CREATE_PATIENT_UNITS,
  coldSearchBound,
  EXTERNAL_ID_UNITS,
  pageBound,
  RENAME_PATIENT_UNITS,
  ROUND_TRIPS,
  UPDATE_PATIENT_UNITS,
  warmSearchBound,
} from './bounds.ts'
import type { MeteredTable } from './meter.ts'
import { seeded } from './random.ts'
import { newPatient, newWrite } from './records.ts'

/** Writes an import file of patients. */
export async function writePatients(file: string, count: number): Promise<void> {
  const random = seeded(count)
  const given = ['Ayşe', 'Mehmet', 'Elif', 'Can', 'Zeynep', 'Ali', 'Işıl', 'Emre', 'Deniz', 'İpek'] as const
  const family = [
    'Yılmaz',
    'Kaya',
    'Demir',
    'Şahin',
    'Çelik',
    'Öztürk',
    'Aydın',
    'Arslan',
    'Koç',
    'Polat',
  ] as const
  const stream = createWriteStream(file)
  stream.write('external_id,first_name,last_name,date_of_birth,gender,phone_number,email_address\n')
  for (let n = 0; n < count; n++) {
    const year = random.integer(1930, 2024)
    const phone = `+9053${random.integer(10_000_000, 99_999_999)}`
    const row = `${n},${random.pick(given)},${random.pick(family)}${n % 997},${year}-05-17,female,${phone},user${n}@example.com\n`
    if (!stream.write(row)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
}

/** Measures every read of a clinic's patients and the creation of one. */
export async function measurePatients(
  { table, add }: MeteredTable,
  clinic: ClinicId,
  count: number,
): Promise<void> {
  const warm = patientSearch({ table })
  for (const limit of [20, 100]) {
    const last = Math.ceil(count / limit)
    for (const [name, page] of [
      ['first', 1],
      ['middle', Math.ceil(last / 2)],
      ['last', last],
    ] as const) {
      await add(`${name} page, limit ${limit}`, pageBound(limit), () =>
        warm.search(clinic, '', { page, limit }),
      )
    }
  }
  await add('search, cold', coldSearchBound(count), () =>
    patientSearch({ table }).search(clinic, 'yılmaz', { page: 1, limit: 20 }),
  )
  await warm.search(clinic, 'x', { page: 1, limit: 1 })
  for (const limit of [20, 100]) {
    for (const query of ['yilmaz', 'ali kaya', '0532', 'example.com', 'zz']) {
      await add(`search "${query}", warm, limit ${limit}`, warmSearchBound(limit), () =>
        warm.search(clinic, query, { page: 1, limit }),
      )
    }
  }
  await add('create a patient (write units)', { units: CREATE_PATIENT_UNITS, roundTrips: 2 }, () =>
    patientWriter({ table }).createMany(clinic, [
      newPatient({
        dateOfBirth: '1980-01-02',
        gender: 'female',
        phoneNumber: '+905321234567',
        emailAddress: 'ada@example.com',
      }),
    ]),
  )
  const externalId = 'BENCH-1'
  const bound = { units: CREATE_PATIENT_UNITS + EXTERNAL_ID_UNITS, roundTrips: 4 }
  await add(
    'create a patient with an external id (write units, and 5 of reads)',
    { ...bound, units: bound.units + 5 },
    () =>
      patientWriter({ table }).create(
        clinic,
        newPatient({ externalId }),
        newWrite(table, clinic, () => ({})),
      ),
  )
  const byExternalId = patientsByExternalId({ table })
  await add('the patient with an external id', { units: 4, roundTrips: ROUND_TRIPS }, () =>
    byExternalId(clinic, externalId),
  )
  await add(
    'search after one creation, warm',
    { ...warmSearchBound(20), units: warmSearchBound(20).units + 1, roundTrips: ROUND_TRIPS },
    () => warm.search(clinic, 'ada', { page: 1, limit: 20 }),
  )
  await measureChanges()

  /** With an Idempotency-Key, as requests have. */
  async function measureChanges(): Promise<void> {
    const { items } = await warm.search(clinic, '', { page: 1, limit: 20 })
    const updates = patientUpdates({ table })
    const change = (at: number, fields: PatientFields) => () =>
      updates.update(
        clinic,
        (items[at] as Patient).id,
        fields,
        newWrite(table, clinic, (patient) => ({ data: patient })),
      )
    const bound = { units: UPDATE_PATIENT_UNITS + 3, roundTrips: 3 }
    // The first national id of a clinic makes the secret of their hashes.
    await change(6, { nationalId: '12345678951' })()
    const renameBound = { ...bound, units: RENAME_PATIENT_UNITS + 3 }
    await add('change a name (write units, and 3 of reads)', renameBound, change(1, { lastName: 'New' }))
    await add('change a phone number (the same)', bound, change(2, { phoneNumber: '+905321234568' }))
    await add('change the notes (the same)', bound, change(3, { notes: 'Prefers afternoons' }))
    await add('set a national id (the same)', bound, change(4, { nationalId: '12345678950' }))
    await add('deactivate a patient (the same)', bound, change(5, { isActive: false }))
    for (const isActive of [true, false])
      for (const limit of [20, 100])
        await add(`first page, is_active=${isActive}, limit ${limit}`, activePageBound(count, limit), () =>
          warm.search(clinic, '', { page: 1, limit }, isActive),
        )
  }
}
