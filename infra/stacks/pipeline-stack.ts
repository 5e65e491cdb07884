import { CfnOutput, Duration, Stack } from 'aws-cdk-lib'
import { OidcProviderNative, Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import { alarmGrant, deploymentGrant, formatCheckGrants } from '../operators/pipeline-grants.ts'
import { PIPELINE_STACK } from '../settings/names.ts'
import { stageNames } from '../settings/stage-file.ts'

const ISSUER = 'token.actions.githubusercontent.com'

export type PipelineSettings = {
  /** The repository on GitHub: `owner/name`. */
  readonly repository: string
  /** GitHub's identity provider, if the account has it already: there can be only one. */
  readonly providerArn: string | undefined
}

/**
 * The roles by which .github/workflows deploys, one for each stage, without stored keys. GitHub issues a token with the
 * environment's name only to jobs that its protection rules let through.
 */
export class PipelineStack extends Stack {
  constructor(scope: Construct, { repository, providerArn }: PipelineSettings) {
    super(scope, PIPELINE_STACK, { description: 'Clinic Developer API: roles of the pipeline' })
    const provider =
      providerArn ??
      new OidcProviderNative(this, 'GitHub', {
        url: `https://${ISSUER}`,
        clientIds: ['sts.amazonaws.com'],
      }).oidcProviderArn
    for (const stage of stageNames()) {
      const role = new Role(this, stage, {
        description: `Deploys the stage ${stage} of the clinic API`,
        assumedBy: new WebIdentityPrincipal(provider, {
          StringEquals: {
            [`${ISSUER}:aud`]: 'sts.amazonaws.com',
            [`${ISSUER}:sub`]: `repo:${repository}:environment:${stage}`,
          },
        }),
        maxSessionDuration: Duration.hours(1),
      })
      for (const statement of [deploymentGrant(this), alarmGrant(), ...formatCheckGrants(this, stage)])
        role.addToPolicy(statement)
      new CfnOutput(this, `${stage}DeployRoleArn`, { value: role.roleArn })
    }
  }
}
