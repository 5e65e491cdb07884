import { getHealth } from '../shared/api/account.ts'
import { TZDATA } from '../shared/domain/time-zone-table.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'

export const handler = endpoint(getHealth, {}, async () => ({ status: 'ok' as const, tzdata: TZDATA }))
