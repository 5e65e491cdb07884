/**
 * Keeps the patients and appointments of a clinic's own system and the API the same.
 *
 * - `node clinic-system.ts` sends what staff changed, and copies what others changed, every few seconds.
 * - `node clinic-system.ts compare` compares what was changed since its last run: every night, after an outage and after imports.
 * - `node clinic-system.ts conflicts` lists what staff have to decide.
 * - `node clinic-system.ts keep EXTERNAL_ID` sends the clinic's values of such a record, `take EXTERNAL_ID` takes those of the API.
 *
 * The table `records` stands for the tables of your system, which adds 1 to `revision` in the transaction of each change. The program
 * can be killed at any time. Run one at a time.
 *
 * API and CREDENTIAL are the address and the credential, which needs all scopes. DATABASE is the path of the database.
 */
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type components, createClient } from 'clinic-developer-client'

const { API = '', CREDENTIAL = '', DATABASE = 'clinic.db', INTERVAL_MS = '5000' } = process.env
const clinic = createClient({ baseUrl: API, credential: CREDENTIAL, retries: 10 })
const BEGINNING = '1970-01-01T00:00:00Z'

type Entity = 'patients' | 'appointments'
type Fields = Record<string, unknown>
type Row = {
  readonly entity: Entity
  readonly external_id: string
  /** The id in the API; null before it is known. */
  readonly id: string | null
  /** As JSON. Those that both systems had last are `known`. */
  readonly fields: string
  readonly known: string | null
  readonly revision: number
  /** The revision that was sent last. */
  readonly sent: number
  /** Why staff have to decide. */
  readonly conflict: string | null
}

const database = new DatabaseSync(DATABASE)
database.exec(`
  PRAGMA busy_timeout = 10000;
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS records (
    entity TEXT, external_id TEXT, id TEXT UNIQUE, fields TEXT, known TEXT, revision INTEGER DEFAULT 1, sent INTEGER DEFAULT 0,
    conflict TEXT, overwrite INTEGER DEFAULT 0, PRIMARY KEY (entity, external_id)
  );
  CREATE TABLE IF NOT EXISTS positions (name TEXT PRIMARY KEY, position TEXT);
`)
const byId = database.prepare('SELECT * FROM records WHERE id = ?')
const byExternalId = database.prepare('SELECT * FROM records WHERE entity = ? AND external_id = ?')
const readPosition = database.prepare('SELECT position FROM positions WHERE name = ?')
const savePosition = database.prepare('INSERT OR REPLACE INTO positions VALUES (?, ?)')

function inTransaction(work: () => void): void {
  database.exec('BEGIN IMMEDIATE')
  work()
  database.exec('COMMIT')
}

type Patient = components['schemas']['Patient']
type Appointment = components['schemas']['Appointment']

const patientFields = ({ first_name, last_name, date_of_birth, phone_number }: Patient): Fields => ({
  ...{ first_name, last_name, date_of_birth, phone_number },
})

async function appointmentFields({ patient, doctor, ...appointment }: Appointment): Promise<Fields> {
  if (!byId.get(patient.id)) await copy('patients', patient.id)
  const { appointment_date, start_time, end_time, status, notes } = appointment
  const { external_id: patient_external_id } = byId.get(patient.id) as Row
  return { patient_external_id, doctor_id: doctor.id, appointment_date, start_time, end_time, status, notes }
}

/** Copies what differs from what both had last. What both changed is for staff to decide. */
async function copy(entity: Entity, id: string): Promise<void> {
  const record = entity === 'patients' ? await clinic.patients.get(id) : await clinic.appointments.get(id)
  const theirs =
    entity === 'patients'
      ? patientFields(record.data as Patient)
      : await appointmentFields(record.data as Appointment)
  const { external_id } = record.data
  inTransaction(() => {
    const row = byId.get(id) as Row | undefined
    // Sent, but the response was lost: it is sent again, and copied with the id of that response.
    if (!row && external_id && byExternalId.get(entity, external_id)) return
    if (!row) {
      const add = 'INSERT INTO records (entity, external_id, id, fields, known) VALUES (?, ?, ?, ?, ?)'
      database.prepare(add).run(entity, randomUUID(), id, JSON.stringify(theirs), JSON.stringify(theirs))
      return
    }
    const ours: Fields = JSON.parse(row.fields)
    const known: Fields = JSON.parse(row.known ?? '{}')
    const isChanged = (fields: Fields, name: string) => !isDeepStrictEqual(fields[name], known[name])
    const names = Object.keys(theirs).filter((name) => isChanged(theirs, name))
    if (names.length === 0) return
    const both = names.filter((name) => isChanged(ours, name) && ours[name] !== theirs[name])
    for (const name of names) if (!both.includes(name)) ours[name] = theirs[name]
    const conflict = both.length > 0 ? `${both.join(', ')} changed in both` : row.conflict
    // The copy is sent back once: that tells the API that the clinic knows it, so that later changes are no conflicts.
    database
      .prepare('UPDATE records SET fields = ?, known = ?, conflict = ?, revision = revision + 1 WHERE id = ?')
      .run(JSON.stringify(ours), JSON.stringify(theirs), conflict, id)
  })
}

