import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { startLocalStack } from '../../infra/local/stack.ts'
import { EVENT_NAMES } from '../../shared/api/events.ts'
import type { Examples } from '../../shared/api/openapi/examples.ts'
import { BASE_PATH } from '../../shared/api/route.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { loadDemo, type ReadyClinic } from '../demo/load.ts'
import { notebook } from './notebook.ts'
import { operator } from './operator.ts'
import { openReceiver } from './receiver.ts'
import { recordAppointments } from './record-appointments.ts'
import { recordEndpoints } from './record-endpoints.ts'
import { recordEvents } from './record-events.ts'
import { recordFinance } from './record-finance.ts'
import { recordMessages } from './record-messages.ts'
import { recordPatients } from './record-patients.ts'
import { recordRefusals } from './record-refusals.ts'

/** Asks the synthesized stack, with the demo clinics in it, for an example of everything that the document shows. */
export async function recordExamples(): Promise<Examples> {
  const receiver = await openReceiver()
  let clinic: ReadyClinic | undefined
  const stack = await startLocalStack({
    port: 0,
    smsReceipts: true,
    allowedWebhookHost: receiver.host,
    seed: async ({ endpoints, outputs }) => {
      const client = new DynamoDBClient({
        endpoint: endpoints.dynamodb,
        region: 'us-east-1',
        credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
      })
      const clinics = await loadDemo(openTable(DynamoDBDocumentClient.from(client), outputs.TableName ?? ''))
      clinic = clinics[0]
    },
  })
  try {
    if (!clinic) throw new Error('There is no demo clinic.')
    const notes = notebook(`${stack.baseUrl}${BASE_PATH}`, clinic.credentials.full)
    const tool = operator(new URL(stack.baseUrl).port, clinic.id)
    await recordEndpoints(notes)
    // From here on, everything that happens arrives.
    const webhook = await recordEvents.subscribe(notes, receiver.url)
    await recordPatients(notes, tool)
    await recordAppointments(notes, tool)
    await recordFinance(notes, tool)
    await recordMessages(notes, tool)
    await recordEvents.walk(notes, webhook)
    const events = await receiver.all(EVENT_NAMES)
    await recordRefusals(notes, { webhook, clinic, tool })
    const { successes, refusals, errors, headers } = notes
    return { successes, refusals, errors, headers, events }
  } finally {
    await stack.close()
    receiver.close()
  }
}
