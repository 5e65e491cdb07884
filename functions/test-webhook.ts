export { handler } from './ping-webhook.ts'
