/**
 * `npm run preflight -- --stage prod`: reads whether the account is ready for the stage, before the first `cdk deploy`. It needs the AWS
 * CLI, signed in, and changes nothing.
 * Exit codes: 0 if nothing is to be done, 1 otherwise, 2 for wrong arguments or settings.
 */
import { execFile } from 'node:child_process'
import { parseArgs, promisify } from 'node:util'
import { stageSettings } from '../infra/settings/stages.ts'
import { runChecks } from './preflight/checks.ts'

const USAGE = `usage: npm run preflight -- [--stage STAGE]

Reads whether the account is ready for the stage (default: prod).`

const stage = readStage(readArguments().stage)
process.exitCode = await check()

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function readArguments() {
  try {
    const options = { stage: { type: 'string', default: 'prod' }, help: { type: 'boolean' } } as const
    const { values } = parseArgs({ options })
    if (!values.help) return values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`)
    process.exit(2)
  }
  print(USAGE)
  process.exit(0)
}

function readStage(name: string) {
  try {
    return stageSettings(name)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exit(2)
  }
}

async function check(): Promise<number> {
  const findings = await runChecks(aws, stage)
  for (const { name, found, todo } of findings)
    print(todo === undefined ? `ok     ${name}: ${found}` : `to do  ${name}: ${found}\n       ${todo}`)
  return findings.some(({ todo }) => todo !== undefined) ? 1 : 0
}

async function aws<Response>(command: string, region = stage.env.region): Promise<Response> {
  const args = [...command.split(' '), ...(region ? ['--region', region] : []), '--output', 'json']
  try {
    const { stdout } = await promisify(execFile)('aws', args)
    return JSON.parse(stdout)
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    throw new Error(stderr.trim() || message)
  }
}
