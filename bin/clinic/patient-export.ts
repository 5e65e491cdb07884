import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { connect, requireClinic } from './connection.ts'
import { readPerson } from './export/person.ts'
import { resolveFromInvocationDir } from './invocation-path.ts'
import { CommandFailure, print } from './output.ts'
import { personText } from './person-text.ts'

/** Adds `patient export`. */
export function addPatientExportCommand(group: Command): void {
  group
    .command('export')
    .description(
      'write all that is held of a patient to a text file and a JSON file, for a request of access',
    )
    .argument('<patient>', 'patient id')
    .requiredOption('--clinic <id>')
    .requiredOption('--out <folder>')
    .action(async (id: string, given: { clinic: string; out: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const patient = id.toLowerCase()
      const data = await readPerson(table, clinic, patient)
      if (!data)
        throw new CommandFailure(`The clinic has no patient ${id}. "find" finds an id by the external id.`)
      const folder = resolveFromInvocationDir(given.out)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const contents = { md: personText(data), json: `${JSON.stringify(data, null, 2)}\n` }
      const files = Object.entries(contents).map(([extension, content]) => ({
        path: join(folder, `patient-${patient}.${extension}`),
        content,
      }))
      const existing = files.find(({ path }) => existsSync(path))
      if (existing)
        throw new CommandFailure(`${existing.path} exists already: remove it, or choose another folder.`)
      for (const { path, content } of files) writeFileSync(path, content, { mode: 0o600, flag: 'wx' })
      const paths = files.map(({ path }) => path)
      print(command, { clinic_id: clinic.id, patient_id: patient, files: paths }, [
        `Wrote ${paths.join(' and ')}`,
      ])
    })
}
