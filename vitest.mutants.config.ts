import { defineConfig } from 'vitest/config'

/** For `npm run mutants`, which starts vitest for every mutant: no database engine, and nothing isolated. */
export default defineConfig({
  test: {
    include: ['test/shared/domain/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    bail: 1,
    reporters: ['dot'],
  },
})
