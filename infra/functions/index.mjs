// Lambda loads this module. The top-level `await` makes `prepare` part of the start, and `require` avoids Node's scan for the names that a
// CommonJS module exports.
import { createRequire } from 'node:module'

export const { handler } = createRequire(import.meta.url)('./bundle.js')
await handler.prepare?.()
