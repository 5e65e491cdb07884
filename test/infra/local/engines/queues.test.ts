import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, it, onTestFinished } from 'vitest'
import { createQueues, queueUrl, startQueues } from '../../../../infra/local/engines/queues.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'

it('creates queues with their attributes, dead-letter queues first, unless they exist', async () => {
  const engine = await startQueues('eu-central-1')
  onTestFinished(engine.stop)
  const template = resolveTemplate(
    {
      Resources: {
        Work: {
          Type: 'AWS::SQS::Queue',
          Properties: {
            DelaySeconds: 5,
            VisibilityTimeout: 90,
            RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 3 },
            KmsMasterKeyId: 'alias/aws/sqs',
          },
        },
        Dead: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'dead' } },
      },
    },
    { region: 'eu-central-1', stackName: 'Clinic', queueUrl: (name) => queueUrl(engine.endpoint, name) },
  )
  await createQueues(template, engine.endpoint)
  await createQueues(template, engine.endpoint)

  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const client = new SQSClient({ endpoint: engine.endpoint, region: 'eu-central-1', credentials })
  onTestFinished(() => client.destroy())
  const attributes = async (id: string) => {
    const input = { QueueUrl: template.ref(id), AttributeNames: ['All' as const] }
    return (await client.send(new GetQueueAttributesCommand(input))).Attributes
  }
  expect(await attributes('Work')).toMatchObject({
    QueueArn: template.attribute('Work', 'Arn'),
    DelaySeconds: '5',
    VisibilityTimeout: '90',
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: template.attribute('Dead', 'Arn'),
      maxReceiveCount: 3,
    }),
  })
})
