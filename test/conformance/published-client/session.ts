import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { get, type RunningStack, runStack } from '../../support/local-stack.ts'

/** A request of the client. Words that begin with `$` stand for values, which `keeps` takes from the data of a response. */
type RecordedRequest = {
  readonly call: string
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly keeps: Readonly<Record<string, string>>
}

/** One request for each call, in order: what `calls.py record` prints. */
export const REQUESTS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'requests.json'), 'utf8'),
) as RecordedRequest[]

type Treatment = { readonly id: string; readonly is_active: boolean; readonly doctor_ids: readonly string[] }

const HOUR_MS = 3_600_000

/** A stack on which the client books for today, and to which patients come late: after the visit, the appointments are over. */
export async function runSession() {
  const clockOffset = new Float64Array(new SharedArrayBuffer(8))
  const moveClock = (ms: number) => {
    clockOffset[0] = (clockOffset[0] ?? 0) + ms
  }
  const stack = await runStack({
    clockOffset,
    log: (line) => /POST .*\/complete/.test(line) && moveClock(20 * HOUR_MS),
  })
  const values = await firstValues(stack)
  moveClock(Date.parse(`${values.date}T00:00:00Z`) - Date.now())
  return { stack, values }
}

/** The values that a user of the client knows beforehand: a credential with every scope, and some ids of the clinic. */
async function firstValues(stack: RunningStack): Promise<Record<string, string>> {
  const [key = '', secret = ''] = stack.clinics[0]?.credentials.full?.split(':') ?? []
  const treatments: Treatment[] = (await get(stack, '/clinic/treatments?limit=100')).body.data
  const treatment = treatments.find(({ is_active, doctor_ids }) => is_active && doctor_ids.length > 0)
  if (!treatment) throw new Error('No doctor offers a treatment.')
  const [invoice] = (await get(stack, '/invoices?limit=1')).body.data
  const doctor = treatment.doctor_ids[0] as string
  for (let days = 30; ; days++) {
    const date = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const free = (await get(stack, `/availability?doctor_id=${doctor}&date=${date}&duration=15`)).body.data
    if (free.length >= 10) return { key, secret, treatment: treatment.id, invoice: invoice.id, doctor, date }
  }
}
