/** Every step of every runbook is allowed by the roles that its page names, and every role and permission is needed by a step. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { OPERATIONS } from '../../../bin/clinic/api/operations.ts'
import { ACCOUNT_ID } from '../../../infra/local/template/physical-names.ts'
import { resolveStacks } from '../../../infra/local/template/stacks.ts'
import type { ResolvedTemplate } from '../../../infra/local/template/template.ts'
import { COMMANDS } from '../../../shared/operator/commands.ts'
import { type PolicyDocument, REGION } from '../../support/iam/deployed-roles.ts'
import { decide } from '../../support/iam/evaluation.ts'
import { templatesOf } from '../../support/template.ts'

/** A step: a call that IAM decides on, or a role that the step needs as a whole. */
type Step = { readonly action: string; readonly resource: string } | { readonly role: string }

type Page = {
  readonly name: string
  readonly text: string
  readonly look: string[]
  readonly repair: string[]
}

const arn = (service: string, resource: string): string =>
  `arn:aws:${service}:${REGION}:${ACCOUNT_ID}:${resource}`

const KEY = arn('kms', 'key/11111111-0000-4000-8000-000000000000')
/** A key leaves the decision to the policies of the account's roles. */
const KEY_POLICY = {
  Statement: [
    {
      Effect: 'Allow',
      Principal: { AWS: `arn:aws:iam::${ACCOUNT_ID}:root` },
      Action: 'kms:*',
      Resource: '*',
    },
  ],
} as const

const ADMINISTRATOR: Step[] = [{ role: 'administrator' }]

const call = (action: string, resource = '*'): Step[] => [{ action, resource }]

/** What the commands of the AWS CLI call. */
const AWS_COMMANDS: Record<string, Step[]> = {
  'backup list-backup-jobs': call('backup:ListBackupJobs'),
  'backup list-copy-jobs': call('backup:ListCopyJobs'),
  'backup start-restore-job': ADMINISTRATOR,
  'cloudtrail lookup-events': call('cloudtrail:LookupEvents'),
  'cloudwatch get-metric-statistics': call('cloudwatch:GetMetricStatistics'),
  'dynamodb describe-table': ADMINISTRATOR,
  'events describe-rule': call('events:DescribeRule', arn('events', 'rule/clinic-dev-canary')),
  'events enable-rule': ADMINISTRATOR,
  'events list-rules': call('events:ListRules'),
  'events update-connection': ADMINISTRATOR,
  'kms cancel-key-deletion': ADMINISTRATOR,
  'kms describe-key': call('kms:DescribeKey', KEY),
  'kms enable-key': ADMINISTRATOR,
  'lambda get-account-settings': call('lambda:GetAccountSettings'),
  'lambda get-function-concurrency': call(
    'lambda:GetFunctionConcurrency',
    arn('lambda', 'function:clinic-dev-send-email'),
  ),
  'lambda get-function-configuration': call(
    'lambda:GetFunctionConfiguration',
    arn('lambda', 'function:clinic-dev-send-email'),
  ),
  'lambda list-event-source-mappings': call('lambda:ListEventSourceMappings'),
  'lambda update-event-source-mapping': ADMINISTRATOR,
  's3 ls': ADMINISTRATOR,
  's3api put-object-lock-configuration': ADMINISTRATOR,
  'logs describe-log-groups': call('logs:DescribeLogGroups'),
  'logs tail': call(
    'logs:FilterLogEvents',
    arn('logs', 'log-group:ClinicDeveloperApi-dev-Data-AccessTrailDeliveryErrors12AB:log-stream:'),
  ),
  'secretsmanager put-secret-value': ADMINISTRATOR,
  'sesv2 create-email-identity': ADMINISTRATOR,
  'sesv2 get-account': call('ses:GetAccount'),
  'sesv2 get-email-identity': call('ses:GetEmailIdentity', arn('ses', 'identity/your.domain')),
  'sesv2 put-account-details': ADMINISTRATOR,
  'sesv2 put-email-identity-mail-from-attributes': ADMINISTRATOR,
  'sns get-sms-attributes': call('sns:GetSMSAttributes'),
  'sns get-sms-sandbox-account-status': call('sns:GetSMSSandboxAccountStatus'),
  'sns set-sms-attributes': ADMINISTRATOR,
  'sqs get-queue-attributes': call('sqs:GetQueueAttributes', arn('sqs', 'clinic-dev-emails')),
  'sqs get-queue-url': call('sqs:GetQueueUrl', arn('sqs', 'clinic-dev-emails')),
}

