import { CfnOutput, Stack } from 'aws-cdk-lib'
import {
  DomainName,
  EndpointType,
  type IRestApi,
  SecurityPolicy,
  type SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import { Construct } from 'constructs'
import type { Route } from '../../shared/api/route.ts'
import type { QueueId } from '../../shared/runtime/workers.ts'
import { Api } from '../api/api.ts'
import { Firewall } from '../api/firewall.ts'
import { ImportedData } from '../data/data-stack.ts'
import type { FunctionCode } from '../functions/bundles.ts'
import { deliveryQueueAccess, emailQueueAccess, smsAccess } from '../functions/service-access.ts'
import { NamedQueues } from '../messaging/queues.ts'
import { OperatorRoles } from '../operators/operator-roles.ts'
import { apiName, stackName } from '../settings/names.ts'
import type { DomainSettings, StageSettings } from '../settings/stages.ts'

/** The queues that the operator tool reads, by the names of their outputs. */
const QUEUE_OUTPUTS: Readonly<Record<string, QueueId>> = {
  EmailQueueUrl: 'emails',
  DeadEmailQueueUrl: 'emails-dead',
  FeedbackQueueUrl: 'feedback',
  DeadFeedbackQueueUrl: 'feedback-dead',
  DeliveryQueueUrl: 'deliveries',
  DeadDeliveryQueueUrl: 'deliveries-dead',
  SlowDeliveryQueueUrl: 'slow-deliveries',
  DeadSlowDeliveryQueueUrl: 'slow-deliveries-dead',
  MaintenanceQueueUrl: 'maintenance',
  DeadMaintenanceQueueUrl: 'maintenance-dead',
  FailedFanOutQueueUrl: 'failed-fan-outs',
}

const isForDeadLetters = (queue: QueueId): boolean => queue.endsWith('-dead') || queue === 'failed-fan-outs'

/** The REST API and its functions. Its outputs describe the whole deployment, so that the operator tool reads one stack. */
export class ApiStack extends Stack {
  constructor(scope: Construct, stage: StageSettings, code: FunctionCode, routes: readonly Route[]) {
    super(scope, stackName(stage.name), {
      description: 'Clinic Developer API',
      env: stage.env,
      terminationProtection: stage.deletionProtection,
    })
    const data = new ImportedData(this, 'Stored', stage)
    const queues = new NamedQueues(this, 'Queues', stage)
    const services = {
      ...smsAccess(this, stage.messaging),
      ...emailQueueAccess(queues.get('emails')),
      ...deliveryQueueAccess(queues.get('deliveries'), queues.get('slow-deliveries')),
    }
    const { rest } = new Api(this, 'Api', { stage, code, data, services, routes })
    if (stage.firewall)
      new Firewall(this, 'Firewall', {
        name: apiName(stage.name),
        stageArn: rest.deploymentStage.stageArn,
      })
    const outputs: Record<string, string> = {
      ...this.#address(rest, stage),
      Cell: stage.cell,
      ...(stage.version !== undefined && { Version: stage.version }),
      TableName: data.table.tableName,
      AccessTrailBucket: data.value('AccessTrailBucket'),
      OperatorLogGroup: data.value('OperatorLogGroup'),
      ...Object.fromEntries(
        Object.entries(QUEUE_OUTPUTS).map(([output, queue]) => [output, queues.get(queue).queueUrl]),
      ),
    }
    for (const [output, value] of Object.entries(outputs)) new CfnOutput(this, output, { value })
    const ids = Object.values(QUEUE_OUTPUTS)
    new OperatorRoles(this, 'Operators', {
      stage: stage.name,
      data,
      logs: (['EndpointLogGroup', 'PublicLogGroup', 'WorkerLogGroup', 'GatewayLogGroup'] as const).map(
        (name) => data.logGroup(name),
      ),
      operatorLog: data.logGroup('OperatorLogGroup'),
      queues: ids
        .filter((queue) => !isForDeadLetters(queue) && queue !== 'maintenance')
        .map((queue) => queues.get(queue)),
      maintenanceQueue: queues.get('maintenance'),
      deadLetters: ids.filter(isForDeadLetters).map((queue) => queues.get(queue)),
    })
  }

  /** The outputs about the address of the API. */
  #address(rest: SpecRestApi, { name, kind, domain }: StageSettings): Record<string, string> {
    if (domain)
      return {
        BaseUrl: `https://${domain.name}`,
        DomainTarget: new ApiDomain(this, 'Domain', { rest, domain }).target,
      }
    const BaseUrl = `https://${rest.restApiId}.execute-api.${this.region}.${this.urlSuffix}/${name}`
    if (kind !== 'production') return { BaseUrl }
    return {
      BaseUrl,
      BaseUrlNotice:
        'For trials only: this address ends with the API. Deploy with a domain before integrators use it.',
    }
  }
}

type Props = { readonly rest: IRestApi; readonly domain: DomainSettings }

/** The API at its own domain, without the stage in the path, so that its address outlives the API. */
class ApiDomain extends Construct {
  /** The target of the domain's DNS record. */
  readonly target: string

  constructor(scope: Construct, id: string, { rest, domain }: Props) {
    super(scope, id)
    const name = new DomainName(this, 'Name', {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    })
    name.addBasePathMapping(rest)
    this.target = name.domainNameAliasDomainName
    if (domain.hostedZone) {
      const { id: hostedZoneId, name: zoneName } = domain.hostedZone
      new ARecord(this, 'Record', {
        zone: HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId, zoneName }),
        recordName: `${domain.name}.`,
        target: RecordTarget.fromAlias(new ApiGatewayDomain(name)),
      })
    }
  }
}
