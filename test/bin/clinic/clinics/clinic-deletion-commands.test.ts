/** The commands that move a clinic out: pause, export, resume, delete; and the export of one patient. */
import { readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../../shared/domain/timestamp.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { setPaused } from '../../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { ownerPartition } from '../../../../shared/store/keys/calendar.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { freshTable, newClinic } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const { db, run, runAsked } = deployedTable()
let clinic: Clinic
let patient: string
const root = temporaryFolder()

const LONG_AGO = '2026-05-01T07:00:00.000Z'
const MANIFEST = join(root, 'whole', 'manifest.json')

beforeAll(async () => {
  // Before the export, and before what it reads again.
  const world = await createPopulatedClinic({ ...db.table, now: () => Date.parse(LONG_AGO) })
  clinic = world.clinic
  patient = world.patient.id
})

it('pauses a clinic and says since when, and resumes it', async () => {
  expect(await output(run('clinic', 'pause', '--clinic', clinic.id))).toContain('Paused clinic Clinic.')
  const { pausedAt } = (await clinicStore(db).find(clinic.id)) as Clinic
  const since = clinicTimestamp(pausedAt as string, 'Europe/Istanbul')
  const again = await run('clinic', 'pause', '--clinic', clinic.id)
  expect(again.printed).toBe(`Nothing changed: clinic Clinic has been paused since ${since}.\n`)
  const list = (await run('--json', 'clinic', 'list')).printed
  expect(list).toContain(`"paused_at":"${since}"`)
  expect(list).toMatch(/"pause_in_effect_at":"[^"]*\+03:00"/)
  expect((await run('clinic', 'resume', '--clinic', clinic.id)).printed).toBe(
    `Resumed clinic Clinic, which was paused since ${since}.\n`,
  )
  expect((await run('clinic', 'resume', '--clinic', clinic.id)).printed).toBe(
    'Nothing changed: clinic Clinic is not paused.\n',
  )
  expect((await run('clinic', 'pause', '--clinic', newUuid())).code).toBe(2)
})

it('verify names what is wrong in words, and --repair is for one clinic', async () => {
  const [damaged] = await appointmentStore(db).allOf(clinic.id, 'patient', patient)
  const row = { pk: ownerPartition(clinic.id, 'A', 'patient', patient) }
  await db.table.deleteMany((await db.table.query({ ...row, limit: 1 })) as Item[])
  const { code, printed } = await run('verify', '--clinic', clinic.id)
  expect([code, printed]).toEqual([
    1,
    expect.stringContaining(`appointment ${damaged?.id} is missing from its patient's list  [row_missing `),
  ])
  expect(printed).toMatch(/^Checked .*: 1 difference$/m)
  expect(await rejection(run('verify', '--all', '--repair'))).toContain('--repair is for one clinic')
  const single = await run('--json', 'verify', '--clinic', clinic.id, '--repair')
  expect(JSON.parse(single.printed)).toMatchObject({
    data: { differences: [{ record: 'appointment', id: damaged?.id, repaired: true }] },
    clinic: { id: clinic.id },
  })
  expect((await run('verify')).errors).toContain('Specify the clinic with --clinic')
})

it('creates a clinic with the settings of an export, and with those that are given in their place', async () => {
  const settings = {
    name: 'Exported',
    smsCountries: ['TR', 'DE'],
    smsPerDay: 7,
    appointmentMinutes: 45,
    isTest: true as const,
  }
  const { id } = await newClinic(db.table, settings)
  const folder = join(root, 'settings')
  await output(run('export', '--clinic', id, '--out', folder))
  const create = (...args: string[]) => run('--json', 'create', ...args)
  const from = ['--from', join(folder, 'manifest.json')]
  expect(await rejection(create(...from))).toContain('There is a clinic of this name already')
  const { data } = JSON.parse(await output(create(...from, '--name', 'Copy', '--duration', '20')))
  expect(data).toMatchObject({
    name: 'Copy',
    is_test: true,
    duration_minutes: 20,
    sms_countries: ['TR', 'DE'],
    sms_per_day: 7,
    paused_at: null,
  })
  expect(data.id).not.toBe(id)
  expect(await rejection(create('--from', root))).toContain(`${root} has no finished export`)
})

it('does not export a clinic whose pause was stopped', async () => {
  const { id } = await newClinic(db.table)
  await clinicStore(db).update(id, { pausedAt: LONG_AGO })
  expect(await rejection(run('export', '--clinic', id, '--out', join(root, 'unpaused')))).toContain(
    `Repeat "clinic pause --clinic ${id}", then export.`,
  )
  expect((await run('clinic', 'pause', '--clinic', id)).code).toBe(0)
  expect((await clinicStore(db).find(id))?.pauseInEffectAt).toBeDefined()
})

it('exports a clinic, and rejects the folder of an export that is finished', async () => {
  await setPaused({ ...db.table, now: () => Date.parse(LONG_AGO) }, clinic.id, LONG_AGO)
  const args = ['export', '--clinic', clinic.id, '--out', join(root, 'whole')]
  const { code, printed, lines } = await run(...args)
  expect(code).toBe(0)
  expect(printed).toMatch(/^Exported .*1 patient, 1 appointment, 1 invoice, 1 payment, 1 message to /)
  expect(printed).toContain('all records are of one moment')
  expect(lines.map(({ command, outcome }) => [command, outcome])).toEqual([
    ['export', 'started'],
    ['export', 'done'],
  ])
  expect(await rejection(run(...args))).toContain('choose another folder')
})

it('says that it waits for writes that had begun, without an estimate', async () => {
  const { id } = await newClinic(db.table)
  const now = () => Date.now() - 18_000
  await setPaused({ ...db.table, now }, id, new Date(now()).toISOString())
  const { code, errors } = await run('export', '--clinic', id, '--out', join(root, 'just-paused'))
  expect([code, errors]).toEqual([
    0,
    expect.stringMatching(/^export: waiting [12] s for writes that had begun before the pause\n$/),
  ])
})

it.each([
  ['export', () => []],
  ['patient export', () => [patient]],
])('ends %s at once if its folder cannot be made', async (command, ids) => {
  const { code, errors } = await run(
    ...command.split(' '),
    ...ids(),
    '--clinic',
    clinic.id,
    '--out',
    '/proc/x',
  )
  expect([code, errors]).toEqual([2, expect.stringMatching(/folder \/proc\/x\S* of --out cannot be made/)])
})

it('exports a patient to two files for their owner only, and never replaces them', async () => {
  const args = ['patient', 'export', patient, '--clinic', clinic.id, '--out', join(root, 'person')]
  const { code, lines } = await run(...args)
  expect(code).toBe(0)
  expect(lines[1]).toMatchObject({ command: 'patient export', records: [patient] })
  const file = join(root, 'person', `patient-${patient}`)
  expect(statSync(`${file}.txt`).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(`${file}.json`, 'utf8'))).toMatchObject({ patient: { id: patient } })
  expect(await rejection(run(...args))).toContain('exists already')
  const unknown = await run('patient', 'export', newUuid(), '--clinic', clinic.id, '--out', root)
  expect(unknown).toMatchObject({ code: 2, errors: expect.stringContaining('has no patient') })
})

