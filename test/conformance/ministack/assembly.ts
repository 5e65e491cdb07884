/** The templates that were synthesized for the emulator, and which parts of them it does not know. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  ValidateTemplateCommand,
} from '@aws-sdk/client-cloudformation'
import { type Emulator, waitFor } from './emulator.ts'

type Resource = {
  readonly Type: string
  readonly DeletionPolicy?: string
  readonly Properties?: Readonly<Record<string, unknown>>
}
type Template = { readonly Resources: Readonly<Record<string, Resource>> }

/** The types of resources that prod has and the emulator does not know. The run fails if it knows one of them, or does not know another. */
export const UNKNOWN_TYPES = [
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::Logs::QueryDefinition',
  'AWS::WAFv2::WebACLAssociation',
]

const templatesIn = (folder: string) =>
  globSync(join(folder, '*.template.json')).map((file) => ({
    file,
    template: JSON.parse(readFileSync(file, 'utf8')) as Template,
  }))

/** The types in the templates that the emulator says it does not know. */
export async function unknownTypes({ client }: Emulator, folder: string): Promise<string[]> {
  const types = templatesIn(folder).flatMap(({ template }) =>
    Object.values(template.Resources).map(({ Type }) => Type),
  )
  const Resources = Object.fromEntries([...new Set(types)].map((Type, at) => [`Type${at}`, { Type }]))
  const message = await new CloudFormationClient(client)
    .send(new ValidateTemplateCommand({ TemplateBody: JSON.stringify({ Resources }) }))
    .then(
      () => '',
      (error: Error) => error.message,
    )
  return /Unrecognized resource types: \[(.*)\]/.exec(message)?.[1]?.split(', ') ?? [message]
}

/** Whether the emulator still fails to create an alarm on an expression. */
export async function metricMathFails({ client }: Emulator): Promise<boolean> {
  const cloudFormation = new CloudFormationClient(client)
  const Metrics = [{ Id: 'e', Expression: 'TIME_SERIES(1)' }]
  const Properties = {
    Metrics,
    EvaluationPeriods: 1,
    Threshold: 1,
    ComparisonOperator: 'GreaterThanThreshold',
  }
  const TemplateBody = JSON.stringify({
    Resources: { Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties } },
  })
  await cloudFormation.send(new CreateStackCommand({ StackName: 'Math', TemplateBody }))
  return waitFor('the stack of an alarm', async () => {
    const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName: 'Math' }))
    const status = Stacks?.[0]?.StackStatus ?? ''
    if (/ROLLBACK_COMPLETE|FAILED/.test(status)) return true
    return status === 'CREATE_COMPLETE' ? Promise.reject(new Error('The emulator knows metric math.')) : false
  })
}

/** Removes the resources that the emulator does not know from the templates, with references to them. Returns their names. */
export function removeUnknown(folder: string): string[] {
  return templatesIn(folder).flatMap(({ file, template }) => {
    const isUnknown = ({ Type, Properties }: Resource) =>
      UNKNOWN_TYPES.includes(Type) || (Type === 'AWS::CloudWatch::Alarm' && Properties?.Metrics !== undefined)
    const unknown = Object.entries(template.Resources).flatMap(([id, resource]) =>
      isUnknown(resource) ? [id] : [],
    )
    const Resources = Object.fromEntries(
      Object.entries(template.Resources).filter(([id]) => !unknown.includes(id)),
    )
    const withoutReferences = (_key: string, value: unknown) => {
      const { Ref, 'Fn::GetAtt': [of] = [] } = (value ?? {}) as { Ref?: string; 'Fn::GetAtt'?: string[] }
      return unknown.includes(Ref ?? of ?? '') ? 'removed' : value
    }
    writeTemplate(folder, file, JSON.stringify({ ...template, Resources }, withoutReferences))
    return unknown
  })
}

/** The part of a logical id that every name has which CloudFormation makes of it. */
const NAME_PART = 14

/**
 * Which of the names that are left belong to resources that the templates retain. A resource that is missing from them is
 * returned as its logical id.
 */
export function retainedBy(folder: string, left: readonly string[]): string[] {
  const retained = templatesIn(folder).flatMap(({ template }) =>
    Object.entries(template.Resources).flatMap(([id, { Type, DeletionPolicy = '' }]) =>
      DeletionPolicy.startsWith('Retain') && !UNNAMED.includes(Type) ? [id] : [],
    ),
  )
  const namesOf = (id: string) =>
    left.filter((name) => name.toLowerCase().includes(id.slice(0, NAME_PART).toLowerCase()))
  return retained.flatMap((id) => (namesOf(id).length > 0 ? namesOf(id) : [id])).sort()
}

/** Retained resources without a name of their own. */
const UNNAMED = ['AWS::ApiGateway::Account', 'AWS::Logs::LogStream', 'AWS::KMS::Key']

/** The CDK publishes a template by the name that its hash was, and only once. */
function writeTemplate(folder: string, file: string, content: string): void {
  writeFileSync(file, content)
  const assets = file.replace(/\.template\.json$/, '.assets.json')
  const { files } = JSON.parse(readFileSync(assets, 'utf8')) as {
    files: Record<string, { source: { path: string } }>
  }
  const [hash = ''] = Object.entries(files).find(([, { source }]) => source.path === basename(file)) ?? []
  const replacement = createHash('sha256').update(content).digest('hex')
  for (const naming of [assets, join(folder, 'manifest.json')])
    writeFileSync(naming, readFileSync(naming, 'utf8').replaceAll(hash, replacement))
}
