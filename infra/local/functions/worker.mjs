// A Lambda execution environment in a thread. Plain JavaScript, since stripping types in every new thread would add a
// third to the time of a function's first request.
import { subscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { createRequire, enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'

const { assetDirectory, handler, context, clockOffset, compileCache, reportedEndpoints } = workerData
// The next environment of the same function starts in two thirds of the time.
enableCompileCache(compileCache)
process.setSourceMapsEnabled(true)
if (clockOffset) {
  const { moveClock } = await import('../process/move-clock.ts')
  moveClock(() => clockOffset[0])
}
const post = (message) => parentPort.postMessage(message)
if (reportedEndpoints) {
  const { reportRequests } = await import('./report-requests.mjs')
  reportRequests(reportedEndpoints, (request) => post({ request }))
}

// Output is posted like results, so that it arrives before the result of its invocation.
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (chunk, encoding, done) => {
    post({ output: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() })
    const written = typeof encoding === 'function' ? encoding : done
    written?.()
    return true
  }
}

const describe = (error) =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n').slice(1) ?? [] }
    : { errorType: typeof error, errorMessage: String(error), trace: [] }

// Errors that the function handles: its log has their names only.
subscribe('unexpected-error', (error) => post({ exception: describe(error) }))

async function load() {
  const dot = handler.lastIndexOf('.')
  const path = join(assetDirectory, handler.slice(0, dot))
  // Lambda's runtime looks for `.js` before `.mjs`.
  const module = existsSync(`${path}.js`) ? createRequire(path)(path) : await import(`${path}.mjs`)
  const run = module[handler.slice(dot + 1)]
  if (typeof run !== 'function') throw new Error(`${handler} is not a function of the bundle`)
  return run
}

async function invoke(run, { event, requestId, timeoutMs, traceId }) {
  process.env._X_AMZN_TRACE_ID = traceId
  const deadline = performance.now() + timeoutMs
  const result = await run(JSON.parse(event), {
    ...context,
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
  })
  return JSON.stringify(result) ?? 'null'
}

try {
  const run = await load()
  flushCompileCache()
  parentPort.on('message', (invocation) => {
    invoke(run, invocation).then(
      (payload) => post({ payload }),
      (error) => post({ error: describe(error) }),
    )
  })
  post({ ready: true })
} catch (error) {
  post({ unloadable: describe(error) })
}
