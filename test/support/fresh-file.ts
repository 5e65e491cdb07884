/** Runs before every test file. Files share their processes, but neither the project's modules nor stubs and spies. */
import { afterAll, vi } from 'vitest'

vi.resetModules()
afterAll(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})
