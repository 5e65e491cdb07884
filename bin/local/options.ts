import { Command, InvalidArgumentError, Option } from 'commander'

export type LocalOptions = {
  data?: string
  watch: boolean
  demo: boolean
  json: boolean
  port: number
  smsReceipts: boolean
  realistic: boolean
  allowWebhookHost?: string
}

/** Parses the arguments of `npm start --`. Ends the process on `--help` or an invalid option. */
export const parseOptions = (): LocalOptions =>
  new Command('npm start --')
    .description('Runs the clinic developer API on this machine, from its synthesized stack.')
    .option('--data <folder>', 'keep the data in this folder over restarts (default: in memory)')
    .option('--watch', 'rebuild and replace functions when their code is saved', false)
    .option('--no-demo', 'start without the demo clinics')
    .option('--sms-receipts', 'also deploy the stack that reads delivery receipts of SMS', false)
    .option('--realistic', "add DynamoDB's latency and transaction conflicts to the local engine", false)
    .option(
      '--allow-webhook-host <host:port>',
      'allow webhooks to this host, over http too, although it is not public',
      parseHostAndPort,
    )
    .option(
      '--json',
      'print only the line of JSON that reports that the API is ready, and errors on stderr',
      false,
    )
    .addOption(
      new Option('--port <port>', 'port on 127.0.0.1').env('PORT').argParser(parsePort).default(3000),
    )
    .parse()
    .opts<LocalOptions>()

function parsePort(text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError('must be a port from 0 to 65535')
  return number
}

/** Accepts only the normalized form of a host, because the hosts of webhook URLs are compared with it. */
function parseHostAndPort(text: string): string {
  const [, host] = /^(\S+):[1-9]\d*$/.exec(text.toLowerCase()) ?? []
  if (host === undefined || URL.parse(`http://${text}`)?.hostname !== host)
    throw new InvalidArgumentError('must be a host and port, such as 127.0.0.1:4400')
  return text
}
