// What Lambda loads of a function. It is started when this module is, so that `await` is part of the start.
import { handler } from './index.js'

await handler.prepare?.()
export { handler }
