/** Records the examples and prints them as JSON: a program of its own, because its clock is not the machine's. */
import { recordExamples } from './record.ts'

process.stdout.write(JSON.stringify(await recordExamples(), null, 2))
