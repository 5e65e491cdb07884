import { Annotations, CfnOutput, Duration, Stack } from 'aws-cdk-lib'
import { OidcProviderNative, PolicyDocument, Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import {
  alarmGrant,
  cancellationGrant,
  deploymentGrant,
  formatGrants,
  stackGrant,
} from '../operators/pipeline-grants.ts'
import { pipelineStackName } from '../settings/names.ts'
import { canShareAccount, type OtherStage, otherStages, type StageSettings } from '../settings/stages.ts'

const ISSUER = 'token.actions.githubusercontent.com'

/** The only branch that is deployed, to any stage. */
const BRANCH = 'refs/heads/main'

export type PipelineSettings = {
  /** The repository on GitHub: `owner/name`. */
  readonly repository: string
  /** How the subjects of its tokens begin, if not with `repo:owner/name`. */
  readonly subject?: string | undefined
  /** GitHub's identity provider, if the account has it already: there can be only one. */
  readonly providerArn?: string | undefined
}

/**
 * The role by which .github/workflows/deploy-stage.yml deploys a stage, without stored keys. It trusts that workflow only, on the
 * main branch and in the environment of the stage. GitHub issues a token with the environment's name only to jobs that its
 * protection rules let through.
 */
export class PipelineStack extends Stack {
  /** @throws Error if production can be in an account with another stage, or the repository is not `owner/name` */
  constructor(
    scope: Construct,
    stage: StageSettings,
    settings: PipelineSettings,
    others: readonly OtherStage[] = otherStages(stage.name),
  ) {
    super(scope, pipelineStackName(stage.name), {
      description: `Clinic Developer API: the role that deploys the stage ${stage.name}`,
      env: stage.env,
    })
    requireSeparateStages(this, stage, others)
    const provider =
      settings.providerArn ??
      new OidcProviderNative(this, 'GitHub', {
        url: `https://${ISSUER}`,
        clientIds: ['sts.amazonaws.com'],
      }).oidcProviderArn
    const role = new Role(this, 'Deploy', {
      description: `Deploys the stage ${stage.name} of the clinic API`,
      assumedBy: new WebIdentityPrincipal(provider, { StringEquals: trustedClaims(stage.name, settings) }),
      maxSessionDuration: Duration.hours(1),
      inlinePolicies: {
        Grants: new PolicyDocument({
          statements: [
            deploymentGrant(this, stage),
            stackGrant(this, stage),
            ...formatGrants(this, stage),
            alarmGrant(),
            cancellationGrant(this, stage),
          ],
        }),
      },
    })
    new CfnOutput(this, 'DeployRoleArn', { value: role.roleArn })
  }
}

/**
 * The claims of a token of the workflow. Its own branch alone would not do: a workflow of another branch can call the one on the main
 * branch, which would then deploy that other branch.
 */
function trustedClaims(
  stage: string,
  { repository, subject = `repo:${repository}` }: PipelineSettings,
): Record<string, string> {
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository))
    throw new Error(`pipelineRepository must be OWNER/NAME: "${repository}".`)
  const claims = {
    aud: 'sts.amazonaws.com',
    sub: `${subject}:environment:${stage}`,
    ref: BRANCH,
    job_workflow_ref: `${repository}/.github/workflows/deploy-stage.yml@${BRANCH}`,
  }
  return Object.fromEntries(Object.entries(claims).map(([name, value]) => [`${ISSUER}:${name}`, value]))
}

/**
 * The deploy role of a bootstrap stack may update every stack of its account, and CloudFormation then uses the role that the stack had
 * before. So neither a qualifier of its own nor a limited execution role keeps the pipeline of one stage from another stage.
 */
function requireSeparateStages(stack: Stack, stage: StageSettings, others: readonly OtherStage[]): void {
  for (const { name, kind, account } of others) {
    if (!canShareAccount(stage.env.account, account)) continue
    if ([kind, stage.kind].includes('production'))
      throw new Error(
        `The stages "${stage.name}" and "${name}" can be in the same account, where the pipeline of one can change the other, whatever bootstrapQualifier they have. Production needs an account of its own: set account in the files of both stages.`,
      )
    Annotations.of(stack).addWarningV2(
      `clinic-developer-api:shares-account-with-${name}`,
      `The stages "${stage.name}" and "${name}" can be in the same account, where the pipeline of one can change the other, whatever bootstrapQualifier they have.`,
    )
  }
}