describe('clinic delete', () => {
  const remove = async (...args: string[]) => {
    const { code, errors } = await run('clinic', 'delete', '--clinic', clinic.id, ...args)
    return [code, errors]
  }
  const confirmed = ['--yes', '--confirm', 'Clinic']
  const exported = ['--export', join(root, 'whole')]
  const changeManifest = (change: object) =>
    writeFileSync(MANIFEST, JSON.stringify({ ...JSON.parse(readFileSync(MANIFEST, 'utf8')), ...change }))

  it('fails without an export of today', async () => {
    const because = (text: string) => [2, expect.stringContaining(text)]
    expect(await remove(...confirmed)).toEqual(because('Name an export of today with --export'))
    expect(await remove(...confirmed, '--export', root)).toEqual(because('has no finished export'))
    const original = readFileSync(MANIFEST, 'utf8')
    changeManifest({ clinic: { id: newUuid(), name: 'Other' } })
    expect(await remove(...confirmed, ...exported)).toEqual(because('has the export of another clinic'))
    writeFileSync(MANIFEST, original)
    changeManifest({ finished_at: null })
    expect(await remove(...confirmed, ...exported)).toEqual(because('has no finished export'))
    writeFileSync(MANIFEST, original)
    changeManifest({ finished_at: LONG_AGO })
    expect(await remove(...confirmed, ...exported)).toEqual(because('is of 2026-05-01, not of today'))
    writeFileSync(MANIFEST, '{')
    expect(await remove(...confirmed, ...exported)).toEqual(because('has no finished export'))
    writeFileSync(MANIFEST, original)
    const patients = readFileSync(join(root, 'whole', 'patients.csv'))
    unlinkSync(join(root, 'whole', 'patients.csv'))
    expect(await remove(...confirmed, ...exported)).toEqual(because('patients.csv is missing'))
    writeFileSync(join(root, 'whole', 'patients.csv'), patients)
  })

  const CHANGED =
    /^Nothing was done: the clinic was not paused, or was changed, since the export in \S+ began\. Pause/

  it('fails when a record has changed since the export', async () => {
    await patientChanges(db.table).update(clinic.id, patient, { lastName: 'Neu' })
    expect(await remove(...exported, ...confirmed)).toEqual([2, expect.stringMatching(CHANGED)])
    expect(await clinicStore(db).find(clinic.id)).not.toBeNull()
  })

  it('fails when a setting was changed since, or the clinic was not paused or was resumed, also while it asks', async () => {
    const now = () => Date.parse(LONG_AGO)
    const { clinic: other } = await createPopulatedClinic({ ...db.table, now })
    const inClinic = ['--clinic', other.id]
    const args = ['clinic', 'delete', ...inClinic, '--export']
    const sure = ['--yes', '--confirm', other.name]
    const export_ = async (name: string) => {
      const folder = join(root, name)
      expect((await run('export', ...inClinic, '--out', folder)).code).toBe(0)
      return folder
    }
    expect(await rejection(run(...args, await export_('in-use'), ...sure))).toMatch(CHANGED)
    await setPaused({ ...db.table, now }, other.id, LONG_AGO)
    const folder = await export_('paused')
    const wrong = await run(...args, folder, '--yes', '--confirm', 'x')
    expect(wrong.errors).toBe("Nothing was done: that is not the clinic's name.\n")
    await clinicStore(db).update(other.id, { website: 'https://x.org' })
    expect(await rejection(run(...args, folder, ...sure))).toMatch(CHANGED)
    await clinicStore(db).update(other.id, { website: null })
    const resume = async () => {
      await output(run('clinic', 'resume', ...inClinic))
      return other.name
    }
    expect(await rejection(runAsked(resume, ...args, folder))).toMatch(
      /(^|\n)Nothing was done: the clinic was not/,
    )
    expect((await clinicStore(db).find(other.id))?.deletingAt).toBeUndefined()
  })

  it('lets a clinic whose deletion was stopped only be deleted, without an export', async () => {
    const { id, name } = await newClinic(db.table)
    await clinicStore(db).beginDeletion(id, LONG_AGO)
    for (const command of [
      ['clinic', 'resume', '--clinic', id],
      ['clinic', 'update', '--clinic', id, '--website', 'https://x.org', '--yes'],
      ['credential', 'create', '--clinic', id, '--name', 'x', '--scopes', 'all'],
      ['export', '--clinic', id, '--out', join(root, 'half')],
    ])
      expect(await run(...command)).toMatchObject({
        code: 2,
        errors: `Clinic ${id} is being deleted: repeat "clinic delete --clinic ${id}", which ends the deletion.\n`,
      })
    expect((await run('--json', 'clinic', 'list')).printed).toContain(
      '"deleting_at":"2026-05-01T10:00:00+03:00"',
    )
    expect(await run('clinic', 'delete', '--clinic', id, '--yes', '--confirm', name)).toMatchObject({
      code: 0,
      errors: '',
    })
    expect(await clinicStore(db).find(id)).toBeNull()
  })

  it('says of two deletions at once that the clinic was deleted, with the exit code of an unknown clinic', async () => {
    const { id, name } = await newClinic(db.table)
    await clinicStore(db).beginDeletion(id, LONG_AGO)
    const first = async () => {
      expect((await run('clinic', 'delete', '--clinic', id, '--yes', '--confirm', name)).code).toBe(0)
      return name
    }
    expect(await rejection(runAsked(first, 'clinic', 'delete', '--clinic', id))).toContain(
      `Clinic ${id} no longer exists: it was deleted.\n`,
    )
    expect((await run('clinic', 'delete', '--clinic', id, '--yes', '--confirm', name)).errors).toContain(
      'does not exist',
    )
  })

  it('deletes a clinic without an export on request, also in a restored table', async () => {
    const restored = await freshTable()
    const { id } = await newClinic(restored.table)
    await clinicStore(restored).beginDeletion(id, LONG_AGO)
    const args = ['clinic', 'delete', '--clinic', id, '--without-export', ...confirmed]
    expect((await run(...args)).code).toBe(2)
    expect(await run(...args, '--table', restored.name)).toMatchObject({ code: 0 })
    expect(await clinicStore(restored).find(id)).toBeNull()
  })
})
