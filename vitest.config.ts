import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

// Processes of the run, and those that tests start, load packages that an earlier one compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

// Not the stages in infra/, which a team fills in.
process.env.TEST_RUN_STAGES = join(import.meta.dirname, 'test/support/stages')

const EXHAUSTIVE = process.env.EXHAUSTIVE === '1'

/** `npm run test:unit`: no database engine, no other process, no template. */
export const UNIT = [
  'test/shared/{domain,http,observability,operator}/**/*.test.ts',
  'test/**/*.unit.test.ts',
]

/** `npm run test:rest`: the operator tool, maintenance, the local runner, and what only the whole shows. `npm test` runs all others. */
export const REST = [
  'test/{bin,conformance,e2e,histories,infra/local,shared/maintenance,simulations,support}/**/*.test.ts',
  // Thousands of records or requests, or commands of the operator tool.
  'test/functions/{external-ids,large-invoices,lost-responses,snapshot-faults,sync-records,unknown-attributes}.test.ts',
  'test/shared/store/patients/several-segments.test.ts',
  'test/shared/{api/entity-tags,delivery/webhooks/sweep-promises}.test.ts',
  // The calls of every endpoint and worker, and of the operator tool, compared with their roles.
  'test/infra/functions/grants-used.test.ts',
  // Bundles and templates of all functions.
  'test/infra/functions/{bundles,concurrency}.test.ts',
  'test/infra/operators/{operator-roles,pipeline}.test.ts',
  // Every combination of settings.
  'test/infra/{settings/stages,stacks/security-rules}.test.ts',
]

/** Programs of other projects, such as fuzzers. They need Python. */
const CONFORMANCE = EXHAUSTIVE ? ['test/conformance/*.conformance.ts'] : []

const tier = (
  name: string,
  include: string[],
  exclude: string[],
  globalSetup: string[] = [],
): TestProjectInlineConfiguration => ({ extends: true, test: { name, include, exclude, globalSetup } })

export default defineConfig({
  test: {
    projects: [
      tier('unit', UNIT, []),
      tier('integration', ['test/**/*.test.ts'], [...UNIT, ...REST], ['test/support/engine.ts']),
      tier('rest', [...REST, ...CONFORMANCE], UNIT, ['test/support/engine.ts']),
    ],
    // Test files share the processes, and so what a process has loaded and compiled of packages.
    isolate: false,
    setupFiles: ['test/support/fresh-file.ts'],
    globalSetup: ['test/support/run-folder.ts'],
    // `security-rules.test.ts` checks the template by the same rules; once is enough.
    env: { CDK_VALIDATION: 'false' },
    // Campaigns of `npm run prove` take as long as they take.
    testTimeout: EXHAUSTIVE ? 3_600_000 : 120_000,
    hookTimeout: 120_000,
    // Other test files keep the machine busy.
    expect: { poll: { timeout: 30_000 } },
    // One more than the two cores of CI: some files wait for queues, timers and other processes. With two more, requests
    // in races wait longer for their turn than they can.
    maxWorkers: 3,
    // For `npm run dev`. The module graph alone does not know the handlers that tests load by their name.
    experimental: { recordDependencies: true },
    reporters: process.env.CI ? ['default', './test/support/closing-line.ts'] : ['default'],
  },
})