let stacks: ResolvedTemplate
let onCall: { roleArn: string; statements: PolicyDocument['Statement'] }

/** What the sentences of a page ask for, besides commands. */
const SENTENCES: readonly (readonly [RegExp, () => Step[]])[] = [
  [
    /saved query|Logs Insights/,
    () => [
      ...stacks
        .resourcesOf<object>('AWS::Logs::LogGroup')
        .filter(({ id }) => /^(Endpoint|Worker|Gateway)Logs/.test(id))
        .flatMap(({ id }) =>
          call('logs:StartQuery', stacks.attribute(id, 'Arn').replace(/:\*$/, ':log-stream:')),
        ),
      ...['logs:DescribeQueryDefinitions', 'logs:GetQueryResults', 'logs:StopQuery'].flatMap((action) =>
        call(action),
      ),
    ],
  ],
  [
    /widget|dashboard/,
    () => [
      ...call(
        'cloudwatch:GetDashboard',
        `arn:aws:cloudwatch::${ACCOUNT_ID}:dashboard/clinic-developer-api-dev`,
      ),
      ...call('cloudwatch:GetMetricData'),
      ...call('cloudwatch:ListDashboards'),
    ],
  ],
  [
    /events of the stack/,
    () =>
      ['cloudformation:DescribeStacks', 'cloudformation:DescribeStackEvents'].flatMap((action) =>
        call(action, arn('cloudformation', 'stack/ClinicDeveloperApi-dev-Workers/1')),
      ),
  ],
  [/\b[Dd]eploy (again|with|the)\b|npx cdk|npm run preflight/, () => ADMINISTRATOR],
]

const WITHOUT_STACK = /^--help/
const isOperation = (text: string): boolean =>
  OPERATIONS.some(({ noun, verb }) => `${text} `.startsWith(`${noun} ${verb} `))

const commandSteps = (text: string): Step[] => {
  const command = text.replaceAll(/\s+/g, ' ').replace(/^--stack \S+ /, '')
  // A command in a sentence may begin with the name of the tool, which is also a noun.
  const given = [command, command.replace(/^clinic /, '')].map((words) => `${words} `)
  const name = Object.keys(COMMANDS)
    .filter((known) => given.some((words) => words.startsWith(`${known} `)))
    .sort((a, b) => b.length - a.length)[0]
  // The credential of a command of the API is made with `support`.
  if (name === undefined) return isOperation(command) ? [{ role: 'support' }] : []
  const withOption = Object.keys(COMMANDS).find(
    (known) => known.startsWith(`${name} --`) && command.includes(known.slice(name.length + 1)),
  )
  return [{ role: COMMANDS[withOption ?? name]?.role ?? name }]
}

