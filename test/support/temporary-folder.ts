import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

/** Makes an empty folder, which is removed at the end of the run. */
export const temporaryFolder = (): string => mkdtempSync(join(inject('runFolder'), 'test-'))
