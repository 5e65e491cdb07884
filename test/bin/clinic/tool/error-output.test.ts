/** What errors say, and what they never contain. */
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'

const { db, run } = deployedTable({ Cell: 'a' })
let mine: PopulatedClinic
let foreign: PopulatedClinic
beforeAll(async () => {
  mine = await createPopulatedClinic(db.table)
  foreign = await createPopulatedClinic(db.table)
})

describe('a command about a record', () => {
  it.each([
    ['patient', 'link', '--external-id', 'TR-1'],
    ['doctor', 'link', '--external-id', 'D-1'],
    ['invoice', 'correct', '--number', '7'],
    ['invoice', 'correct', '--status', 'sent'],
    ['message', 'resolve', '--as', 'sent'],
  ] as const)(
    'says where to find a %s to %s if the id is wrong, or of another clinic',
    async (noun, verb, ...more) => {
      const rejected = (id: string) => rejection(run(noun, verb, id, ...more, '--clinic', mine.clinic.id))
      const { id } = foreign[noun]
      expect(await rejected(id)).toBe(`The clinic has no ${noun} ${id}. Find it with "${noun} list".\n`)
      expect(await rejected('Ada Kaya')).toMatch(/^The clinic has no [a-z]+ with this id\./)
    },
  )
})

describe('errors with --json', () => {
  const errorOf = async (...args: string[]) => {
    const { code, printed, errors } = await run(...args)
    return { code, printed, error: JSON.parse(errors).error }
  }

  it('are one JSON object, for wrong input and for wrong usage', async () => {
    expect(await errorOf('--json', 'clinic', 'update', '--clinic', newUuid(), '--name', 'X')).toMatchObject({
      code: 2,
      printed: '',
      error: { message: expect.stringMatching(/^Clinic .*exist/), exit_code: 2 },
    })
    expect((await errorOf('clinic', 'show', '--json')).error).toEqual({
      message: 'Specify the clinic with --clinic, or in CLINIC.',
      exit_code: 2,
    })
    expect((await errorOf('--json')).error.message).toContain('incomplete')
    expect((await errorOf('nonsense', '--json')).error.message).toContain("unknown command 'nonsense'")
  })

  it('never repeat the secret of a credential, nor do errors as text', async () => {
    const pasted = 'ck_a_abcdefghijkl:cs_q83kzTnY0rW3x9cT2nEr'
    for (const args of [
      ['credential', pasted],
      ['clinic', 'update', '--clinic', pasted, '--name', 'X'],
      ['patient', 'list', pasted, '--clinic', mine.clinic.id],
    ])
      for (const more of [[], ['--json']]) {
        const { code, printed, errors, lines } = await run(...args, ...more)
        expect(code).toBe(2)
        expect(printed + errors + JSON.stringify(lines)).not.toContain('q83kz')
      }
  })
})
