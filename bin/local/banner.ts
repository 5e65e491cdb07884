import type { LocalStack } from '../../infra/local/stack.ts'
import type { ReadyClinic } from '../demo/load.ts'

/** The output of `npm start` when the stack is ready: addresses, clinics and a request to try. */
export function banner(
  { baseUrl, smsOutboxUrl, emailInboxUrl }: LocalStack,
  clinics: readonly ReadyClinic[],
): string {
  const pair = clinics[0]?.credentials.full ?? 'KEY:SECRET'
  return [
    '',
    `  Clinic Developer API   ${baseUrl}/api/developer/v1`,
    `  SMS outbox             ${smsOutboxUrl}`,
    `  Email inbox            ${emailInboxUrl}`,
    ...clinics.map(({ name, timezone, id }) => `  Clinic                 ${name}, ${timezone}, ${id}`),
    '',
    clinics.length > 0
      ? '  Try:'
      : '  Create a clinic and a credential with "npm run clinic -- --help", then:',
    '',
    `  curl -H 'Authorization: Developer ${pair}' '${baseUrl}/api/developer/v1/patients?limit=2'`,
    '',
  ].join('\n')
}
