import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { emptyPart, withMember } from '../../../../shared/domain/lists/ordinal-set.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { externalIdLinkKey, externalIdLinksPartition } from '../../../../shared/store/keys/external-ids.ts'
import {
  inactivePatientsKey,
  nationalIdKey,
  nationalIdsPartition,
  parseNationalIdKey,
} from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'
import {
  expectRepaired,
  faultInjection,
  type InjectedDamages,
  injectedDamages,
} from './comparison/fault-injection.ts'
import { runVerification } from './practice.ts'

const db = tableOfFile()
let clinic: Awaited<ReturnType<typeof newClinic>>['id']
let raw: ReturnType<typeof faultInjection>
let sound: Item[]
const patients = [
  aPatient(),
  aPatient({ nationalId: 'AB-1' }),
  aPatient({ nationalId: 'AB-1', isActive: false }),
  aPatient({ isActive: false }),
]
const link = () => externalIdLinkKey(clinic, newUuid())

beforeAll(async () => {
  raw = faultInjection(db)
  clinic = (await newClinic(db.table)).id
  await patientWriter(db).createMany(clinic, patients)
  const first = (await patientStore(db).findMany(clinic, [idOf(0)])).get(idOf(0))
  if (first) await patientWriter(db).update(clinic, [{ before: first, after: { ...first, externalId: 'X' } }])
  sound = await raw.scanAll()
})
beforeEach(() => raw.restore(sound))

const idOf = (at: number) => patients[at]?.id ?? ''
const inactive = (part = 0) => inactivePatientsKey(clinic, part)
const underHash = (patient: string) => nationalIdKey(clinic, 'hash', patient)
const linkItem = (): Item => sound.find(({ pk }) => pk === externalIdLinksPartition(clinic)) as Item
const itemOf = (at: number): Item =>
  sound.find(
    (item) => item.pk === nationalIdsPartition(clinic) && parseNationalIdKey(item) === idOf(at),
  ) as Item

const DAMAGES: InjectedDamages = {
  patient_activity_wrong: {
    'inactive patients are not in the index': () => raw.remove(inactive()),
    'an active patient is in the index': () =>
      raw.alter(inactive(), ({ b }) => ({ b: withMember(b as Uint8Array, 1, true) })),
    'the index of inactive patients is unreadable': () => raw.alter(inactive(), () => ({ b: 'x' })),
    'a part of the index of inactive patients has no patients': () =>
      raw.put({ ...inactive(7), b: withMember(emptyPart(), 0, true), v: 1 }),
    'an item of the index of inactive patients is no part': () =>
      raw.put({ ...inactive(), sk: 'x', b: emptyPart(), v: 1 }),
  },
  national_id_missing: {
    'a patient is not found by national id': () => raw.remove(itemOf(1)),
    'a national id finds a patient at another position': () => raw.alter(itemOf(1), () => ({ o: 2 })),
  },
  national_id_stray: {
    'a national id finds a patient who has none': () => raw.put({ ...itemOf(1), ...underHash(idOf(0)) }),
    'a national id finds a patient who has another': () => raw.put({ ...itemOf(1), ...underHash(idOf(1)) }),
    'a national id finds an unknown patient': () => raw.put({ ...itemOf(1), ...underHash(newUuid()) }),
  },
  external_id_missing: {
    'a patient is not found by external id': () => raw.remove(linkItem()),
  },
  external_id_stray: {
    'an external id finds a patient who does not have it': () => raw.put({ ...link(), r: idOf(1) }),
    'an external id finds an unknown record': () => raw.put({ ...link(), r: newUuid() }),
  },
}

describe('verifying the indexes of patients', () => {
  it('reports no difference in what the stores wrote', async () => {
    expect((await runVerification(db.table, clinic)).found).toEqual([])
  })

  it.each(injectedDamages(DAMAGES))('finds and repairs the damage: %s', async (_, plant, kinds) => {
    await plant()
    await expectRepaired(db, { clinic }, kinds)
    expect((await runVerification(db.table, clinic)).found).toEqual([])
  })
})
