/** Keys of credentials as arguments of commands. */
import { CommandFailure } from './output.ts'

const KEY = /^ck_[\w-]{1,64}$/

/** The key of a credential. A text that is not one is not repeated, because it may contain the secret. */
export function requireKey(text: string): string {
  if (KEY.test(text)) return text
  if (text.includes(':'))
    throw new CommandFailure(
      'Specify the key alone, which is the part before the colon. The secret is in the history of your shell now: if others can read that, replace it with "credential rotate".',
    )
  throw new CommandFailure('A key begins with ck_. "credential list" lists the keys of a clinic.')
}

export const unknownCredential = (key: string): CommandFailure =>
  new CommandFailure(`Credential ${key} does not exist. "credential list" lists the keys of a clinic.`)
