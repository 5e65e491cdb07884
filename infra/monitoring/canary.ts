import { Duration, SecretValue } from 'aws-cdk-lib'
import { ApiDestination, Authorization, Connection, HttpMethod, Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { ApiDestination as ApiTarget } from 'aws-cdk-lib/aws-events-targets'
import type { Construct } from 'constructs'
import { canaryName } from '../settings/names.ts'
import type { MonitoringSettings } from '../settings/stages.ts'

/**
 * Requests `GET /me` through the domain every few minutes, with a credential without scopes. EventBridge sends the request, so
 * no function runs for it; a response other than 2xx, or none within five seconds, is a failed invocation of the rule. The secret of this
 * name has the value of the Authorization header, and exists before the deployment.
 */
export function addCanary(
  scope: Construct,
  stage: string,
  { minutes, domain }: NonNullable<MonitoringSettings['canary']>,
): void {
  const name = canaryName(stage)
  const connection = new Connection(scope, 'CanaryConnection', {
    connectionName: name,
    description: 'The credential of the canary',
    authorization: Authorization.apiKey('Authorization', SecretValue.secretsManager(name)),
  })
  const destination = new ApiDestination(scope, 'CanaryDestination', {
    description: 'GET /me, through the domain',
    connection,
    endpoint: `https://${domain}/api/developer/v1/me`,
    httpMethod: HttpMethod.GET,
    rateLimitPerSecond: 1,
  })
  new Rule(scope, 'Canary', {
    ruleName: name,
    description: 'Requests the API as an integrator does',
    schedule: Schedule.rate(Duration.minutes(minutes)),
    // A repetition would hide that an integrator got an error.
    targets: [new ApiTarget(destination, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  })
}
