import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Processes of the run, and those that tests start, load packages that an earlier one compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

// Not the stages in infra/, which a team fills in.
process.env.TEST_RUN_STAGES = join(import.meta.dirname, 'test/support/stages')

export default defineConfig({
  test: {
    // Judges are programs of other projects, such as fuzzers. They need Python.
    include: ['test/**/*.test.ts', ...(process.env.PROVE === '1' ? ['test/judges/*.judge.ts'] : [])],
    // Test files share the processes, and so what a process has loaded and compiled of packages.
    isolate: false,
    setupFiles: ['test/support/fresh-file.ts'],
    globalSetup: ['test/support/engine.ts', 'test/support/run-folder.ts'],
    // `security-rules.test.ts` checks the template by the same rules; once is enough.
    env: { CDK_VALIDATION: 'false' },
    // Campaigns of `npm run prove` take as long as they take.
    testTimeout: process.env.PROVE === '1' ? 3_600_000 : 120_000,
    hookTimeout: 120_000,
    // Other test files keep the machine busy.
    expect: { poll: { timeout: 30_000 } },
    // One more than the two cores of CI: some files wait for queues, timers and other processes. With two more, requests
    // in races wait longer for their turn than they can.
    maxWorkers: 3,
    reporters: process.env.CI ? ['default', './test/support/closing-line.ts'] : ['default'],
  },
})
