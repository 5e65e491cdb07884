import { Command, InvalidArgumentError, Option } from 'commander'
import { isCalendarDate, LAST_DATE } from '../../shared/domain/timestamp.ts'

export type LocalOptions = {
  data?: string
  seed?: string
  at?: LocalTime
  demo: boolean
  json: boolean
  port: number
  smsReceipts: boolean
}

/** A date `Y-m-d` and a time `HH:MM` of a clinic. */
export type LocalTime = { readonly date: string; readonly time: string }

/** The options of `npm start --`. bin/local/help.txt has its help, which is printed before anything is installed. */
export const localCommand = (): Command =>
  new Command('npm start --')
    .description('Runs the clinic developer API on this machine, from its synthesized stack.')
    .option('--data <folder>', 'keep the data in this folder over restarts (default: in memory)')
    .option('--seed <folder>', 'instead of the demo clinics, create one from clinic.json and import files')
    .option(
      '--at <time>',
      'set the clock, which runs on from there: local time of the first clinic, such as 2026-12-01T09:00',
      parseLocalTime,
    )
    .option('--no-demo', 'start without clinics')
    .option('--sms-receipts', 'also deploy the stack that reads delivery receipts of SMS', false)
    .option(
      '--json',
      'print only the line of JSON that reports that the API is ready, and errors on stderr',
      false,
    )
    .addOption(
      new Option('--port <port>', 'port on 127.0.0.1').env('PORT').argParser(parsePort).default(3000),
    )

/** Parses the arguments of `npm start --`. Ends the process on an invalid option. */
export const parseOptions = (): LocalOptions => localCommand().parse().opts<LocalOptions>()

function parsePort(text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError('must be a port from 0 to 65535')
  return number
}

function parseLocalTime(text: string): LocalTime {
  const [, date = '', time = ''] = /^(.{10})T((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text) ?? []
  if (!isCalendarDate(date) || date > LAST_DATE)
    throw new InvalidArgumentError('must be a date and time, such as 2026-12-01T09:00')
  return { date, time }
}
