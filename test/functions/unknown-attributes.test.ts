/** What a later release stores beside what this one knows stays, whatever this one writes: with both running, and after a rollback. */
import { execSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import type { Route } from '../../shared/api/route.ts'
import { ENDPOINTS } from '../../shared/api/routes.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { verifyClinic } from '../../shared/maintenance/verify/verify-clinic.ts'
import { functionFile } from '../../shared/runtime/workers.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { holidayStore } from '../../shared/store/holidays.ts'
import { credentialKey } from '../../shared/store/keys/clinics.ts'
import { type Key, keyText, partitionParts } from '../../shared/store/keys/key.ts'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { allItems, itemsWith } from '../support/all-items.ts'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { tableOfFunctions } from '../support/functions.ts'
import { importRows } from '../support/imports.ts'
import { createRouteSamples, type RouteSamples, requestsOf } from '../support/route-samples.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const db = tableOfFunctions()
let samples: RouteSamples

/** Records, their rows, and what else has attributes of its own. Rows have none that begins with `_`. */
const RECORDS = /^(A|I|Y|M|P)$/
const ROWS = /^([AIYM]L|AD|[AIYM]P|YI|PL)$/
const OTHERS = /^(C|K|DR|CD|CR|CT|CP|CH|PH|PI|W|WN|WD|[AIYM]T|E|EH|H)$/
const familyOf = ({ pk }: Key): string => (pk.startsWith('credential#') ? 'K' : partitionParts(pk).family)
const isDay = (key: Key) => /^R?D$/.test(familyOf(key))

const LATER = { zz: 'text', zl: [{ a: 1 }, 'b', null] }

const ROOT = join(import.meta.dirname, '../..')

/** A copy of the last release, where git has its commit, which replaced the released document. 1.0.0 keeps nothing that it does not know. */
function lastRelease(): [name: string, root: string][] {
  const run = (command: string) => execSync(command, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim()
  const document = 'docs/openapi.released.json'
  const { version } = JSON.parse(readFileSync(join(ROOT, document), 'utf8')).info
  const commit = run(`git log -1 --format=%H -- ${document}`)
  const isKnown = commit !== '' && JSON.parse(run(`git show ${commit}:package.json`)).version === version
  if (!isKnown || version === '1.0.0') return []
  const folder = temporaryFolder()
  run(`git archive ${commit} functions shared package.json | tar -x -C ${folder}`)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return [[`version ${version}`, folder]]
}

/** Adds the attributes of a later release. */
async function extend(items: readonly Item[]): Promise<Item[]> {
  const extended = items.flatMap((item): Item[] => {
    const family = familyOf(item)
    if (RECORDS.test(family)) return [{ ...item, ...LATER, _zz: 'unlisted' }]
    return ROWS.test(family) || OTHERS.test(family) || isDay(item) ? [{ ...item, ...LATER }] : []
  })
  await db.table.putMany(extended)
  return extended
}

/** The keys of the items that have lost something of it. */
async function losses(extended: readonly Item[]): Promise<string[]> {
  const stored = new Map((await allItems(db)).map((item) => [keyText(item), item]))
  return extended.flatMap((before) => {
    const after = stored.get(keyText(before))
    const names = Object.keys(before).filter((name) => /^(zz|zl|_zz)$/.test(name))
    const isKept = names.every((name) => isDeepStrictEqual(after?.[name], before[name]))
    return after === undefined || isKept ? [] : [`${familyOf(before)} ${keyText(before)}`]
  })
}

/** What verification finds of rows and other items that follow from records. */
const differences = async (): Promise<string[]> => {
  const found: string[] = []
  const onDifference = ({ kind }: { kind: string }) =>
    /row|busy|change_|catalogue|count|tally/.test(kind) && found.push(kind)
  await verifyClinic(db.table, samples.clinic.id, {
    repair: false,
    gracePeriodMs: 0,
    pauseMs: 1,
    onDifference,
  })
  return found
}

beforeAll(async () => {
  samples = await createRouteSamples(db.table)
})

it.each([['this version', ROOT] as const, ...lastRelease()])(
  'requests to the functions of %s leave it, in records and in rows',
  async (_, root) => {
    const { headers } = await issueCredential(db.table, samples.clinic)
    const routes = ENDPOINTS.filter(
      ({ method, id }) =>
        method !== 'GET' && id !== 'delete-webhook' && existsSync(join(root, functionFile(id))),
    )
    const writes: { readonly route: Route; readonly ids: RouteSamples['ids'] }[] = []
    for (const route of routes) writes.push({ route, ids: await samples.idsFor(route) })
    const extended = await extend(await allItems(db))
    const failed: string[] = []
    for (const { route, ids } of writes) {
      const { handler } = await import(/* @vite-ignore */ join(root, functionFile(route.id)))
      for (const sample of requestsOf(route, ids)) {
        const { status } = await call(handler, { ...sample, headers: { ...sample.headers, ...headers } })
        if (status === 500) failed.push(route.id)
      }
    }
    expect(failed).toEqual([])
    expect(await losses(extended)).toEqual([])
    expect(await differences()).toEqual([])
  },
)

it('so do imports, fan-outs, holidays and revocations', async () => {
  const { clinic } = samples
  const folder = temporaryFolder()
  const rowsOf = (name: string, date: string): Record<string, object> => ({
    departments: { name },
    rooms: { name, department_external_id: '1' },
    doctors: { full_name: name, hours: 'mon-fri 09:00-17:00' },
    treatments: { name, price: '10', duration_minutes: 30, doctor_external_ids: ['1'] },
    'price-lists': { name, items: [{ treatment_external_id: '1', price: '9' }] },
    holidays: { from: date, name },
    patients: { first_name: name, last_name: 'Ak' },
    appointments: {
      ...{ patient_external_id: '1', doctor_external_id: '1', appointment_date: date },
      ...{ start_time: '10:00', end_time: '10:30' },
    },
    invoices: {
      ...{ patient_external_id: '1', invoice_number: '1', status: 'sent', issue_date: date },
      line_items: [{ description: name, quantity: 1, unit_price: '10' }],
    },
    payments: {
      invoice_external_id: '1',
      amount: '5',
      status: 'completed',
      payment_method: 'cash',
      payment_date: date,
    },
  })
  const importAll = async (name: string, date: string): Promise<void> => {
    for (const [entity, row] of Object.entries(rowsOf(name, date))) {
      const rows = [{ external_id: '1', ...row }]
      const { reasons } = await importRows(folder, db.table, clinic, entity, rows, { overwrite: true })
      expect([entity, reasons]).toEqual([entity, []])
    }
  }
  await importAll('One', '2026-04-01')
  const extended = await extend(await allItems(db))
  await importAll('Two', '2026-04-02')
  await holidayStore(db).set(clinic.id, (before) => [
    ...before,
    { from: '2026-12-24', to: '2026-12-25', reason: null },
  ])
  await holidayStore(db).set(clinic.id, () => [])
  await holidayStore(db).refreshCopies(clinic.id)
  await eventFanOut({ table: db.table, now: Date.now, newId: newUuid }).fanOut(clinic.id, async () => {})
  const [credential] = await credentialStore({ table: db.table, now: Date.now }).list(clinic.id)
  await credentialStore({ table: db.table, now: Date.now }).revoke(credential?.key ?? '')
  expect((await db.table.get(credentialKey(credential?.key ?? '')))?.zz).toBe('text')
  expect(await losses(extended)).toEqual([])
  expect(await differences()).toEqual([])
})

it('an erasure removes them: they may be personal data', async () => {
  const { clinic, patient } = samples
  const { erase } = patientChanges(db.table)
  await erase(clinic.id, patient.id)
  const left = await itemsWith(db, 'unlisted')
  expect(left.filter((item) => JSON.stringify(item).includes(patient.id))).toEqual([])
})
