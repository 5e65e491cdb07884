import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { fullName, type Patient } from '../../../../shared/domain/patients/patient.ts'
import { fold, parseSearchQuery } from '../../../../shared/domain/patients/search-text.ts'
import { patientSegmentKey } from '../../../../shared/store/keys/patients.ts'
import { MAX_CREATED, MAX_UPDATED, patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { UnavailableError } from '../../../../shared/store/table/errors.ts'
import { property } from '../../../support/scale.ts'
import { shouldMatch } from '../../../support/search-oracle.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

/** The ids that a search must find, most recently created first. */
const oracle = (patients: readonly Patient[], query: string): string[] =>
  patients
    .filter((patient) =>
      shouldMatch(
        { name: fullName(patient), phone: patient.phoneNumber, email: patient.emailAddress },
        query,
      ),
    )
    .map(({ id }) => id)
    .reverse()

const GIVEN = [
  'Ayşe',
  'İsmail',
  'Işıl',
  'Zoë',
  'Łukasz',
  'Søren',
  'Anna-Lena',
  "D'Arcy",
  'Jo',
  'ÇAĞLA',
  'Nguyễn',
]
const FAMILY = [
  'Yılmaz',
  'Großmann',
  'STRAßE',
  'Öztürk',
  "O'Neill",
  'de la Cruz',
  'Müller',
  'Ibáñez',
  'Ångström',
]
const patientArbitrary = fc
  .record({
    firstName: fc.constantFrom(...GIVEN),
    lastName: fc.constantFrom(...FAMILY),
    phoneNumber: fc.option(
      fc
        .tuple(fc.constantFrom('+905321', '+49301', '+14155551'), fc.integer({ min: 0, max: 9999 }))
        .map(([prefix, last]) => `${prefix}00${String(last).padStart(4, '0')}`),
    ),
    emailAddress: fc.option(fc.constantFrom('a.yilmaz@gmail.com', 'Info@Praxis-Müller.de', 'x0532@mail.org')),
  })
  .map((facts) => aPatient(facts))

/** Parts of what a patient is known by, the way people type them. */
const queryOf = (patients: readonly Patient[]) =>
  fc.oneof(
    fc.constantFrom(
      'gmail.com',
      'ıŞıL',
      'strasse',
      'STRASSE',
      'lukasz',
      'ISMAIL',
      'zoe',
      '@',
      '%',
      '_',
      "'",
      '😀',
      '\u200f',
      '\u0000',
      'a',
      '905',
    ),
    fc.tuple(fc.constantFrom(...patients), fc.nat(4), fc.boolean()).map(([patient, form, swapped]) => {
      const phone = patient.phoneNumber ?? '+905320000000'
      const words = [patient.lastName.slice(0, 4), patient.firstName.slice(1)]
      const name = (swapped ? words.reverse() : words).join('  ')
      return (
        [
          name,
          phone.slice(-4),
          phone.replace(/^\+(90|49|1)/, '0').replace(/(...)$/, ' $1'),
          phone.replace('+', '00'),
          phone.replace(/^(\+\d\d)/, '$1 (0)'),
        ][form] ?? name
      )
    }),
    fc
      .tuple(fc.constantFrom(...GIVEN), fc.constantFrom(...FAMILY))
      .map((words) => words.join(' ').toUpperCase()),
  )

async function enterAll(clinic: ClinicId, patients: readonly Patient[]) {
  const entry = patientWriter(db)
  for (let start = 0; start < patients.length; start += MAX_CREATED) {
    await entry.createMany(clinic, patients.slice(start, start + MAX_CREATED))
  }
  return entry
}

/** All pages of a search, laid end to end. */
async function readAll(
  search: ReturnType<typeof patientSearch>,
  clinic: ClinicId,
  query: string,
  limit: number,
) {
  const found: string[] = []
  let total = 0
  for (let page = 1; page === 1 || found.length < total; page++) {
    const result = await search.search(clinic, query, { page, limit })
    total = result.total
    if (result.items.length === 0) break
    found.push(...result.items.map(({ id }) => id))
  }
  return { found, total }
}

describe('search', () => {
  it('finds what the oracle finds, cold, warm and synced, after creations, updates and snapshots', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(patientArbitrary, { minLength: 1, maxLength: 60 }),
        fc.array(fc.constantFrom('enter', 'update', 'snapshot'), { maxLength: 6 }),
        fc.infiniteStream(patientArbitrary),
        fc.constantFrom(1, 7, 20, 100),
        fc.gen(),
        async (first, steps, more, limit, gen) => {
          const { id: clinic } = await newClinic(db.table)
          const entry = await enterAll(clinic, first)
          const patients = [...first]
          const warm = patientSearch(db)
          const check = async () => {
            const query = gen(() => queryOf(patients))
            const expected = oracle(patients, query)
            for (const search of [warm, patientSearch(db)]) {
              expect(await readAll(search, clinic, query, limit)).toEqual({
                found: expected,
                total: expected.length,
              })
            }
          }
          await check()
          for (const step of steps) {
            if (step === 'snapshot') await entry.snapshot(clinic)
            if (step === 'enter') {
              const entered = more.next().value
              await entry.createMany(clinic, [entered])
              patients.push(entered)
            }
            if (step === 'update') {
              const at = gen(fc.nat, { max: patients.length - 1 })
              const { id } = patients[at] as Patient
              const changed = { ...more.next().value, id }
              const placed = (await patientStore(db).findMany(clinic, [id])).get(id)
              if (placed) await entry.update(clinic, [{ before: placed, after: { ...placed, ...changed } }])
              patients[at] = changed
            }
            await check()
          }
        },
      ),
      property(25, 400),
    )
  })

  it('never finds more patients when a word is added', async () => {
    const { id: clinic } = await newClinic(db.table)
    const patients = fc.sample(patientArbitrary, 300)
    await enterAll(clinic, patients)
    const search = patientSearch(db)
    const totalOf = async (text: string) => (await search.search(clinic, text, { page: 1, limit: 1 })).total
    await fc.assert(
      fc.asyncProperty(
        queryOf(patients),
        fc.constantFrom('a', 'mail', 'yı', 'ß', '7'),
        async (query, word) => {
          // A query of digits alone is one number, whose digits need not occur as separate words.
          fc.pre(parseSearchQuery(query)?.kind === 'words')
          // A query of which nothing is left finds none, whereas such a word beside others is ignored.
          fc.pre(fold(query) !== '')
          expect(await totalOf(`${query} ${word}`)).toBeLessThanOrEqual(await totalOf(query))
        },
      ),
      property(50, 500),
    )
  })

  it('deletes the log entries that a snapshot contains, and reloads an index that needs them', async () => {
    const { id: clinic } = await newClinic(db.table)
    const patients = [aPatient({ lastName: 'Before' }), aPatient({ lastName: 'Still' })]
    const entry = await enterAll(clinic, patients)
    const warm = patientSearch(db)
    await warm.search(clinic, 'before', { page: 1, limit: 1 })
    for (const name of ['Once', 'Twice', 'After']) {
      const [placed] = (await patientStore(db).findMany(clinic, [patients[0]?.id ?? ''])).values()
      if (placed) await entry.update(clinic, [{ before: placed, after: { ...placed, lastName: name } }])
      await entry.snapshot(clinic)
    }
    expect((await warm.search(clinic, 'before', { page: 1, limit: 1 })).total).toBe(0)
    expect((await warm.search(clinic, 'after', { page: 1, limit: 1 })).total).toBe(1)
    const log = await db.table.query({
      pk: `${Buffer.from(clinic.replaceAll('-', ''), 'hex').toString('base64url')}#PC`,
      limit: 10,
    })
    expect(log.length).toBeLessThanOrEqual(1)
  })

  it('does not undo a newer snapshot by one that was overtaken', async () => {
    const { id: clinic } = await newClinic(db.table)
    const patient = aPatient({ lastName: 'Alpha' })
    const entry = await enterAll(clinic, [patient])
    await entry.snapshot(clinic)
    const rename = async (lastName: string) => {
      const [before] = (await patientStore(db).findMany(clinic, [patient.id])).values()
      if (before) await patientWriter(db).update(clinic, [{ before, after: { ...before, lastName } }])
    }
    await rename('Beta')
    // The slow one has read the log, and stalls before it reads the segment.
    const stalled = Promise.withResolvers<void>()
    const slow = patientWriter({
      table: {
        ...db.table,
        query: async (range) => {
          if (range.pk.includes('#PS#')) await stalled.promise
          return db.table.query(range)
        },
      },
    }).snapshot(clinic)
    await rename('Gamma')
    await patientWriter(db).snapshot(clinic)
    stalled.resolve()
    await slow
    const totals = ['alpha', 'beta', 'gamma'].map((name) =>
      patientSearch(db).search(clinic, name, { page: 1, limit: 1 }),
    )
    expect((await Promise.all(totals)).map(({ total }) => total)).toEqual([0, 0, 1])
  })

  it('keeps the newer line when two searches of one process advance the index at the same time', async () => {
    const { id: clinic } = await newClinic(db.table)
    const patient = aPatient({ lastName: 'Alpha' })
    await enterAll(clinic, [patient])
    const rename = async (lastName: string) => {
      const before = (await patientStore(db).findMany(clinic, [patient.id])).get(patient.id)
      if (before) await patientWriter(db).update(clinic, [{ before, after: { ...before, lastName } }])
    }
    // The first search reads the change log up to Beta, and applies it only after the second has applied Gamma.
    const stalled = Promise.withResolvers<void>()
    let isFirst = true
    const index = patientSearch({
      table: {
        ...db.table,
        query: async (range) => {
          const items = await db.table.query(range)
          if (range.pk.endsWith('#PC') && isFirst) {
            isFirst = false
            await stalled.promise
          }
          return items
        },
      },
    })
    const find = async (name: string) => (await index.search(clinic, name, { page: 1, limit: 1 })).total
    expect(await find('alpha')).toBe(1)
    await rename('Beta')
    const slow = find('beta')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await rename('Gamma')
    expect(await find('gamma')).toBe(1)
    stalled.resolve()
    await slow
    expect([await find('beta'), await find('gamma')]).toEqual([0, 1])
  })

  it('throws UnavailableError when a segment is missing, instead of reading forever', async () => {
    const { id: clinic } = await newClinic(db.table)
    const entry = await enterAll(clinic, [aPatient({ lastName: 'Lost' })])
    await entry.snapshot(clinic)
    await db.table.deleteMany([patientSegmentKey(clinic, 0, 0)])
    await expect(patientSearch(db).search(clinic, 'lost', { page: 1, limit: 1 })).rejects.toThrow(
      UnavailableError,
    )
  })

  it('evicts the least recently used clinic when its memory is full', async () => {
    const clinics = await Promise.all([newClinic(db.table), newClinic(db.table), newClinic(db.table)])
    for (const { id } of clinics) await enterAll(id, [aPatient({ lastName: 'Only' })])
    const search = patientSearch(db, 100)
    for (const { id } of [...clinics, ...clinics]) {
      expect((await search.search(id, 'only', { page: 1, limit: 1 })).total).toBe(1)
    }
  })

  it('applies all updates of a transaction at once', async () => {
    const { id: clinic } = await newClinic(db.table)
    const patients = Array.from({ length: MAX_UPDATED }, () => aPatient())
    const entry = await enterAll(clinic, patients)
    const placed = await patientStore(db).findMany(
      clinic,
      patients.map(({ id }) => id),
    )
    await entry.update(
      clinic,
      [...placed.values()].map((before) => ({ before, after: { ...before, lastName: 'Renamed' } })),
    )
    expect((await patientSearch(db).search(clinic, 'renamed', { page: 1, limit: 1 })).total).toBe(MAX_UPDATED)
  })
})
