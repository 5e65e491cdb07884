import { renderSync, syncRecords } from '../shared/api/sync.ts'
import { requestedSync } from '../shared/requests/sync-records.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'

export const handler = endpoint(
  syncRecords,
  { sync: requestedSync },
  async ({ clinic, body, write, reportChange }, { sync }) => {
    const results = await sync.write(clinic, body, write(renderSync))
    if (results.some(({ outcome }) => outcome === 'created' || outcome === 'updated')) reportChange()
    return renderSync(results)
  },
)
