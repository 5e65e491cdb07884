import { join } from 'node:path'
import { logToStdout } from '../shared/observability/log.ts'
import { listFiles } from '../shared/reference/files.ts'
import { serveFiles } from '../shared/reference/serve.ts'
import { now } from '../shared/runtime/system.ts'

/** Serves the API document, the error catalogue and the documentation from files next to the bundle. */
export const handler = serveFiles(listFiles(join(import.meta.dirname, 'files')), {
  now,
  log: logToStdout,
})
