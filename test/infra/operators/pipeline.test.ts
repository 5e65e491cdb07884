/** The pipeline: what its roles trust and may do, and that its workflows hold no keys and run pinned actions only. */
import { accessSync, constants, globSync, readFileSync } from 'node:fs'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { stageNames } from '../../../infra/settings/stage-file.ts'
import { PipelineStack } from '../../../infra/stacks/pipeline-stack.ts'
import { templateOf } from '../../support/template.ts'

const templateFor = (providerArn?: string): Template =>
  Template.fromStack(new PipelineStack(new App(), { repository: 'practice/clinic', providerArn }))

const STAGES = stageNames()
const ISSUER = 'token.actions.githubusercontent.com'

describe('the roles of the pipeline', () => {
  const template = templateFor()
  const roles = Object.values(template.findResources('AWS::IAM::Role')).map(({ Properties }) => Properties)

  it('are for one environment of one repository each', () => {
    const trusted = roles.map(({ AssumeRolePolicyDocument: { Statement } }) => {
      expect(Statement.length).toBe(1)
      expect(Statement[0].Action).toBe('sts:AssumeRoleWithWebIdentity')
      return Statement[0].Condition
    })
    expect(trusted).toEqual(
      STAGES.map((stage) => ({
        StringEquals: {
          [`${ISSUER}:aud`]: 'sts.amazonaws.com',
          [`${ISSUER}:sub`]: `repo:practice/clinic:environment:${stage}`,
        },
      })),
    )
  })

  it('may assume the roles of the bootstrap stack, read alarms and the format of the table of their stage, and nothing else', () => {
    const policies = Object.values(template.findResources('AWS::IAM::Policy'))
    const actions = policies.map(({ Properties: { PolicyDocument } }) =>
      PolicyDocument.Statement.flatMap(({ Action }: { Action: string }) => Action).sort(),
    )
    const expected = [
      ...[
        'cloudformation:DescribeStacks',
        'cloudwatch:DescribeAlarms',
        'dynamodb:GetItem',
        'kms:Decrypt',
        'logs:PutLogEvents',
        'sts:AssumeRole',
      ],
    ]
    expect(actions).toEqual(STAGES.map(() => expected))
    const dev = JSON.stringify(policies[STAGES.indexOf('dev')])
    expect(dev).toContain('"dynamodb:LeadingKeys":["table#format"]')
    expect(dev).not.toContain('ClinicDeveloperApi-prod')
  })

  it('may deploy to every region of the account, since copies of backups are in another one', () => {
    const [dev] = Object.values(template.findResources('AWS::IAM::Policy'))
    const statements: { Action: string }[] = dev?.Properties.PolicyDocument.Statement
    const assumed = statements.find(({ Action }) => Action === 'sts:AssumeRole')
    expect(JSON.stringify(assumed).match(/,"-\*"\]/g)).toHaveLength(3)
    expect(JSON.stringify(assumed)).not.toContain('AWS::Region')
  })

  it('use the identity provider that the account has, if it is given', () => {
    expect(template.findResources('AWS::IAM::OIDCProvider')).not.toEqual({})
    const existing = templateFor('arn:aws:iam::123456789012:oidc-provider/x')
    expect(existing.findResources('AWS::IAM::OIDCProvider')).toEqual({})
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
    expect(workflow).not.toMatch(/secrets\./)
    expect(workflow).toMatch(/^permissions:\n {2}contents: read/m)
    expect(workflow).not.toMatch(/: write-all|contents: write|pull_request_target/)
    // A script that contains text of a pull request would run it.
    const scripts = [...workflow.matchAll(/run: (?:\|\n((?: {10,}.*\n)+)|(.*))/g)].map(([text]) => text)
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([])
    expect(workflow.split('actions/checkout@').length).toBe(
      workflow.split('persist-credentials: false').length,
    )
  })
})

describe('the deployment of a stage', () => {
  const workflow = readFileSync('.github/workflows/deploy-stage.yml', 'utf8')

  it('returns to the version that was deployed, which it reads before', () => {
    expect(workflow).not.toContain('github.event.before')
    const [, ref] = /ref: \$\{\{ steps\.(.*) \}\}/.exec(workflow) ?? []
    expect(ref).toBe('before.outputs.version')
    const deployments = [...workflow.matchAll(/cdk deploy .*/g)].map(([command]) => command)
    expect(deployments.map((command) => command.match(/-c "version=\$(\w+)"/)?.[1])).toEqual([
      'GITHUB_SHA',
      'VERSION',
    ])
    templateOf('dev', { version: 'abc123' }).hasOutput('Version', { Value: 'abc123' })
    expect(() => templateOf('dev', { version: '$(x)' })).toThrow('version is not the name of a commit')
  })

  it('does not take a state that cannot be read, or an alarm that is new, for a defect', () => {
    expect(workflow).toContain('state=$(.github/alarm-state.sh "$STAGE") || state=unknown')
    expect(workflow).toContain("steps.before.outputs.state != 'None'")
    // A failed substitution in an argument would not end the step.
    expect(workflow).not.toMatch(/echo "\w+=\$\(/)
  })

  it('runs scripts that exist and can be executed', () => {
    const scripts = [...new Set(workflow.match(/\.github\/[\w-]+\.sh/g))]
    expect(scripts.length).toBe(2)
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
