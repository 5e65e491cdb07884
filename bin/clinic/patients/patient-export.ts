import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { type PersonData, type Rendered, readPerson } from '../export/person.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { unknownRecord } from '../tool/known-record.ts'
import { CommandFailure, print } from '../tool/output.ts'
import { withAmountTexts } from '../tool/record-text.ts'

/** Adds `patient export`. */
export function addPatientExportCommand(group: Command): void {
  group
    .command('export')
    .description(
      'write everything that is stored about a patient to a text file and a JSON file, for a subject access request',
    )
    .argument('<patient>', 'patient id')
    .requiredOption('--out <folder>')
    .action(async (id: string, given: { out: string }, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const patient = id.toLowerCase()
      const data = await readPerson(table, clinic, patient)
      if (!data) throw unknownRecord('patient', id)
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

/** The data of a person as a text that a person can read: Markdown without HTML. Fields without a value are left out; amounts have the decimals of their currency. */
export function personText(data: PersonData): string {
  const sections = [
    ['Patient', [data.patient]],
    ['Appointments', data.appointments],
    ['Invoices', data.invoices],
    ['Payments', data.payments],
    ['Messages', data.messages],
  ] as const
  return [
    `# Personal data held by ${data.clinic.name}`,
    '',
    `As of ${data.exported_at}`,
    '',
    ...fieldLines({ ...data.clinic, name: null, id: null }, ''),
    ...sections.flatMap(([title, records]) => [
      '',
      `## ${title}${title === 'Patient' ? '' : ` (${records.length})`}`,
      ...records.flatMap((record) => ['', ...fieldLines(withAmountTexts(record) as Rendered, '')]),
    ]),
    '',
    '## Also held',
    '',
    ...data.also_held.map((text) => `- ${text}`),
    '',
  ].join('\n')
}

function fieldLines(record: Rendered, indent: string): string[] {
  return Object.entries(record).flatMap(([name, value]): string[] => {
    const label = `${indent}- ${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}:`
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return []
    const inner = `${indent}  `
    if (Array.isArray(value))
      return [
        label,
        ...value.flatMap((item, at) => [`${inner}- ${at + 1}`, ...fieldLines(item, `${inner}  `)]),
      ]
    if (typeof value === 'object') return [label, ...fieldLines(value as Rendered, inner)]
    return [`${label} ${String(value).replaceAll('\n', `\n${inner}`)}`]
  })
}
