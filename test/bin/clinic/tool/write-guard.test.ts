/** Commands that were begun before their clinic was deleted, or restored, write nothing after that has begun. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { removeClinic } from '../../../../shared/maintenance/clinic-removal.ts'
import { COMMANDS_DURING_RESTORE } from '../../../../shared/operator/commands.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { clinicKey } from '../../../../shared/store/keys/clinics.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { allItems, itemsWith } from '../../../support/all-items.ts'
import { removalPlatform } from '../../../support/clinic-removal.ts'
import { deployedTable, type RecordedCall, rejection } from '../../../support/deployed-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { sortedJson } from '../../../support/table-text.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

let mine: PopulatedClinic
/** A concurrent change that happens once, when the command has read its clinic. */
let meanwhile: (() => Promise<unknown>) | null
const folder = temporaryFolder()

const isReadOfClinic = ({ operation, input }: RecordedCall) =>
  operation === 'GetItem' && input.Key.pk.S === clinicKey(mine.clinic.id).pk

const stack = deployedTable({ Cell: 'a' }, async (call) => {
  if (!meanwhile || !isReadOfClinic(call)) return
  const work = meanwhile
  meanwhile = null
  await work()
})
const { db } = stack
beforeEach(async () => {
  meanwhile = null
  mine = await createPopulatedClinic(db.table)
})

const remove = () => removeClinic(removalPlatform(db), mine.clinic)
const left = async () =>
  (await itemsWith(db, shortId(mine.clinic.id), mine.clinic.id)).map(({ pk }) => pk.split('#')[0])

const COMMANDS: Readonly<Record<string, () => string[]>> = {
  'credential create': () => ['--name', 'x', '--scopes', 'all'],
  'doctor link': () => [mine.doctor.id, '--external-id', 'E1'],
  'patient link': () => [mine.patient.id, '--external-id', '17'],
  'patient erase': () => [mine.patient.id, '--yes', '--confirm', mine.appointment.patient.fullName],
  'invoice correct': () => [mine.invoice.id, '--status', 'cancelled', '--yes'],
}

describe('a command whose clinic is deleted after it has read the clinic', () => {
  it.each(Object.keys(COMMANDS))('leaves nothing of it: %s', async (name) => {
    meanwhile = remove
    const { code, errors } = await stack.run(
      ...name.split(' '),
      ...(COMMANDS[name]?.() ?? []),
      '--clinic',
      mine.clinic.id,
    )
    expect([code, meanwhile]).toEqual([2, null])
    expect(errors).not.toMatch(/option|argument|command|--/)
    expect([...new Set(await left())]).toEqual(['erasure'])
  })

  it('leaves nothing of it: import', async () => {
    const file = join(folder, 'departments.ndjson')
    writeFileSync(file, '{"external_id":1,"name":"Surgery"}\n')
    meanwhile = remove
    const { errors } = await stack.run('import', '--yes', file, '--clinic', mine.clinic.id)
    expect(errors).toBe(`Clinic ${mine.clinic.id} no longer exists: it was deleted.\n`)
    expect([...new Set(await left())]).toEqual(['erasure'])
  })

  it('leaves nothing of it: verify --repair', async () => {
    meanwhile = remove
    await stack.run('verify', '--clinic', mine.clinic.id, '--repair')
    // How far the command was is not the clinic's.
    expect([...new Set(await left())].filter((kind) => kind !== 'walk')).toEqual(['erasure'])
  })
})

describe('a command whose clinic is being restored after it has read the clinic', () => {
  const content = async () =>
    (await allItems(db))
      .filter(({ pk }) => pk.startsWith(shortId(mine.clinic.id)))
      .map(sortedJson)
      .sort()
  let before: string[]
  const restoring = { to: '2026-05-01T07:00:00.000Z', from: 'copy', wasPaused: false }
  const begin = async () => {
    await clinicStore(db).update(mine.clinic.id, { restoring })
    before = await content()
  }
  const run = (name: string) => {
    meanwhile = begin
    return stack.run(...name.split(' '), ...(COMMANDS[name]?.() ?? []), '--clinic', mine.clinic.id)
  }
  const allowed = Object.keys(COMMANDS).filter((name) => COMMANDS_DURING_RESTORE.includes(name))
  const others = Object.keys(COMMANDS).filter((name) => !allowed.includes(name))

  it.each(others)('writes nothing: %s', async (name) => {
    expect(await rejection(run(name))).toBe(
      `Clinic ${mine.clinic.id} is being restored to ${restoring.to}. If the restore was stopped, complete it first: restore clinic ${mine.clinic.id} --to ${restoring.to} --from copy\n`,
    )
    expect(await content()).toEqual(before)
  })

  it.each(allowed)('writes if it changes nothing that is restored: %s', async (name) => {
    expect((await run(name)).code).toBe(0)
    expect([meanwhile, await content()]).not.toEqual([null, before])
  })

  it('writes nothing: import', async () => {
    const file = join(folder, 'rooms.ndjson')
    writeFileSync(file, '{"external_id":1,"name":"Room 9"}\n')
    meanwhile = begin
    const { errors } = await stack.run('import', '--yes', file, '--clinic', mine.clinic.id)
    expect(errors).toContain('is being restored to')
    expect(await content()).toEqual(before)
  })
})

describe('a command that is confirmed', () => {
  const cancelling = () => [
    'invoice',
    'correct',
    mine.invoice.id,
    '--clinic',
    mine.clinic.id,
    '--status',
    'cancelled',
  ]

  it('is rejected once the deletion of its clinic has begun, and leaves nothing if that has ended', async () => {
    const begin = async () => {
      await clinicStore(db).beginDeletion(mine.clinic.id, new Date().toISOString())
      return 'yes'
    }
    expect(await rejection(stack.runAsked(begin, ...cancelling()))).toContain(
      `Clinic ${mine.clinic.id} is being deleted: repeat "clinic delete`,
    )
    const other = mine
    mine = await createPopulatedClinic(db.table)
    expect(mine.clinic.id).not.toBe(other.clinic.id)
    const end = async () => {
      await remove()
      return 'yes'
    }
    expect((await stack.runAsked(end, ...cancelling())).code).toBe(2)
    expect([...new Set(await left())]).toEqual(['erasure'])
  })

  it('reads the clinic at most once a second', async () => {
    const { code, calls } = await stack.run(...cancelling(), '--yes')
    expect(code).toBe(0)
    expect(calls.filter(isReadOfClinic)).toHaveLength(2)
  })
})
