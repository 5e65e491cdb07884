/** Checks the grants of functions against the calls that they make in this process. */
import { expect } from 'vitest'
import { SHARED_PARTITION_PREFIXES } from '../../../infra/functions/grants.ts'
import type { Worker } from '../../../shared/runtime/workers.ts'
import {
  CLINIC_DIRECTORY_PARTITION,
  CREDENTIAL_PARTITION_PREFIX,
  USAGE_PARTITION_PREFIX,
} from '../../../shared/store/keys/clinics.ts'
import { CLINIC_FAMILIES } from '../../../shared/store/keys/families.ts'
import { OPERATOR_PARTITION_PREFIXES } from '../../../shared/store/keys/operator.ts'
import { checkedCalls } from '../../support/iam/checked-calls.ts'
import { deployedRoles } from '../../support/iam/deployed-roles.ts'
import { logicalIdAt, templateOf, templatesOf } from '../../support/template.ts'
import { recordCalls } from './recorded-calls.ts'

const template = templateOf('dev')

export const logicalIdOf = (id: string): string => logicalIdAt(template, `${id}/Function`)

/** The roles of the dev stage, as if its table had this name. */
export function rolesWith(tableName: string) {
  const stacks = Object.entries(templatesOf('dev')).map(([stackName, one]) => {
    const copy = structuredClone(one)
    for (const { Type, Properties } of Object.values(copy.Resources))
      if (Type === 'AWS::DynamoDB::Table') Object.assign(Properties, { TableName: tableName })
      else if (Type === 'AWS::SES::ConfigurationSet') Object.assign(Properties, { Name: 'mail' })
    return { stackName, template: copy as never }
  })
  return deployedRoles(stacks)
}

/** What a partition of each family begins with. Conditions keep functions from the families that they do not touch. */
const PARTITIONS: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(CLINIC_FAMILIES).map(([name, code]) => [name, `${'x'.repeat(22)}#${code}`]),
  ),
  ...SHARED_PARTITION_PREFIXES,
  credentials: CREDENTIAL_PARTITION_PREFIX,
  'use of credentials': USAGE_PARTITION_PREFIX,
  clinics: CLINIC_DIRECTORY_PARTITION,
  ...Object.fromEntries(OPERATOR_PARTITION_PREFIXES.map((prefix) => [prefix, prefix])),
}

const CLINIC_NAMES = new Map<string, string>(
  Object.entries(CLINIC_FAMILIES).map(([name, code]) => [code, name]),
)

/** The name of the family that a partition belongs to. */
function familyOf(pk: string): string {
  const code = /^[\w-]{22}#([A-Z]+#?)/.exec(pk)?.[1]
  if (code !== undefined) return CLINIC_NAMES.get(code) ?? pk
  return Object.entries(PARTITIONS).find(([, prefix]) => pk.startsWith(prefix))?.[0] ?? pk
}

const isFamily = (name: string): boolean => name in CLINIC_FAMILIES || name in SHARED_PARTITION_PREFIXES

/** Every action on items. */
const TABLE_ACTIONS = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'Scan',
  'ConditionCheckItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
]

export type ExactGrants = ReturnType<typeof exactGrants>

export function exactGrants(tableName: string) {
  const roles = rolesWith(tableName)
  const calls = checkedCalls(roles)
  const tableCalls = new Map<string, Readonly<Record<string, string>>>()
  const familiesOf = (id: string, action: string) =>
    new Set(calls.partitions(logicalIdOf(id), new RegExp(`:${action}$`)).map(familyOf))
  return {
    functionIds: roles.functions.map(({ functionId }) => functionId).sort(),

    /** By id, the calls of functions that were checked, each with its families: what docs/grants.json contains. */
    tableCalls,

    /**
     * Checks that IAM allows every call that `act` makes, and that the role of the function allows nothing else.
     * @param uses its grants besides those for calls on all items of families
     */
    expectExact: async (
      id: string,
      act: () => Promise<void>,
      { wholeTables, updatesOnly = {} }: Worker['uses'] = {},
    ): Promise<void> => {
      const functionId = logicalIdOf(id)
      for (const call of await recordCalls(act)) calls.add(functionId, call)
      const made = TABLE_ACTIONS.flatMap((action) => {
        const excluded = action === 'UpdateItem' ? Object.keys(updatesOnly) : []
        const families = [...familiesOf(id, action)].filter(
          (name) => isFamily(name) && !excluded.includes(name),
        )
        return families.length > 0 ? [[action, families.sort().join(', ')]] : []
      })
      tableCalls.set(id, wholeTables ? {} : Object.fromEntries(made))
      // The families that an action reaches without a call.
      const beyond = async (action: string) => {
        const touched = familiesOf(id, action)
        const others = Object.entries(PARTITIONS).flatMap(([name, prefix]) =>
          touched.has(name) ? [] : [prefix],
        )
        const reached = await calls.reached(functionId, others, new RegExp(`:${action}$`))
        return reached.map((partition) => `${action} ${familyOf(partition)}`)
      }
      expect({
        denied: await calls.denied(functionId),
        unused: await calls.unused(functionId),
        beyond: wholeTables ? [] : (await Promise.all(TABLE_ACTIONS.map(beyond))).flat(),
      }).toEqual({ denied: [], unused: [], beyond: [] })
    },
  }
}
