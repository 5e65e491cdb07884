import { runSimulation } from '@cloud-copilot/iam-simulate'
import { ACCOUNT_ID } from '../../../infra/local/template/physical-names.ts'
import type { DeployedRoles, FunctionRole, Statement } from './deployed-roles.ts'
import type { IamRequest } from './requests.ts'

/** A part of a role: one action on one resource. */
export type Grant = { readonly id: string; readonly statement: Statement }

export type Decision = {
  readonly request: IamRequest
  readonly allowed: boolean
  /** The ids of the grants that allow it. */
  readonly grants: readonly string[]
}

/** Splits the statements of a role, so that each part can be found unused. IAM decides on the parts as on the whole. */
export function grantsOf({ statements }: Pick<FunctionRole, 'statements'>): Grant[] {
  return statements.flatMap((statement, at) => {
    const { Action, Resource, ...rest } = statement
    const resources = Resource === undefined ? [undefined] : [Resource].flat()
    return [Action].flat().flatMap((action, n) =>
      resources.map((resource, m) => ({
        id: `S${at}A${n}R${m}`,
        statement: { ...rest, Action: action, ...(resource !== undefined && { Resource: resource }) },
      })),
    )
  })
}

/**
 * Decides on a request as IAM does for the role of a function.
 * @throws Error for a request or a policy that IAM would not accept
 */
export async function decide(
  role: Pick<FunctionRole, 'roleArn' | 'statements'>,
  request: IamRequest,
  { keyPolicies }: Pick<DeployedRoles, 'keyPolicies'>,
): Promise<Decision> {
  const { action, resource, context } = request
  const statements = grantsOf(role).map(({ id, statement }) => ({ Sid: id, ...statement }))
  const keyPolicy = keyPolicies.get(resource)
  const outcome = await runSimulation(
    {
      request: {
        principal: role.roleArn,
        action,
        resource: { resource, accountId: ACCOUNT_ID },
        contextVariables: context,
      },
      identityPolicies: [{ name: 'role', policy: { Version: '2012-10-17', Statement: statements } }],
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      ...(keyPolicy && { resourcePolicy: keyPolicy }),
    },
    {},
  )
  if (outcome.resultType === 'error')
    throw new Error(`IAM cannot decide on ${action} ${resource}: ${JSON.stringify(outcome.errors)}`)
  // A request without an ARN is allowed by statements on everything only.
  const results =
    outcome.resultType === 'single'
      ? [outcome.result]
      : outcome.results.filter(({ resourcePattern }) => resourcePattern === '*')
  for (const { ignoredContextKeys = [] } of results)
    if (ignoredContextKeys.length > 0) throw new Error(`${action} has no ${ignoredContextKeys.join(', ')}`)
  return {
    request,
    allowed: results.some(({ analysis }) => analysis.result === 'Allowed'),
    grants: results.flatMap(({ analysis }) =>
      (analysis.identityAnalysis?.allowStatements ?? []).map(({ explain }) => explain.identifier),
    ),
  }
}