/** Sends changed records, 50 at a time. Returns whether there may be more. */
async function push(entity: Entity, overwrite: 0 | 1): Promise<boolean> {
  const changed = `SELECT * FROM records WHERE entity = ? AND overwrite = ? AND revision > sent AND conflict IS NULL LIMIT 50`
  const rows = database.prepare(changed).all(entity, overwrite) as Row[]
  if (rows.length === 0) return false
  // A record that others created has an id, and gets its external id.
  const records = rows.map(({ external_id, id, sent, fields }) => ({
    ...JSON.parse(fields),
    external_id,
    ...(sent === 0 && id !== null && { id }),
  }))
  let isComplete = true
  const { data } = await clinic.sync.write({ entity, records, overwrite: overwrite === 1 })
  for (const [at, { id, outcome, issues }] of data.entries()) {
    const row = rows[at] as Row
    if (outcome !== 'rejected') {
      database
        .prepare(
          'UPDATE records SET id = ?, sent = ?, known = ?, overwrite = 0 WHERE entity = ? AND external_id = ?',
        )
        .run(id, row.revision, row.fields, entity, row.external_id)
      if (row.id === null && id !== null) await copy(entity, id)
    } else if (!issues.some(({ issue }) => issue === 'unavailable')) {
      // Where others changed other fields, the copy settles it, and the record is sent again.
      if (row.id !== null) await copy(entity, row.id)
      const text = issues.map(({ field, issue }) => `${field} ${issue}`).join(', ')
      database
        .prepare(
          'UPDATE records SET conflict = coalesce(conflict, ?) WHERE entity = ? AND external_id = ? AND revision = ?',
        )
        .run(text, entity, row.external_id, row.revision)
    } else isComplete = false
  }
  return isComplete && rows.length === 50
}

/** Copies the records of events since the last one. An event is a prompt to read: a record that is known already changes nothing. */
async function pull(): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    const after = readPosition.get('events')?.position as string | undefined
    const { data, meta } = await clinic.events.list({ limit: 100, ...(after !== undefined && { after }) })
    for (const { event, source, data: about } of data) {
      const entity = `${event.split('.')[0]}s`
      if (source !== 'sync' && (entity === 'patients' || entity === 'appointments'))
        await copy(entity, (about as { id: string }).id)
    }
    if (meta.next_after) savePosition.run('events', meta.next_after)
    hasMore = meta.has_more
  }
}

/** Compares the records that were changed since the last comparison. */
async function compare(entity: Entity): Promise<void> {
  const since = String(readPosition.get(entity)?.position ?? BEGINNING)
  const list = entity === 'patients' ? clinic.patients : clinic.appointments
  for await (const { data, position } of list.changes({ since })) {
    for (const { id } of data) await copy(entity, id)
    savePosition.run(entity, position)
  }
}

const [command = 'run', externalId = ''] = process.argv.slice(2)
if (command === 'compare') for (const entity of ['patients', 'appointments'] as const) await compare(entity)
if (command === 'conflicts')
  for (const row of database.prepare('SELECT * FROM records WHERE conflict IS NOT NULL').all())
    console.log(`${row.entity} ${row.external_id}: ${row.conflict}\n  here ${row.fields}\n  API ${row.known}`)
if (command === 'keep' || command === 'take')
  database
    .prepare(
      `UPDATE records SET ${command === 'keep' ? 'overwrite = 1' : 'fields = known'}, conflict = NULL, revision = revision + 1
      WHERE external_id = ?`,
    )
    .run(externalId)
while (command === 'run') {
  for (const entity of ['patients', 'appointments'] as const)
    for (const overwrite of [0, 1] as const) while (await push(entity, overwrite));
  await pull()
  await setTimeout(Number(INTERVAL_MS))
}
