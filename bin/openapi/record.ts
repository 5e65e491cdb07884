import { startLocalStack } from '../../infra/local/stack.ts'
import { EVENT_NAMES } from '../../shared/api/events.ts'
import type { Examples } from '../../shared/api/openapi/examples.ts'
import { BASE_PATH } from '../../shared/api/route.ts'
import { EVENTS } from '../../shared/domain/event.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { loadDemo, type ReadyClinic } from '../demo/load.ts'
import { exampleRecorder } from './example-recorder.ts'
import { operator } from './operator.ts'
import { openReceiver } from './receiver.ts'
import { recordAccount } from './record-account.ts'
import { recordAppointments } from './record-appointments.ts'
import { recordCatalogue } from './record-catalogue.ts'
import { recordEndpoints } from './record-endpoints.ts'
import { recordErrors } from './record-errors.ts'
import { recordEvents } from './record-events.ts'
import { recordFinance } from './record-finance.ts'
import { recordMessageErrors, recordMessages } from './record-messages.ts'
import { recordErasure, recordPatients } from './record-patients.ts'
import { stableExamples } from './stable-examples.ts'

/**
 * Records an example of everything that the document shows, from the synthesized stack with the demo clinics in it. The
 * process must run on the recording clock (recording-clock.ts).
 */
export async function recordExamples(): Promise<Examples> {
  const receiver = await openReceiver()
  let clinic: ReadyClinic | undefined
  const stack = await startLocalStack({
    port: 0,
    smsReceipts: true,
    allowedWebhookHost: receiver.host,
    // The clock of this process, for functions too.
    environment: { NODE_OPTIONS: process.env.NODE_OPTIONS ?? '' },
    seed: async ({ endpoints, outputs }) => {
      const client = documentClient({
        endpoint: endpoints.dynamodb,
        region: 'us-east-1',
        credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
        requestHandler: {},
      })
      const clinics = await loadDemo(openTable(client, outputs.TableName ?? ''))
      clinic = clinics[0]
    },
  })
  try {
    if (!clinic) throw new Error('There is no demo clinic.')
    const recorder = exampleRecorder(`${stack.baseUrl}${BASE_PATH}`, clinic.credentials.full)
    const tool = operator(new URL(stack.baseUrl).port, clinic.id)
    await recordAccount(recorder)
    await recordCatalogue(recorder)
    await recordEndpoints(recorder)
    // From here on, everything that happens arrives.
    const webhook = await recordEvents.subscribe(recorder, receiver.url)
    await recordPatients(recorder)
    await recordAppointments(recorder, tool, receiver)
    await recordFinance(recorder, tool)
    await recordErasure(recorder, tool)
    await recordMessages(recorder)
    // Afterwards, so that the ping is the newest delivery.
    await receiver.waitForAll(EVENTS)
    await recordEvents.record(recorder, webhook)
    // New endpoints are recorded here: earlier, their records would appear in the lists of the others.
    const events = await receiver.waitForAll(EVENT_NAMES)
    await recordMessageErrors(recorder, tool)
    await recordErrors(recorder, { webhook, clinic, tool })
    const { successes, refusals, errors, headers } = recorder
    return stableExamples({ successes, refusals, errors, headers, events }, clinic.id)
  } finally {
    await stack.close()
    receiver.close()
  }
}
