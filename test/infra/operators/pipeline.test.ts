/** The pipeline: whom its role trusts and what it may do, and that its workflows hold no keys and run pinned actions only. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runSimulation } from '@cloud-copilot/iam-simulate'
import { App, Stack } from 'aws-cdk-lib'
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include'
import { describe, expect, it } from 'vitest'
import { ACCOUNT_ID } from '../../../infra/local/template/physical-names.ts'
import { resolveStacks } from '../../../infra/local/template/stacks.ts'
import { ALARMS } from '../../../infra/monitoring/alarm-table.ts'
import type { Settings, StageKind } from '../../../infra/settings/settings.ts'
import type { OtherStage } from '../../../infra/settings/stages.ts'
import { type PipelineSettings, PipelineStack } from '../../../infra/stacks/pipeline-stack.ts'
import { tableFormatKey } from '../../../shared/store/keys/operator.ts'
import {
  type PolicyDocument,
  REGION,
  type Statement,
  VIA_DYNAMODB,
} from '../../support/iam/deployed-roles.ts'
import { decide } from '../../support/iam/evaluation.ts'
import { addStacksOf, settingsOf, templateOf } from '../../support/template.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ISSUER = 'token.actions.githubusercontent.com'
const PROVIDER = `arn:aws:iam::${ACCOUNT_ID}:oidc-provider/${ISSUER}`
const ROLE = `arn:aws:iam::${ACCOUNT_ID}:role/deploy`
/** Not the account of another stage. */
const OTHER_ACCOUNT = '444455556666'

const statementsOf = ({ Policies }: DeployRole): Statement[] =>
  Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)

type DeployRole = {
  readonly AssumeRolePolicyDocument: PolicyDocument
  readonly Policies: readonly { readonly PolicyDocument: PolicyDocument }[]
}

/** A qualifier, so that a grant of the default one would be noticed. */
const SETTINGS: Readonly<Record<string, Settings>> = {
  dev: { account: ACCOUNT_ID, bootstrapQualifier: 'clinicdev' },
  prod: { account: ACCOUNT_ID, region: REGION, bootstrapQualifier: 'clinicprod' },
}

const elsewhere: OtherStage = { name: 'other', kind: 'production', account: OTHER_ACCOUNT }

const stackOf = (
  stage: string,
  settings: Settings,
  pipeline: Partial<PipelineSettings> = {},
  others: readonly OtherStage[] = [elsewhere],
) => {
  const all = { repository: 'practice/clinic', ...pipeline }
  return new PipelineStack(new App(), settingsOf(stage, { ...SETTINGS[stage], ...settings }), all, others)
}

/** The only role of the pipeline of a stage. */
function deployRole(
  stage: string,
  settings: Settings = {},
  pipeline: Partial<PipelineSettings> = {},
): DeployRole {
  const { stackName, node } = stackOf(stage, settings, { providerArn: PROVIDER, ...pipeline })
  const { template } = (node.root as App).synth().getStackByName(stackName)
  const resolved = resolveStacks([{ stackName, template }], { region: REGION, queueUrl: String })
  const [role, ...others] = resolved.resourcesOf<DeployRole>('AWS::IAM::Role')
  expect(others).toEqual([])
  return role?.properties as DeployRole
}

const claimsOf = (stage: string) => ({
  aud: 'sts.amazonaws.com',
  sub: `repo:practice/clinic:environment:${stage}`,
  ref: 'refs/heads/main',
  job_workflow_ref: 'practice/clinic/.github/workflows/deploy-stage.yml@refs/heads/main',
})

/** Each stage, and the stage that it must not reach. */
const STAGES = [
  ['dev', 'prod'],
  ['prod', 'dev'],
] as const

