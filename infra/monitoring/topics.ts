import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import type { MonitoringSettings } from '../settings/stages.ts'

/** Alarms cannot publish to a topic that AWS's own key of SNS encrypts. */
export function topicKey(scope: Construct): Key {
  const key = new Key(scope, 'TopicKey', {
    description: 'Encrypts notifications of alarms',
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  for (const service of ['cloudwatch', 'budgets', 'events'])
    key.grantEncryptDecrypt(new ServicePrincipal(`${service}.amazonaws.com`))
  return key
}

/** A topic that alarms and the budget of this account may publish to. */
export function alarmTopic(
  scope: Construct,
  name: string,
  masterKey: Key,
  { alarmEmail }: MonitoringSettings,
): Topic {
  const topic = new Topic(scope, name, { masterKey, enforceSSL: true })
  const { account } = Stack.of(scope)
  for (const service of ['budgets', 'cloudwatch'])
    topic.grantPublish(
      new ServicePrincipal(`${service}.amazonaws.com`, {
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    )
  if (alarmEmail !== undefined) topic.addSubscription(new EmailSubscription(alarmEmail))
  // The output belongs to the stack itself, so that the CDK does not change its name.
  new CfnOutput(Stack.of(scope), `${name}Topic`, { value: topic.topicArn })
  return topic
}
