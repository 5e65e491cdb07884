import { readdirSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { WORKERS } from '../../../shared/runtime/workers.ts'
import { handlerOf, stubFunctionEnvironment } from '../../support/functions.ts'

/** Functions that serve requests, but no endpoint of the API. */
const OTHERS = ['fallback', 'reference']

describe('the worker table', () => {
  beforeEach(() => stubFunctionEnvironment('no-such-table'))

  it('lists every function that is not an endpoint, once', () => {
    const files = readdirSync('functions').map((file) => file.replace(/\.ts$/, ''))
    const endpoints = [...OTHERS, ...ENDPOINTS.map(({ id }) => id)]
    expect(WORKERS.map(({ id }) => id).sort()).toEqual(files.filter((id) => !endpoints.includes(id)).sort())
  })

  it.each(WORKERS.map(({ id }) => id))(
    'has the entry that functions/%s.ts passes to its handler',
    async (id) => {
      const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      try {
        const handler = (await handlerOf({ id })) as (event: object) => Promise<unknown>
        // An empty event, or a table that does not exist, fails every worker.
        await expect(handler({})).rejects.toThrow(`${id} failed`)
      } finally {
        write.mockRestore()
      }
    },
  )
})
