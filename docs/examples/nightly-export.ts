/**
 * Exports the records of a clinic to a SQLite database, and keeps this copy up to date.
 * Run `node nightly-export.ts` every night, or `node nightly-export.ts serve` as a server that receives webhooks:
 * the copy then has a change with an event within a minute, and any other change within an hour or so. Run one process at a time. It can be killed at any time.
 *
 * API and CREDENTIAL are the address and the credential, which needs patient.read, appointment.read, appointment.read.availability,
 * finance.read and communication.read.sms. COPY is the path of the database. The server needs the SECRET of a webhook endpoint
 * that is subscribed to the events of these records.
 */
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { createClient, verifyWebhook, WebhookVerificationError } from 'clinic-developer-client'

const { API = '', CREDENTIAL = '', COPY = 'copy.db', SECRET = '', PORT = '4700' } = process.env
const BEGINNING = '1970-01-01T00:00:00Z'
const HOUR_MS = 3_600_000

const clinic = createClient({ baseUrl: API, credential: CREDENTIAL, retries: 10 })
const { patients, appointments, invoices, payments, messages } = clinic
const LISTS = { patients, appointments, invoices, payments, messages }

const database = new DatabaseSync(COPY)
database.exec(`
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS records (list TEXT, id TEXT, json TEXT, PRIMARY KEY (list, id));
  CREATE TABLE IF NOT EXISTS positions (list TEXT PRIMARY KEY, position TEXT);
`)
const saveRecord = database.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?)')
const savePosition = database.prepare('INSERT OR REPLACE INTO positions VALUES (?, ?)')
const readPosition = database.prepare('SELECT position FROM positions WHERE list = ?')

function inTransaction(work: () => void): void {
  database.exec('BEGIN IMMEDIATE')
  work()
  database.exec('COMMIT')
}

/** The decimals of a currency in ISO 4217. Those of `Intl` differ for some. */
function decimalsOf(currency: string): number {
  if (/BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|UYI|VND|VUV|XAF|XOF|XPF/.test(currency)) return 0
  if (/BHD|IQD|JOD|KWD|LYD|OMR|TND/.test(currency)) return 3
  return /CLF|UYW/.test(currency) ? 4 : 2
}

/**
 * A record as it is stored: with ids in place of the copied names of patients and doctors, and with amounts in minor units
 * (12.5 EUR are 1250), because sums of fractions are not exact.
 */
function storedForm(record: { readonly id: string; readonly currency?: string }): string {
  const factor = 10 ** decimalsOf(record.currency ?? '')
  return JSON.stringify(record, (name, value) => {
    if (name === 'patient' || name === 'doctor') return value && { id: value.id }
    const isAmount = typeof value === 'number' && record.currency !== undefined
    return isAmount && name !== 'quantity' && name !== 'tax_rate' ? Math.round(value * factor) : value
  })
}

async function copyChanges(name: string, list: (typeof LISTS)[keyof typeof LISTS]): Promise<void> {
  const since = String(readPosition.get(name)?.position ?? BEGINNING)
  // Ends when the changes that were made before this call are listed: after 20 seconds.
  for await (const { data, position } of list.changes({ since }))
    inTransaction(() => {
      for (const record of data) saveRecord.run(name, record.id, storedForm(record))
      savePosition.run(name, position)
    })
}

/** Doctors have no list of changes: the whole list replaces the copy. */
async function copyDoctors(): Promise<void> {
  const rows: [id: string, json: string][] = []
  for await (const doctor of clinic.doctors.all()) rows.push([doctor.id, JSON.stringify(doctor)])
  inTransaction(() => {
    database.exec("DELETE FROM records WHERE list = 'doctors'")
    for (const row of rows) saveRecord.run('doctors', ...row)
  })
}

async function copyAll(): Promise<void> {
  await Promise.all(Object.entries(LISTS).map(([name, list]) => copyChanges(name, list)))
  await copyDoctors()
}

let isDue = false
let isCopying = false

/** Copies, and copies again if another event arrives in the meantime. */
async function copyWhileDue(): Promise<void> {
  isDue = true
  if (isCopying) return
  isCopying = true
  while (isDue) {
    isDue = false
    await copyAll()
  }
  isCopying = false
}

function serve(): void {
  createServer(async (request, response) => {
    try {
      await verifyWebhook({ headers: request.headers, body: await buffer(request), secret: SECRET })
    } catch (error) {
      const isForged = error instanceof WebhookVerificationError
      if (!isForged) console.error(error instanceof Error ? error.name : 'unknown error')
      response.writeHead(isForged ? 400 : 500).end()
      return
    }
    response.writeHead(204).end()
    await copyWhileDue()
  }).listen(Number(PORT), '127.0.0.1')
}

if (process.argv[2] === 'serve') {
  serve()
  // Some changes have no events, such as those of doctors.
  setInterval(copyWhileDue, HOUR_MS)
}
await copyWhileDue()