/** The engine knows these claims of another provider only. */
const asKnown = (text: string): string =>
  text.replaceAll(/token\.[\w.]+:(aud|sub)"/g, 'accounts.google.com:$1"')

/** Whether a job whose token has these claims can assume the role. */
async function isTrusted({ AssumeRolePolicyDocument }: DeployRole, claims: object): Promise<boolean> {
  const context = Object.fromEntries(
    Object.entries(claims).map(([name, value]) => [`${ISSUER}:${name}`, value]),
  )
  return simulated({
    request: {
      principal: PROVIDER,
      action: 'sts:AssumeRoleWithWebIdentity',
      resource: { resource: ROLE, accountId: ACCOUNT_ID },
      contextVariables: JSON.parse(asKnown(JSON.stringify(context))),
    },
    resourcePolicy: JSON.parse(asKnown(JSON.stringify(AssumeRolePolicyDocument))),
  })
}

type Simulation = Parameters<typeof runSimulation>[0]

/** Whether the engine allows a request by these policies alone. */
async function simulated(of: Pick<Simulation, 'request'> & Partial<Simulation>): Promise<boolean> {
  const none = { identityPolicies: [], serviceControlPolicies: [], resourceControlPolicies: [] }
  const outcome = await runSimulation({ ...none, ...of }, {})
  if (outcome.resultType !== 'single') throw new Error(JSON.stringify(outcome))
  expect(outcome.result.ignoredContextKeys).toEqual([])
  return outcome.result.analysis.result === 'Allowed'
}

describe.each(STAGES)('the role of the pipeline of %s', (stage, other) => {
  const role = deployRole(stage)
  const CLAIMS = claimsOf(stage)

  it('trusts the deployment of its stage from the main branch', async () => {
    expect(await isTrusted(role, CLAIMS)).toBe(true)
  })

  const branch = 'refs/heads/feature'
  it.each<[string, object]>([
    [
      'another branch',
      { ref: branch, job_workflow_ref: CLAIMS.job_workflow_ref.replace('refs/heads/main', branch) },
    ],
    ['another branch that calls the workflow of main', { ref: branch }],
    ['a tag with the name of the branch', { ref: 'refs/tags/main' }],
    ['a pull request', { ref: 'refs/pull/7/merge' }],
    ['another workflow', { job_workflow_ref: CLAIMS.job_workflow_ref.replace('deploy-stage', 'check') }],
    [
      'the workflow as it is on another branch',
      { job_workflow_ref: CLAIMS.job_workflow_ref.replace('main', 'old') },
    ],
    ['another repository', { sub: CLAIMS.sub.replace('clinic', 'other') }],
    ['another owner', { sub: CLAIMS.sub.replace('practice', 'practice2') }],
    ['another environment', { sub: claimsOf(other).sub }],
    ['no environment', { sub: 'repo:practice/clinic:ref:refs/heads/main' }],
    ['a token for another service', { aud: 'https://github.com/practice' }],
  ])('does not trust %s', async (_, claims) => {
    expect(await isTrusted(role, { ...CLAIMS, ...claims })).toBe(false)
  })

  it('trusts subjects with ids, which tokens of new repositories have', async () => {
    const withIds = deployRole(stage, {}, { subject: 'repo:practice-12/clinic-34' })
    const sub = `repo:practice-12/clinic-34:environment:${stage}`
    expect([await isTrusted(withIds, { ...CLAIMS, sub }), await isTrusted(withIds, CLAIMS)]).toEqual([
      true,
      false,
    ])
  })

  it('needs a repository with its owner', () => {
    expect(() => deployRole(stage, {}, { repository: 'clinic' })).toThrow(
      'pipelineRepository must be OWNER/NAME',
    )
  })

  it('makes the identity provider unless the account has it', () => {
    const typesOf = (pipeline: Partial<PipelineSettings>) =>
      stackOf(stage, {}, pipeline)
        .node.findAll()
        .map(({ node }) => node.id)
    expect(typesOf({})).toContain('GitHub')
    expect(typesOf({ providerArn: PROVIDER })).not.toContain('GitHub')
  })

  const statements = statementsOf(deployRole(stage, { backups: 'on', backupCopyRegion: 'eu-west-1' }))
  const arn = (service: string, resource: string, region = REGION) =>
    `arn:aws:${service}:${region}:${ACCOUNT_ID}:${resource}`
  const bootstrapRole = (name: string) => `arn:aws:iam::${ACCOUNT_ID}:role/cdk-${name}`
  const deployment = (qualifier: string, region = REGION) =>
    bootstrapRole(`${qualifier}-deploy-role-${ACCOUNT_ID}-${region}`)
  const stack = (name: string) => arn('cloudformation', `stack/ClinicDeveloperApi-${name}/1`)
  const table = (name: string) => arn('dynamodb', `table/ClinicDeveloperApi-${name}-Data-Table1`)
  const keys = (...LeadingKeys: string[]) => ({ 'dynamodb:LeadingKeys': LeadingKeys })
  const isAllowed = async (
    action: string,
    resource: string,
    context: Record<string, string | string[]> = {},
  ) =>
    (await decide({ roleArn: ROLE, statements }, { action, resource, context }, { keyPolicies: new Map() }))
      .allowed

  it.each<[string, string, Record<string, string | string[]>?]>([
    ['sts:AssumeRole', deployment(`clinic${stage}`)],
    ['sts:AssumeRole', deployment(`clinic${stage}`, 'eu-west-1')],
    ['sts:AssumeRole', bootstrapRole(`clinic${stage}-file-publishing-role-${ACCOUNT_ID}-${REGION}`)],
    ['cloudformation:DescribeStacks', stack(stage)],
    ['cloudformation:GetTemplate', stack(`${stage}-Data`)],
    ['dynamodb:GetItem', table(stage), keys('table#format')],
    ['cloudwatch:DescribeAlarms', '*'],
    ['cloudformation:CancelUpdateStack', stack(stage)],
    ['cloudformation:CancelUpdateStack', stack(`${stage}-Workers`)],
  ])('may %s on %s', async (action, resource, context) => {
    expect(await isAllowed(action, resource, context)).toBe(true)
  })

  it.each<[string, string, Record<string, string | string[]>?]>([
    ['sts:AssumeRole', deployment('hnb659fds')],
    ['sts:AssumeRole', deployment(`clinic${other}`)],
    ['sts:AssumeRole', deployment(`clinic${stage}`, 'eu-central-1')],
    ['sts:AssumeRole', deployment(`clinic${stage}`).replaceAll(ACCOUNT_ID, OTHER_ACCOUNT)],
    ['sts:AssumeRole', bootstrapRole(`clinic${stage}-lookup-role-${ACCOUNT_ID}-${REGION}`)],
    ['sts:AssumeRole', bootstrapRole(`clinic${stage}-cfn-exec-role-${ACCOUNT_ID}-${REGION}`)],
    ['cloudformation:GetTemplate', stack(other)],
    ['cloudformation:UpdateStack', stack(stage)],
    ['cloudformation:CancelUpdateStack', stack(`${stage}-Data`)],
    ['cloudformation:CancelUpdateStack', stack(other)],
    ['dynamodb:GetItem', table(stage), keys(`${'x'.repeat(22)}#P`)],
    ['dynamodb:GetItem', table(other), keys('table#format')],
    ['dynamodb:Query', table(stage), keys('table#format')],
    [
      'logs:PutLogEvents',
      arn('logs', `log-group:ClinicDeveloperApi-${stage}-Data-OperatorLog:log-stream:commands`),
    ],
    [
      'logs:GetLogEvents',
      arn('logs', `log-group:ClinicDeveloperApi-${stage}-Data-EndpointLogs:log-stream:1`),
    ],
  ])('may not %s on %s', async (action, resource, context) => {
    expect(await isAllowed(action, resource, context)).toBe(false)
  })

  // The engine does not know the keys of an encryption context.
  it('may decrypt tables of its stage only, through DynamoDB', () => {
    const decrypting = statements.filter(({ Action }) => Action === 'kms:Decrypt')
    expect(decrypting.map(({ Condition }) => Condition)).toEqual([
      {
        StringEquals: { 'kms:ViaService': VIA_DYNAMODB },
        StringLike: { 'kms:EncryptionContext:aws:dynamodb:tableName': `ClinicDeveloperApi-${stage}-*` },
      },
    ])
  })
})

/** What the role that the pipeline assumes may do to any stack, in the bootstrap template of the CDK's command line. */
function bootstrapStatements(): Statement[] {
  const stack = new Stack(new App(), 'Bootstrap')
  const templateFile = 'node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml'
  new CfnInclude(stack, 'Template', { templateFile })
  const { Resources } = Template.fromStack(stack).toJSON()
  const role: DeployRole = Resources.DeploymentActionRole.Properties
  return statementsOf(role).filter(({ Resource, Condition }) => Resource === '*' && !Condition)
}

/** Whether the deploy role of the account of `dev` may do this to a stack of production in an account. */
async function mayDeployProduction(action: string, accountId: string): Promise<boolean> {
  const resource = `arn:aws:cloudformation:${REGION}:${accountId}:stack/ClinicDeveloperApi-prod/1`
  const policy = { Version: '2012-10-17', Statement: bootstrapStatements() }
  return simulated({
    request: {
      principal: `arn:aws:iam::${ACCOUNT_ID}:role/cdk-clinicdev-deploy-role-${ACCOUNT_ID}-${REGION}`,
      action: `cloudformation:${action}`,
      resource: { resource, accountId },
      contextVariables: {},
    },
    identityPolicies: [{ name: 'deploy', policy }],
  })
}

describe('a bootstrap stack', () => {
  it.each(['CreateChangeSet', 'ExecuteChangeSet', 'UpdateStack', 'DeleteStack'])(
    'with a qualifier of its own lets a pipeline %s of any stage in its account, and of none in another',
    async (action) => {
      expect(await mayDeployProduction(action, ACCOUNT_ID)).toBe(true)
      expect(await mayDeployProduction(action, OTHER_ACCOUNT)).toBe(false)
    },
  )

  it.each<[string, StageKind, string | undefined]>([
    ['dev', 'production', ACCOUNT_ID],
    ['dev', 'production', undefined],
    ['prod', 'development', ACCOUNT_ID],
    ['prod', 'development', undefined],
    ['prod', 'production', ACCOUNT_ID],
  ])(
    'is not made for a pipeline of %s if a stage of %s can be in the same account (%s)',
    (stage, kind, account) => {
      const neighbour = { ...elsewhere, kind, account }
      expect(() => stackOf(stage, {}, {}, [elsewhere, neighbour])).toThrow(
        `The stages "${stage}" and "other" can be in the same account, where the pipeline of one can change the other, whatever bootstrapQualifier they have. Production needs an account of its own: set account in the files of both stages.`,
      )
    },
  )

  it('can be shared by stages of development, with a warning', () => {
    const warnings = (account: string) =>
      Annotations.fromStack(
        stackOf('dev', {}, {}, [{ name: 'other', kind: 'development', account }]),
      ).findWarning('*', Match.stringLikeRegexp('can change the other')).length
    expect([warnings(ACCOUNT_ID), warnings(OTHER_ACCOUNT)]).toEqual([1, 0])
  })

  it('needs the accounts of all stages in their files', () => {
    expect(() => new PipelineStack(new App(), settingsOf('prod'), { repository: 'practice/clinic' })).toThrow(
      'The stages "prod" and "dev" can be in the same account',
    )
  })

  it('of the stage deploys all of its stacks', () => {
    const app = new App()
    addStacksOf('prod', app, {
      bootstrapQualifier: 'clinicprod',
      backups: 'on',
      backupCopyRegion: 'eu-west-1',
    })
    const roles = app.synth().stacks.map(({ assumeRoleArn }) => assumeRoleArn)
    expect(roles.length).toBeGreaterThan(5)
    for (const role of roles) expect(role).toContain('role/cdk-clinicprod-deploy-role-')
  })

  it.each(['', 'Clinic', 'clinic-prod', 'a'.repeat(11)])('cannot be named %j', (bootstrapQualifier) => {
    expect(() => settingsOf('prod', { bootstrapQualifier })).toThrow(/- bootstrapQualifier must have 1 to 10/)
  })
})

describe.each(globSync('.github/workflows/*.yml'))('%s', (file) => {
  const workflow = readFileSync(file, 'utf8')

  it('runs only its own workflows, and actions that are pinned by the digest of a commit', () => {
    const used = [...workflow.matchAll(/uses: (.*)/g)].map(([, name = '']) => name)
    expect(used.length).toBeGreaterThan(0)
    const loose = used.filter((name) => !/^(\.\/|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$)/.test(name))
    expect(loose).toEqual([])
  })

  it('stores no keys, and grants no more than it needs', () => {
    // The credential of a test clinic.
    expect(workflow.match(/secrets\.(?!SMOKE_CREDENTIAL )/g)).toBeNull()
    expect(workflow).toMatch(/^permissions:\n {2}contents: read/m)
    expect(workflow).not.toMatch(/: write-all|contents: write|pull_request_target|workflow_run/)
    // A script that contains text of a pull request would run it.
    const scripts = [...workflow.matchAll(/run: (?:\|\n((?: {10,}.*\n)+)|(.*))/g)].map(([text]) => text)
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([])
    expect(workflow.split('actions/checkout@').length).toBe(
      workflow.split('persist-credentials: false').length,
    )
  })

  it('runs no code of dependencies where a token is issued, and no script of their installation', () => {
    const [, jobs = ''] = workflow.split(/^jobs:$/m)
    const privileged = jobs.split(/^(?= {2}\w+:$)/m).filter((job) => job.includes('id-token: write'))
    const scripts = globSync('.github/*.sh').map((script) => readFileSync(script, 'utf8'))
    const run = [...privileged, ...scripts].flatMap((text) =>
      text.match(/\b(npm (?!view|publish)\w+|npx|pip3?\b|node (?!deployment\/cdk|bin\/smoke))/g),
    )
    expect(run.filter((command) => command !== null)).toEqual([])
    const installations = [...workflow.matchAll(/npm ci(.*)/g)].map(([, options]) => options)
    expect(installations.filter((options) => !options?.startsWith(' --ignore-scripts'))).toEqual([])
    // What tests write into a cache of main would be restored where a deployment is built.
    expect(workflow).not.toMatch(/cache:|actions\/cache@/)
  })
})

/** Lines of the AWS CLI about two alarms, one of which is on or not. */
const ALARM_LINES = { on: 'OK\\tarn:1\\nALARM\\tarn:2\\n', off: 'OK\\tarn:1\\nINSUFFICIENT_DATA\\tarn:2\\n' }

describe('the deployment of a stage', () => {
  const workflow = readFileSync('.github/workflows/deploy-stage.yml', 'utf8')

  it('returns to the version that was deployed, which it reads before', () => {
    expect(workflow).not.toContain('github.event.before')
    expect(workflow).toContain('-c "version=$GITHUB_SHA"')
    expect(workflow).toMatch(/VERSION: \$\{\{ steps\.before\.outputs\.version \}\}/)
    // A failed substitution in an argument would not end the step.
    expect(workflow).not.toMatch(/echo "\w+=\$\(/)
    templateOf('dev', { version: 'abc123' }).hasOutput('Version', { Value: 'abc123' })
    expect(() => templateOf('dev', { version: '$(x)' })).toThrow('version is not the name of a commit')
  })

  it('returns to the version before if the deployment fails, whatever alarms are on', () => {
    const [, condition, commands = ''] =
      workflow.match(/name: Deploy the version before\n {8}if: (.*)\n {8}run: \|\n((?: {10}.*\n?)+)/) ?? []
    expect(condition).toContain("steps.deploy.outcome == 'failure'")
    // CloudFormation deletes no export of the data stack that new code imports.
    const { calls } = runWith({ node: 'echo "$*" >> "$FOLDER/calls"' }, 'bash', '-ec', commands)
    expect(calls).toEqual(
      ['ClinicDeveloperApi-dev-Workers ClinicDeveloperApi-dev --exclusively', '--all'].map(
        (stacks) =>
          `deployment/cdk/bin/cdk deploy ${stacks} --require-approval never ${NO_TRIGGERS} --app before/assembly`,
      ),
    )
    const deploy = readFileSync('.github/workflows/deploy.yml', 'utf8')
    expect(deploy.match(/SMOKE_CREDENTIAL: \$\{\{ secrets\.SMOKE_CREDENTIAL \}\}/g)).toHaveLength(2)
    // The job installs nothing: what it runs imports only modules of Node and the client.
    expect(readFileSync('bin/smoke.ts', 'utf8').match(/ from '.*'/g)).toEqual([
      " from 'node:timers/promises'",
      " from 'node:util'",
      " from '../shared/clients/typescript/client.ts'",
    ])
  })

  /** Runs a program of the pipeline with stand-ins for command lines, which get their arguments in $1, $2 and so on. */
  const runWith = (commands: Record<string, string>, program: string, ...args: string[]) => {
    const folder = temporaryFolder()
    for (const [command, body] of Object.entries(commands))
      writeFileSync(join(folder, command), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
    const env = {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      FOLDER: folder,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_SHA: 'new',
      STAGE: 'dev',
      SMOKE_URL: 'https://api.praxis.example',
    }
    const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8' })
    const calls = join(folder, 'calls')
    return {
      status,
      stdout,
      stderr,
      calls: existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [],
    }
  }

  it.each([
    ['ahead', 0],
    ['identical', 0],
    ['diverged', 1],
    ['behind', 1],
  ])('of a commit that main is %s of downloads it, or fails: %i', (status, code) => {
    const gh = `case $1 in api) echo ${status} ;; run) [ $2 = list ] && echo 7 || echo downloaded $3 ;; esac`
    const { status: exit, stdout } = runWith({ gh }, '.github/download-deployment.sh', 'dev', 'old', 'before')
    expect([exit, stdout]).toEqual([code, code === 0 ? 'downloaded 7\n' : ''])
  })

  it.each([
    ['a'.repeat(40), 'a'.repeat(40)],
    ['x\nstate=OK', 'None'],
    ['None', 'None'],
  ])('reads the version %j as %s', (output, version) => {
    const { stdout } = runWith({ aws: `printf '%s' '${output}'` }, '.github/deployed-version.sh', 'dev')
    expect(stdout).toBe(`${version}\n`)
  })

  /** Runs the deployment of dev. `smoke` and `update` are commands that decide whether the smoke test passes, and an update succeeds. */
  const deployWith = ({
    alarms = ALARM_LINES.off,
    reading = 0,
    diff = 1,
    smoke = 'true',
    update = 'true',
  } = {}) => {
    const aws = `
      case $2 in
        describe-alarms) printf '${alarms}'; exit ${reading} ;;
        *) echo "$2 $4" >> "$FOLDER/calls"; touch "$FOLDER/cancelled" ;;
      esac`
    const node = `
      case "$*" in bin/smoke.ts*) ${smoke}; exit ;; *' diff '*) exit ${diff} ;; esac
      echo "$*" | sed 's/.* --require-approval never //' >> "$FOLDER/calls"
      case "$*" in *--exclusively*) ${update} ;; esac`
    return runWith({ aws, node, sleep: '/bin/sleep 0.1' }, '.github/deploy.sh', 'dev')
  }

  const NO_TRIGGERS = '--rollback-trigger-alarm-arns none --monitoring-time-minutes 0'
  const FIRST = 'ClinicDeveloperApi-dev-Data ClinicDeveloperApi-SmsReceipts'
  const WORKERS = 'ClinicDeveloperApi-dev-Workers --exclusively'
  const API = 'ClinicDeveloperApi-dev --exclusively'
  const TRIGGERS =
    '--rollback-trigger-alarm-arns arn:1 --rollback-trigger-alarm-arns arn:2 --monitoring-time-minutes 10'

  const WATCHED = [FIRST, `${WORKERS} ${TRIGGERS}`, `${API} ${TRIGGERS}`, `--all ${NO_TRIGGERS}`]
  const UNWATCHED = [FIRST, `${WORKERS} ${NO_TRIGGERS}`, `${API} ${NO_TRIGGERS}`, `--all ${NO_TRIGGERS}`]
  it.each([
    ['has CloudFormation watch the alarms while it updates code', {}, 0, WATCHED],
    ['has it watch none if they are on, for a repair', { alarms: ALARM_LINES.on }, 0, UNWATCHED],
    ['has it watch none if they do not exist yet', { alarms: '' }, 0, UNWATCHED],
    ['does not wait for workers that have not changed', { diff: 0 }, 0, WATCHED.toSpliced(1, 1)],
    ['deploys nothing if the states of the alarms cannot be read', { reading: 255 }, 255, []],
    ['deploys nothing else if a stack is rolled back', { update: 'false' }, 1, WATCHED.slice(0, 2)],
  ])('%s', (_, given, status, calls) => {
    expect(deployWith(given)).toMatchObject({ status, calls })
  })

  it('cancels the update of a stack while the smoke test fails, and deploys nothing else', () => {
    const { status, calls } = deployWith({
      smoke: '! grep -q Workers "$FOLDER/calls"',
      update: 'until [ -e "$FOLDER/cancelled" ]; do /bin/sleep 0.05; done; exit 1',
    })
    expect(status).toBe(1)
    expect([...new Set(calls)]).toEqual([
      FIRST,
      `${WORKERS} ${TRIGGERS}`,
      'cancel-update-stack ClinicDeveloperApi-dev-Workers',
    ])
  })

  it.each([
    ['passes after it', 0, `grep -q '${API}' "$FOLDER/calls"`],
    ['fails after it, too', 1, 'false'],
  ])('deploys a repair, before which the smoke test fails, and reports whether it %s', (_, code, smoke) => {
    const update = '/bin/sleep 0.4'
    const { status, calls } = deployWith({ alarms: ALARM_LINES.on, smoke, update })
    const deployed = [FIRST, `${WORKERS} ${NO_TRIGGERS}`, `${API} ${NO_TRIGGERS}`]
    expect([status, calls]).toEqual([code, code === 0 ? [...deployed, `--all ${NO_TRIGGERS}`] : deployed])
  })

  it('watches the alarms with periods of a minute, which are no more than CloudFormation takes', () => {
    const [, ids = ''] = /for id in (.*); do/.exec(readFileSync('.github/deploy.sh', 'utf8')) ?? []
    const ofAMinute = ALARMS.filter(
      ({ severity, minutes }) => severity === 'patients-affected' && minutes === 1,
    )
    expect(ids.split(' ').sort()).toEqual(ofAMinute.map(({ id }) => id).sort())
    expect(ofAMinute.length).toBeLessThanOrEqual(5)
    const alarm = (AlarmName: string) => ({ Properties: Match.objectLike({ AlarmName }) })
    for (const id of ids.split(' '))
      templateOf('dev').hasResource('AWS::CloudWatch::Alarm', alarm(`clinic-developer-api-dev-${id}`))
  })

  it('uses options that the command line of the CDK has', () => {
    const { stdout } = spawnSync('npx', ['cdk', 'deploy', '--help'], { encoding: 'utf8' })
    for (const option of ['--rollback-trigger-alarm-arns', '--monitoring-time-minutes', "'none' to clear"])
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(option)
  })

  it('runs scripts that exist and can be executed', () => {
    const scripts = [...new Set(workflow.match(/\.github\/[\w-]+\.sh/g))]
    expect(scripts.length).toBe(4)
    for (const script of scripts) accessSync(script, constants.X_OK)
  })
})

it('deploys prod after dev, and both in an environment of their own', () => {
  const deploy = readFileSync('.github/workflows/deploy.yml', 'utf8')
  expect(deploy).toMatch(/ {2}dev:\n {4}needs: check\n/)
  expect(deploy).toMatch(/ {2}prod:\n {4}needs: dev\n/)
  expect(readFileSync('.github/workflows/deploy-stage.yml', 'utf8')).toMatch(
    / {4}environment: \$\{\{ inputs\.stage \}\}\n/,
  )
})

it('reads the format of the table where the tool records it', () => {
  const script = readFileSync('.github/table-format.sh', 'utf8')
  const { pk, sk } = tableFormatKey
  expect(script).toContain(`--key '{"pk":{"S":"${pk}"},"sk":{"S":"${sk}"}}' --query Item.format.N`)
})
