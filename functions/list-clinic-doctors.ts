export { handler } from './list-doctors.ts'
