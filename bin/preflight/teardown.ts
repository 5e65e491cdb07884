import { canaryName, pipelineStackName } from '../../infra/settings/names.ts'
import type { StageSettings } from '../../infra/settings/stages.ts'
import type { Resource } from './resources.ts'

/** What remains of a stage when its stacks are deleted, a line each: what they retain, and what none of them has. */
export const remainsOf = (stage: StageSettings, resources: readonly Resource[]): string[] => [
  ...resources
    .filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy.startsWith('Retain'))
    .map(({ stack, Type, id }) => `${stack}: ${Type} ${id}`),
  ...outsideOf(stage).map((what) => `no stack of the stage: ${what}`),
]

/** What the steps of docs/operate/going-to-production.md, restores and AWS itself create for a stage. */
function outsideOf({ name, domain, messaging, monitoring, smsReceipts, recovery }: StageSettings): string[] {
  const zone = domain?.hostedZone
  return [
    'restored tables, with names that begin with the name of the table',
    ...(recovery.adoptedTable ? [`the table in use, ${recovery.adoptedTable.name}`] : []),
    `the SES identity of ${messaging.emailFrom}`,
    ...(domain ? [`the certificate ${domain.certificateArn}, and the DNS records of ${domain.name}`] : []),
    ...(zone ? [`the hosted zone ${zone.name} (${zone.id})`] : []),
    ...(monitoring.canary ? [`the secret ${canaryName(name)}`] : []),
    ...(smsReceipts ? ['the log groups of SNS: sns/REGION/ACCOUNT/DirectPublishToPhoneNumber…'] : []),
    'the log groups of functions of the CDK: /aws/lambda/ClinicDeveloperApi…',
    `the stack ${pipelineStackName(name)}, if there is a pipeline`,
    'the bootstrap stack, and its bucket with the code and templates of all versions',
  ]
}