function stepsIn(text: string): Step[] {
  const aws = [...text.matchAll(/\baws ([a-z0-9]+ [a-z-]+)/g)].flatMap(([, command = '']) => {
    const steps = AWS_COMMANDS[command]
    if (!steps) throw new Error(`What does "aws ${command}" call? AWS_COMMANDS does not say.`)
    return steps
  })
  const ofTool = [...text.matchAll(/npm run clinic -- ([^\n#]*)|`([a-z-]+ [^`]+)`/g)]
  const sentences = SENTENCES.flatMap(([pattern, steps]) => (pattern.test(text) ? steps() : []))
  const commands = ofTool.flatMap(([, block, inline = '']) => {
    const steps = commandSteps(block ?? inline)
    if (block !== undefined && steps.length === 0 && !WITHOUT_STACK.test(block))
      throw new Error(`No role has the command "${block}".`)
    return steps
  })
  return [...aws, ...commands, ...sentences]
}

const rolesIn = (text = ''): string[] => [
  ...[...text.matchAll(/`([a-z-]+)`/g)].map(([, role = '']) => role),
  ...(text.includes('an administrator') ? ['administrator'] : []),
]

/** Pages that list what there is, and have no steps. */
const REFERENCES = ['README', 'access', 'capacity', 'commands']

/** Pages of alarms name the roles to look, and those to repair. The others name all roles. */
const pages = globSync('docs/operate/*.md').flatMap((file): Page[] => {
  const name = basename(file, '.md')
  if (REFERENCES.includes(name)) return []
  const text = readFileSync(file, 'utf8')
  const [, look, repair] = /^Roles: (.*?)(?: to look(?:, (.*) to repair)?)?\.$/m.exec(text) ?? []
  return [{ name, text, look: rolesIn(look), repair: rolesIn(repair) }]
})

const partsOf = ({ text, look, repair }: Page): [string, string[]][] => {
  const [before = '', after = ''] = text.split('## What to do')
  return [
    [before, look],
    [after, [...new Set([...look, ...repair])]],
  ]
}

async function allowedBy(step: Step, roles: readonly string[]): Promise<string | undefined> {
  if ('role' in step) return roles.find((role) => role === step.role)
  const administrator = roles.find((role) => role === 'administrator')
  if (!roles.includes('on-call')) return administrator
  const { allowed } = await decide(
    onCall,
    { ...step, context: {} },
    { keyPolicies: new Map([[KEY, KEY_POLICY]]) },
  )
  return allowed ? 'on-call' : administrator
}

beforeAll(() => {
  const synthesized = Object.entries(templatesOf('dev')).map(([stackName, template]) => ({
    stackName,
    template,
  }))
  stacks = resolveStacks(synthesized as Parameters<typeof resolveStacks>[0], {
    region: REGION,
    queueUrl: String,
  })
  const policy = stacks
    .resourcesOf<{ PolicyDocument: PolicyDocument; Description: string }>('AWS::IAM::ManagedPolicy')
    .find(({ id }) => id.includes('oncall'))
  onCall = {
    roleArn: arn('iam', 'role/on-call'),
    statements: policy?.properties.PolicyDocument.Statement ?? [],
  }
})

it.each(pages)('the roles that $name names allow its steps, and each is needed', async (page) => {
  expect(page.look.length).toBeGreaterThan(0)
  const used = new Set<string>()
  for (const [text, roles] of partsOf(page))
    for (const step of stepsIn(text)) {
      const role = await allowedBy(step, roles)
      expect([page.name, step, role]).toEqual([page.name, step, expect.any(String)])
      used.add(role ?? '')
    }
  expect([...used].sort()).toEqual([...new Set([...page.look, ...page.repair])].sort())
})

it('the role of the person on call may do nothing that no runbook needs, but to find alarms, metrics and senders', () => {
  const needed = pages.flatMap((page) =>
    stepsIn(page.text).flatMap((step) => ('action' in step ? [step.action] : [])),
  )
  const actions = onCall.statements.flatMap(({ Action }) => Action)
  expect(actions.filter((action) => !needed.includes(action)).sort()).toEqual([
    'cloudwatch:DescribeAlarmHistory',
    'cloudwatch:DescribeAlarms',
    'cloudwatch:ListMetrics',
    'ses:ListEmailIdentities',
  ])
})

it('the role of the person on call reads no table, no message of a queue and no trail', async () => {
  const denied = [
    ['dynamodb:GetItem', arn('dynamodb', 'table/clinic')],
    ['sqs:ReceiveMessage', arn('sqs', 'clinic-dev-emails')],
    ['s3:GetObject', 'arn:aws:s3:::trail/x'],
    ['kms:Decrypt', KEY],
    [
      'logs:StartQuery',
      arn('logs', 'log-group:ClinicDeveloperApi-dev-Data-AccessTrailOperatorLog1:log-stream:'),
    ],
  ] as const
  for (const [action, resource] of denied)
    expect([action, await allowedBy({ action, resource }, ['on-call'])]).toEqual([action, undefined])
})
