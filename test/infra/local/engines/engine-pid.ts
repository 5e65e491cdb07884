import { execFileSync } from 'node:child_process'

/** The process id of the DynamoDB engine behind an endpoint, or undefined when it has ended. */
export function enginePid(endpoint: string): number | undefined {
  const { port } = new URL(endpoint)
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  const line = processes.find((found) => found.includes('dynoxide serve') && found.includes(`--port ${port}`))
  return line === undefined ? undefined : Number.parseInt(line, 10)
}
