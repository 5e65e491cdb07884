import { readdirSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { WORKERS } from '../../../shared/runtime/workers.ts'
import { handlerOf, stubFunctionEnvironment } from '../../support/functions.ts'

describe('the worker table', () => {
  beforeEach(() => stubFunctionEnvironment('no-such-table'))

  it('lists every function that is not an endpoint, once', () => {
    const files = readdirSync('functions/workers').map((file) => file.replace(/\.ts$/, ''))
    expect(WORKERS.map(({ id }) => id).sort()).toEqual(files.sort())
  })

  it.each(WORKERS.map(({ id }) => id))(
    'has the entry that functions/workers/%s.ts passes to its handler',
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
