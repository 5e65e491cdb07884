/** One damage at a time in every family of keys of a clinic: what a verification says, and that commands on another clinic go on. */
import { beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { noteUnlisted } from '../../../../shared/maintenance/verify/unlisted-credentials.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { credentialUse } from '../../../../shared/store/credential-use.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { holidayStore } from '../../../../shared/store/holidays.ts'
import { isClinicItem } from '../../../../shared/store/keys/clinic-items.ts'
import { lastUseKey } from '../../../../shared/store/keys/clinics.ts'
import { storedResponseKey } from '../../../../shared/store/keys/idempotency.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { providerMessageKey } from '../../../../shared/store/keys/messages.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { faultInjection } from '../../../shared/maintenance/verify/comparison/fault-injection.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { deployedTable } from '../../../support/deployed-stack.ts'
import { createAcceptedEmail } from '../../../support/emails.ts'
import { mulberry32 } from '../../../support/random.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { rounds } from '../../../support/scale.ts'
import { aPatient, newClinic } from '../../../support/table.ts'

/** Damages that no verification names, and why. All others are named. */
const UNNAMED: readonly (readonly [damages: RegExp, reason: string])[] = [
  [/^(?!due#event).* stray$/, 'nothing reads the key'],
  [/^(E|WD#) delete$/, 'the oldest ones expire'],
  [/^(R|MQ|usage|provider) /, 'it expires, and nothing else says that it was there'],
  [/^due#(message|delivery) /, 'the sweep removes or skips it'],
  [/^(due#event (delete|-s|-rq)|E -s)$/, 'nothing else says that it was there, or it is optional'],
  [/^P -o$/, 'a patient without a position is the first one, as this one is'],
  [/^PS# ~(state|parts)$/, 'the next snapshot replaces a segment of one part'],
  [/ -(xi|im|er|su|de|n|dec|departmentId|specialty|updatedAt|imports|cv|line|parts)$/, 'optional'],
  [/^PC (~line|-o)$/, 'a later line of the same patient, at the first position, replaces it'],
  [/^(AT|AT#|IT|YT|MT) [-~]v$/, 'nothing depends on the version of a tally'],
  [/^import\.catalogue [^~]/, 'the next change counts again'],
]

const { db, run } = deployedTable({ Cell: 'a' })
let mine: PopulatedClinic
let neighbour: PopulatedClinic
let raw: ReturnType<typeof faultInjection>
let sound: Item[]
let keys: string[]

/** A clinic with items of every family of keys. */
async function fullClinic(name: string): Promise<PopulatedClinic> {
  const { table } = db
  const world = await createPopulatedClinic(table, aPatient(), await newClinic(table, { name }))
  const { clinic, patient, message } = world
  const change = (facts: object) => patientChanges(table).update(clinic.id, patient.id, facts)
  await patientWriter({ table }).createMany(clinic.id, [aPatient({ nationalId: 'N-1', isActive: false })])
  await patientWriter({ table }).snapshot(clinic.id)
  await change({ firstName: 'New', externalId: 'x' })
  const credential = await issueCredential(table, clinic)
  const uses = credentialUse({ table, now: Date.now })
  await uses.countRequest(credential)
  await uses.recordUse(credential)
  await createAcceptedEmail(table, clinic, patient, Date.now())
  await readImportIds(table, clinic.id)
  await createWebhook(table, clinic.id, { createdBy: credential.key })
  await eventFanOut({ table, now: Date.now, newId: newUuid }).fanOut(clinic.id, async () => {})
  await change({ firstName: name })
  await table.putMany([
    { ...providerMessageKey('sns', `id-${shortId(clinic.id)}`), c: clinic.id, m: message.id },
    { ...storedResponseKey(clinic.id, credential.key, 'create-patient', 'h'), v: 1, status: 201, body: '{}' },
  ])
  const days = [{ from: '2099-01-01', to: '2099-01-01', reason: null }]
  const holidays = holidayStore({ table })
  await holidays.save(clinic.id, await holidays.read(clinic.id), { holidays: days, imports: {} })
  await copiedNames(table).refreshHolidays(clinic.id)
  return world
}

beforeAll(async () => {
  raw = faultInjection(db)
  ;[mine, neighbour] = [await fullClinic('Mine'), await fullClinic('Other')]
  sound = await raw.scanAll()
  keys = sound
    .filter(({ clinic }) => (clinic as { id?: string })?.id === mine.clinic.id)
    .map(({ key }) => String(key))
})

const familyOf = ({ pk, sk }: Item): string => {
  const [first = '', second = '', ...more] = pk.split('#')
  if (first === 'import') return `import.${sk.split('#')[0]}`
  if (first === 'due') return `due#${second}`
  if (first !== shortId(mine.clinic.id)) return first
  return `${second}${second === 'C' ? `.${sk}` : ''}${more.length > 0 ? '#' : ''}`
}

const ofAnotherType = (value: unknown) => (typeof value === 'boolean' ? 'x' : true)

/** Each damage of the first item of every family: the item is deleted, lacks an attribute or has one of another type, or there is another one. */
function damages(random: () => number): { readonly name: string; readonly plant: () => Promise<unknown> }[] {
  const ofMine = sound.filter(
    (item) => isClinicItem(mine.clinic.id, item) || keys.some((key) => item.pk === lastUseKey(key).pk),
  )
  return [...Map.groupBy(ofMine, familyOf)].flatMap(([family, [item]]) => {
    if (!item) return []
    const attributes = Object.keys(item).filter((name) => name !== 'pk' && name !== 'sk')
    const count = rounds(1, attributes.length)
    const at = Math.floor(random() * (attributes.length - count + 1))
    return [
      { name: `${family} delete`, plant: () => raw.remove(item) },
      ...attributes.slice(at, at + count).flatMap((name) => [
        { name: `${family} -${name}`, plant: () => raw.alter(item, () => ({ [name]: undefined })) },
        {
          name: `${family} ~${name}`,
          plant: () => raw.alter(item, () => ({ [name]: ofAnotherType(item[name]) })),
        },
      ]),
      { name: `${family} stray`, plant: () => raw.put({ ...item, sk: `${item.sk}z` }) },
    ]
  })
}

/** Commands of docs/operate on the neighbour. */
const commands = (): string[][] => {
  const of = ['--clinic', neighbour.clinic.id]
  return [
    ['clinic', 'list'],
    ['clinic', 'show', '--clinic', neighbour.clinic.name],
    ['clinic', 'update', ...of, '--address', `${Math.random()}`],
    ['clinic', 'create', '--name', `N${Math.random()}`, '--timezone', 'UTC', '--currency', 'EUR'],
    ['clinic', 'pause', ...of],
    ['clinic', 'resume', ...of],
    ['credential', 'list', ...of],
    ['credential', 'create', ...of, '--name', 'Z', '--scopes', 'all'],
    ['credential', 'revoke', ...of, '--all', '--yes'],
    ['message', 'unresolved'],
    ['erasure', 'list', ...of],
    ['verify', ...of],
  ]
}

/** What the verification of the damaged clinic says, and what it says after a repair. */
async function outcome(): Promise<string> {
  await noteUnlisted({ table: db.table, client: db.client, name: db.name }, 'verify')
  const { code, errors } = await run('verify', '--clinic', mine.clinic.id)
  const { kinds } = await runVerification(db.table, mine.clinic.id, true)
  if (code !== (kinds.length > 0 ? 1 : 0)) return `fails: ${errors}`
  const left = await runVerification(db.table, mine.clinic.id)
  if (kinds.length === 0) return 'unnamed'
  return left.found.length === 0 ? 'repaired' : `stays: ${left.kinds}`
}

it('names each damage, repairs it or says that it stays, and lets commands on another clinic go on', async () => {
  const random = mulberry32(Number(process.env.SEED ?? Date.now()))
  const all = damages(random)
  const some = all.filter(() => random() < rounds(3 / all.length, 1))
  const failed: unknown[] = []
  const results: Record<string, string> = {}
  for (const { name, plant } of some) {
    await raw.restore(sound)
    await plant()
    for (const command of commands()) {
      const { code, errors } = await run(...command)
      if (code !== 0) failed.push([name, ...command, errors])
    }
    await raw.restore(sound)
    await plant()
    results[name] = await outcome().catch((error) => `fails: ${error.stack}`)
    if (results[name]?.startsWith('fails')) failed.push([name, results[name]])
  }
  expect(failed).toEqual([])
  const unnamed = Object.keys(results).filter((name) => results[name] === 'unnamed')
  expect(unnamed.filter((name) => !UNNAMED.some(([damage]) => damage.test(name)))).toEqual([])
})
