import { getAccount, renderAccount } from '../shared/api/account.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'

export const handler = endpoint(getAccount, {}, async ({ credential }) => ({
  data: renderAccount(credential),
}))
