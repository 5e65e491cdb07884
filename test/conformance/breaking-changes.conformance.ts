/**
 * oasdiff finds no breaking change between the document of the last release and the present one. It runs in `npm run prove` and
 * for every pull request, where Go is available. Fields and events may be added, so new values in responses are no breaking change.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { goTool } from './go-tool.ts'
import { runProgram } from './run-program.ts'

const { program: OASDIFF, missing } = goTool('github.com/oasdiff/oasdiff', '1.36.0')
const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../docs', file), 'utf8')
const RELEASED = read('openapi.released.json')
const CURRENT = read('openapi.json')
const LEVELS = join(import.meta.dirname, 'breaking-changes/severity-levels.txt')

/** The lines of oasdiff. New fields of events are none: the API sends them, which oasdiff takes for a request. */
async function breakingChanges(before: string, after: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'oasdiff-'))
  try {
    writeFileSync(join(folder, 'before.json'), before)
    writeFileSync(join(folder, 'after.json'), after)
    const args = ['breaking', 'before.json', 'after.json', '--format=singleline', '--fail-on=WARN']
    const { code, printed, errors } = await runProgram(OASDIFF, [...args, `--severity-levels=${LEVELS}`], {
      cwd: folder,
    })
    if (code !== 0 && code !== 1) throw new Error(errors)
    return printed
      .split('\n')
      .filter(
        (line) => /^(error|warning)/.test(line) && !/ webhook:.*\[new-required-request-property\]/.test(line),
      )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The document with the present names of schemas and types of constants, which oasdiff takes for changes of requests. */
const withPresentNames = (document: string): string =>
  document
    .replaceAll(/\bNew(Appointment|Message|Patient|Payment|Webhook)/g, '$1Create')
    .replaceAll('NewSecret', 'SecretRotation')
    .replaceAll(/\{\s*"const": "sms"/g, '{ "type": "string", "const": "sms"')

it('there is no breaking change since the last release', async ({ skip }) => {
  if (missing !== null) return skip(missing)
  expect(await breakingChanges(withPresentNames(RELEASED), CURRENT)).toEqual([])
})

/** Changes of the document that break clients. */
const BREAKING: Readonly<Record<string, (document: any) => unknown>> = {
  'a removed path': ({ paths }) => delete paths['/me'],
  'a removed operation': ({ paths }) => delete paths['/patients'].post,
  'a removed event': ({ webhooks }) => delete webhooks['invoice.paid'],
  'a removed field of a response': ({ components }) =>
    delete components.schemas.RecordListMeta.properties.as_of,
  'a removed field of a request': ({ components }) =>
    delete components.schemas.PatientCreate.properties.gender,
  'a removed value of a request': ({ components }) =>
    components.schemas.MessageCreate.properties.channel.enum.pop(),
  'a new required field': ({ components }) => components.schemas.PatientCreate.required.push('notes'),
  'a new required parameter': ({ paths }) => {
    paths['/patients'].get.parameters[0].required = true
  },
  'a narrowed type of a request': ({ components }) => {
    components.schemas.AppointmentCreate.properties.notes = { type: 'string' }
  },
  'a nullable field of a response': ({ components }) => {
    components.schemas.Payment.properties.amount.type = ['number', 'null']
  },
  'another status': ({ paths }) => {
    const { 201: created, ...others } = paths['/patients'].post.responses
    paths['/patients'].post.responses = { ...others, 200: created }
  },
  'a removed error': ({ paths }) => delete paths['/patients/{id}'].get.responses[404],
}

/** Changes of the document that a release may make. */
const COMPATIBLE: typeof BREAKING = {
  'a new field of a response': ({ components }) => {
    components.schemas.Patient.properties.shoe_size = { type: 'string' }
  },
  'a new optional field of a request': ({ components }) => {
    components.schemas.PatientCreate.properties.shoe_size = { type: 'string' }
  },
  'a new field of an event': ({ components }) => {
    components.schemas.PatientCreatedEvent.properties.data.properties.shoe_size = { type: 'string' }
    components.schemas.PatientCreatedEvent.properties.data.required.push('shoe_size')
  },
  'a new event': ({ components, webhooks }) => {
    webhooks['patient.merged'] = webhooks['patient.updated']
    components.schemas.Event.oneOf.push({ ...components.schemas.EmailSentEvent })
    components.schemas.Webhook.properties.events.items.enum.push('patient.merged')
  },
}

const CASES = [
  ...Object.entries(BREAKING).map(([name, change]) => [name, 'rejects', change] as const),
  ...Object.entries(COMPATIBLE).map(([name, change]) => [name, 'accepts', change] as const),
]

it.for(CASES)('%s: the comparison %s it', async ([_, verdict, change], { skip }) => {
  if (missing !== null) return skip(missing)
  const document = JSON.parse(CURRENT)
  change(document)
  const changes = await breakingChanges(CURRENT, JSON.stringify(document))
  expect(changes.length === 0 ? 'accepts' : 'rejects').toBe(verdict)
})
