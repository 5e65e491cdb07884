import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { ACTIVE_VERSION, clinicInfo } from '../../../../shared/store/credentials.ts'
import { changeIndexKey, changeIndexSortKey } from '../../../../shared/store/keys/change-index.ts'
import {
  clinicCredentialKey,
  clinicDirectoryKey,
  clinicKey,
  credentialKey,
} from '../../../../shared/store/keys/clinics.ts'
import { dueRefreshKey, patientOwner, staleCopiesKey } from '../../../../shared/store/keys/copies.ts'
import {
  patientChangeKey,
  patientHeadKey,
  patientKey,
  patientRowKey,
  patientSegmentKey,
} from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore, toPatient } from '../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { patientSearchLine } from '../../../../shared/store/patients/search-lines.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { tableOfFile } from '../../../support/table.ts'
import {
  expectRepaired,
  faultInjection,
  type InjectedDamages,
  injectedDamages,
} from './comparison/fault-injection.ts'
import { createPractice, type Practice, runVerification } from './practice.ts'

const db = tableOfFile()
let made: Practice
let raw: ReturnType<typeof faultInjection>
let sound: Item[]

beforeAll(async () => {
  raw = faultInjection(db)
  made = await createPractice(db.table, {
    patients: 4,
    doctors: 0,
    appointments: 0,
    invoices: 0,
    payments: 0,
    messages: 0,
  })
  await patientWriter(db).snapshot(made.clinic)
  // Updates that the segments do not contain yet.
  for (const [n, at] of [2, 3, 2].entries()) await change(at, { phoneNumber: `+90555000000${n}` })
  sound = await raw.scanAll()
})
beforeEach(() => raw.restore(sound))

const idOf = (at: number) => made.patients[at]?.id ?? ''
const change = async (at: number, fields: object) => {
  const before = (await patientStore(db).findMany(made.clinic, [idOf(at)])).get(idOf(at))
  if (before) await patientWriter(db).update(made.clinic, [{ before, after: { ...before, ...fields } }])
}

const dueRefresh = (at: number) => dueRefreshKey({ clinic: made.clinic, owner: patientOwner(idOf(1)), at })
/** Changes a name, and loses the item by which the sweep finds its copies. */
async function unscheduledRefresh() {
  await change(1, { lastName: 'New' })
  const { at } = await raw.read(staleCopiesKey(made.clinic, patientOwner(idOf(1))))
  await raw.remove(dueRefresh(at as number))
}
/** The item that lists a patient in the index of changes. */
const indexItem = async (at: number) =>
  changeIndexKey(made.clinic, 'P', toPatient(await raw.read(record(at))))
/** Removes a patient's record, and leaves its row. */
async function removeRecord(at: number) {
  await raw.remove(await indexItem(at))
  await raw.remove(record(at))
}

const record = (at: number) => patientKey(made.clinic, idOf(at))
const row = (at: number) => patientRowKey(made.clinic, at)
const head = () => patientHeadKey(made.clinic)
const segment = () => patientSegmentKey(made.clinic, 0, 0)
const entry = (update: number) => patientChangeKey(made.clinic, update)
const add = (counter: string, by: number) =>
  raw.alter(head(), (item) => ({ [counter]: Number(item[counter]) + by }))
const bytes = (change: (data: Uint8Array) => Uint8Array) =>
  raw.alter(segment(), ({ data }) => ({ data: change(data as Uint8Array) }))

/** Replaces the log entry of an update with another patient's, so that the update is in neither log nor segment. */
async function forgottenUpdate() {
  await change(1, { phoneNumber: '+905557777777' })
  const line = patientSearchLine(toPatient(await raw.read(row(2))))
  await raw.alter(entry(4), () => ({ o: 2, line }))
}

