import { DomainName, EndpointType, type IRestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import { Construct } from 'constructs'
import type { DomainSettings } from '../settings/setting-checks.ts'

type Props = { readonly rest: IRestApi; readonly domain: DomainSettings }

/** The API at its own domain, without the stage in the path, so that its address outlives the API. */
export class ApiDomain extends Construct {
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
