/** The bare handler of endpoints that send messages: it has their clients, and queues an email after the calls of the table. */
import { SNSClient } from '@aws-sdk/client-sns'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { handler as makeTableCalls } from './bare-handler.ts'

const [sqs] = [new SQSClient(), new SNSClient()]

export async function handler() {
  const reply = await makeTableCalls()
  await sqs.send(new SendMessageCommand({ QueueUrl: process.env.EMAIL_QUEUE_URL, MessageBody: '{}' }))
  return reply
}
