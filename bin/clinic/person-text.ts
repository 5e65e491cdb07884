import { withAmountTexts } from './amount-text.ts'
import type { PersonData, Rendered } from './export/person.ts'

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
