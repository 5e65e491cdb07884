// What Lambda loads of a function. It is started when this module is, so that `await` is part of the start. `require` saves the search
// for the names that a CommonJS module exports.
import { createRequire } from 'node:module'

export const { handler } = createRequire(import.meta.url)('./bundle.js')
await handler.prepare?.()