const REPAIRABLE: InjectedDamages = {
  patient_row_missing: {
    'a row is missing': () => raw.remove(row(1)),
    'the last row is missing': () => raw.remove(row(3)),
  },
  patient_row_differs: {
    'a row differs from its record': () => raw.alter(row(1), () => ({ l: 'Other' })),
    'a row has an unknown patient': () => raw.alter(row(1), () => ({ i: newUuid() })),
    'a row has the patient of another ordinal': () => raw.alter(row(1), () => ({ i: idOf(3) })),
  },
  patient_ordinal_wrong: {
    'a patient has the ordinal of another patient': () => raw.alter(record(1), () => ({ o: 3 })),
    'a patient has an ordinal past the last': () => raw.alter(record(1), () => ({ o: 77 })),
    'a patient has no ordinal': () => raw.alter(record(1), () => ({ o: undefined })),
  },
  'change_missing patient_row_missing': {
    'two patients have the same ordinal': () => raw.put({ ...record(0), sk: newUuid(), ...facts(), o: 1 }),
  },
  change_missing: {
    'a patient is not in the index of changes': async () => raw.remove(await indexItem(1)),
  },
  'change_extra change_missing': {
    'a patient is in the index of changes at another time': async () => {
      const { pk } = await indexItem(2)
      await raw.remove(await indexItem(2))
      await raw.put({ pk, sk: changeIndexSortKey({ id: idOf(2), updatedAt: AT }) })
    },
  },
  change_extra: {
    'the index of changes has a patient twice': () =>
      raw.put(changeIndexKey(made.clinic, 'P', { id: idOf(3), updatedAt: '2020-01-01T00:00:00Z' })),
    'the index of changes has an unknown patient': () =>
      raw.put(changeIndexKey(made.clinic, 'P', { id: newUuid(), updatedAt: AT })),
  },
  patient_row_stray: {
    'a row is past the last patient': () => raw.put({ ...row(40), i: newUuid() }),
    'a row has a malformed ordinal': () => raw.put({ pk: row(0).pk, sk: 'x', i: idOf(1) }),
  },
  patient_head_wrong: {
    'the head counts one patient too few': () => add('n', -1),
    'the head counts too many patients': () => add('n', 3),
    'the head counts one update too few': () => add('u', -1),
    'there is no head': () => raw.remove(head()),
  },
  search_log_wrong: {
    'the head counts too many updates': () => add('u', 5),
    'the change log lacks an entry': () => raw.remove(entry(2)),
    'the change log has the wrong line': () => raw.alter(entry(3), () => ({ line: 'stranger\t\t' })),
    'the change log has an unknown ordinal': () => raw.alter(entry(2), () => ({ o: 4711 })),
  },
  search_head_wrong: {
    'the head lacks the versions of segments': () => raw.alter(head(), () => ({ sv: [] })),
    'the head claims more indexed patients than exist': () => add('sn', 9),
  },
  search_segment_wrong: {
    'a segment is missing': () => raw.remove(segment()),
    'a segment is of an older version': () => raw.alter(segment(), () => ({ version: 0 })),
    'a segment has no version': () => raw.alter(segment(), () => ({ version: undefined })),
    'a segment claims more updates than exist': () => raw.alter(segment(), () => ({ state: 999 })),
    'a segment is truncated': () => bytes((data) => data.slice(0, 20)),
    'a segment is not compressed text': () => bytes((data) => data.map((byte) => byte ^ 255)),
    'an update is in neither log nor segment': () => forgottenUpdate(),
  },
  refresh_interrupted: {
    'a patient’s new name was not copied': () => change(1, { lastName: 'New' }),
  },
  refresh_unscheduled: {
    'stale copies are not due for the sweep': () => unscheduledRefresh(),
  },
  refresh_stray: {
    'copies that are not stale are due for the sweep': () => raw.put(dueRefresh(Date.now() - 3_600_000)),
  },
  credential_outdated: {
    'a credential has an earlier time zone': () => outdatedCredential({ cv: 0 }),
    'a credential from before versions has an earlier time zone': () => outdatedCredential({}),
  },
  credential_state_wrong: {
    'a revoked credential is listed as active': () => credentialOf({ revokedAt: AT }),
    'an active credential is listed as revoked': () => credentialOf({ revokedAt: null }, ACTIVE_VERSION + 1),
    'the list does not say whether a credential is revoked': () => credentialOf({ revokedAt: null }, null),
  },
  clinic_unlisted: {
    'the directory lacks the clinic': () => raw.remove(clinicDirectoryKey(made.clinic)),
  },
}

/** The attributes of a patient's record, without its ordinal. */
const facts = () => ({ f: 'Given', l: 'Away', d: null, g: null, p: null, e: null, c: 1, v: 1 })

/** A credential of the clinic as it was before the clinic's time zone was changed. */
async function outdatedCredential(version: { cv?: number }) {
  const { id, name, currency } = (await raw.read(clinicKey(made.clinic))) as unknown as Clinic
  await credential('ck_old')
  await raw.put({
    ...credentialKey('ck_old'),
    clinic: { id, name, currency, timezone: 'Asia/Tokyo' },
    ...version,
  })
}

const AT = '2026-05-01T07:00:00.000Z'

/** A credential with the clinic's settings, and its row with this version. */
async function credentialOf(facts: object, v: number | null = ACTIVE_VERSION) {
  const settings = (await raw.read(clinicKey(made.clinic))) as unknown as Clinic
  await raw.put({ ...clinicCredentialKey(made.clinic, 'ck_state'), ...(v !== null && { v }) })
  await raw.put({ ...credentialKey('ck_state'), clinic: clinicInfo(settings), ...facts })
}

const credential = (key: string) => raw.put({ ...clinicCredentialKey(made.clinic, key), v: ACTIVE_VERSION })
const UNREPAIRABLE: InjectedDamages = {
  record_unreadable: {
    'a patient cannot be read': () => raw.alter(record(1), () => ({ c: undefined })),
  },
  patient_row_without_record: {
    'a patient’s record is gone': () => removeRecord(1),
  },
  patient_ordinal_missing: {
    'an ordinal has neither row nor record': () => Promise.all([raw.remove(row(1)), removeRecord(1)]),
  },
  credential_missing: {
    'a credential does not exist': () => credential('ck_none'),
  },
  credential_foreign: {
    'a credential is another clinic’s': () =>
      Promise.all([credential('ck_x'), raw.put({ ...credentialKey('ck_x'), clinic: { id: newUuid() } })]),
  },
}

describe('verifying patients and search', () => {
  it('reports no difference in what the stores wrote', async () => {
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it.each(injectedDamages(REPAIRABLE))('finds and repairs the damage: %s', async (_, plant, kinds) => {
    await plant()
    await expectRepaired(db, made, kinds)
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it.each(injectedDamages(UNREPAIRABLE))(
    'reports the damage without repairing it: %s',
    async (_, plant, kinds) => {
      await plant()
      expect(await runVerification(db.table, made.clinic, true)).toMatchObject({ kinds, repaired: 0 })
      expect((await runVerification(db.table, made.clinic)).kinds).toEqual(kinds)
    },
  )

  it('makes functions reload the segments in their memory', async () => {
    await forgottenUpdate()
    const warm = patientSearch(db)
    const totalOf = async (query: string) =>
      (await warm.search(made.clinic, query, { page: 1, limit: 1 })).total
    expect(await totalOf('905557777777')).toBe(0)
    await runVerification(db.table, made.clinic, true)
    expect(await totalOf('905557777777')).toBe(1)
  })
})
