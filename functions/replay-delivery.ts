export { handler } from './redeliver.ts'
