import { expect, it } from 'vitest'
import { testsNaming } from '../../../bin/dev/naming-tests.ts'

const TESTS = [
  { path: 'test/functions/a.test.ts', text: "await handlerOf({ id: 'get-patient' })" },
  { path: 'test/functions/b.test.ts', text: "await handlerOf({ id: 'get-patients' })" },
  { path: 'test/shared/domain/c.test.ts', text: "import('../../../shared/domain/clock.ts')" },
  {
    path: 'test/shared/domain/d.test.ts',
    text: "import('../../../shared/domain/other-clock.ts')",
  },
]

it.each([
  [['functions/get-patient.ts'], ['test/functions/a.test.ts']],
  [['shared/domain/clock.ts'], ['test/shared/domain/c.test.ts']],
  [['shared/domain/patient.ts'], []],
  [
    ['test/functions/b.test.ts', 'functions/get-patient.ts'],
    ['test/functions/a.test.ts', 'test/functions/b.test.ts'],
  ],
])('finds the tests that import, call or are %j', (changed, found) => {
  expect(testsNaming(changed, TESTS)).toEqual(found)
})
