/** How the stacks of a deployment depend on each other, whatever its settings. */
import { describe, expect, it } from 'vitest'
import {
  backupCopyStackName,
  backupStackName,
  dataStackName,
  SMS_RECEIPTS_STACK,
} from '../../../infra/settings/names.ts'
import { COMBINATIONS, type Combination } from '../../support/combinations.ts'
import { combinedTemplates, type StackTemplate } from '../../support/template.ts'

/** The values that stacks export, and the names that they import. */
type Deployed = { exported: Record<string, unknown>; imported: string[] }

function deployed(templates: Record<string, StackTemplate>): Deployed {
  const outputs = Object.values(templates).flatMap(({ Outputs = {} }) => Object.values(Outputs))
  const text = JSON.stringify(templates)
  return {
    exported: Object.fromEntries(
      outputs.flatMap(({ Value, Export }) => (Export ? [[Export.Name, Value]] : [])),
    ),
    imported: [...new Set([...text.matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name = '']) => name))],
  }
}

const synthesized = new Map<Combination, Record<string, StackTemplate>>(
  COMBINATIONS.map((combination) => [combination, combinedTemplates(combination)]),
)
const templatesFor = (combination: Combination) =>
  synthesized.get(combination) as Record<string, StackTemplate>

const values = new Map<Combination, Deployed>(
  [...synthesized].map(([combination, templates]) => [combination, deployed(templates)]),
)
const deployedFor = (combination: Combination) => values.get(combination) as Deployed

const pairs = COMBINATIONS.flatMap((before) =>
  COMBINATIONS.filter((after) => after !== before && after.stage === before.stage).map(
    (after) => [after.name, before.name, after, before] as const,
  ),
)

describe('a deployment', () => {
  it.each(pairs)('of %s over %s changes no export that is in use', (_after, _before, after, before) => {
    const [next, current] = [deployedFor(after), deployedFor(before)]
    // A stack is updated while the others are as before, so an import of either version is in use.
    const inUse = new Set([...current.imported, ...next.imported])
    expect(inUse.size).toBeGreaterThan(0)
    for (const name of inUse)
      expect([name, next.exported[name]]).toEqual([name, current.exported[name] ?? 'no export'])
  })

  it.each(COMBINATIONS.map((each) => [each.name, each] as const))(
    'of %s exports from the stack of data only, and never by an export of the CDK',
    (_name, combination) => {
      const templates = templatesFor(combination)
      const { exported, imported } = deployedFor(combination)
      const data = dataStackName(combination.stage)
      expect(Object.keys(exported).filter((name) => !name.startsWith(`${data}:`))).toEqual([])
      expect(imported.filter((name) => !(name in exported))).toEqual([])
      expect(JSON.stringify(templates)).not.toMatch(/ExportsOutput|GetStackOutput/)
    },
  )
})

describe('the stack of data', () => {
  it.each(['dev', 'prod'])(
    'of %s keeps the logical ids of what is retained, which are its identity',
    (stage) => {
      // Another id would create a new resource. An import into a new stack names these.
      const combination = COMBINATIONS.find(({ name }) => name === stage) as Combination
      const { Resources = {} } = templatesFor(combination)[dataStackName(stage)] ?? {}
      const typesById = Object.fromEntries(Object.entries(Resources).map(([id, { Type }]) => [id, Type]))
      expect(typesById).toMatchObject({
        DataTableFDBAD0F2: 'AWS::DynamoDB::Table',
        DataTableKeyC26AB094: 'AWS::KMS::Key',
        AccessTrailBucket4B23D4A2: 'AWS::S3::Bucket',
        AccessTrailOperatorLog7EAECF16: 'AWS::Logs::LogGroup',
      })
    },
  )
})

describe('the stacks of code', () => {
  it.each(COMBINATIONS.map((each) => [each.name, each] as const))(
    'of %s retain nothing but the role of API Gateway, which the account has once',
    (_name, combination) => {
      const { stage } = combination
      const kept = [dataStackName(stage), backupStackName(stage), backupCopyStackName(stage)]
      const code = Object.entries(templatesFor(combination)).filter(([stack]) => !kept.includes(stack))
      const retained = code.flatMap(([, { Resources }]) =>
        Object.entries(Resources).flatMap(([id, { DeletionPolicy = 'Delete' }]) =>
          DeletionPolicy.startsWith('Retain') ? [id.replace(/[0-9A-F]{8}$/, '')] : [],
        ),
      )
      expect(retained.sort()).toEqual(['ApiRestAccount', 'ApiRestCloudWatchRole'])
    },
  )

  it('keep the role of API Gateway even if their first creation fails: other stages of the account may use it', () => {
    const { Resources } = templatesFor(COMBINATIONS[0] as Combination)[
      'ClinicDeveloperApi-dev'
    ] as StackTemplate
    const kept = Object.entries(Resources).filter(([id]) => /^ApiRest(Account|CloudWatchRole)/.test(id))
    expect(kept.map(([, { DeletionPolicy }]) => DeletionPolicy)).toEqual(['Retain', 'Retain'])
  })

  it('does not move a function to another stack when settings change', () => {
    for (const stage of ['dev', 'prod']) {
      const owners = COMBINATIONS.filter((each) => each.stage === stage).map((combination) =>
        Object.entries(templatesFor(combination))
          .filter(([stack]) => stack !== SMS_RECEIPTS_STACK)
          .flatMap(([stack, { Resources }]) =>
            Object.values(Resources)
              .filter(({ Type }) => Type === 'AWS::Lambda::Function')
              .map(({ Properties }) => `${Properties.FunctionName} in ${stack}`),
          ),
      )
      for (const owned of owners) expect(owned).toEqual(owners[0])
    }
  })
})
