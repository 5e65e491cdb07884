/** Who calls the API, and where it is. */
import { type Command, Option } from 'commander'
import { type SendRequest, transport } from '../../../shared/clients/typescript/transport.ts'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { describeLocalStack, type LocalDescription } from '../tool/local-stack.ts'
import { CommandFailure, type GlobalOptions } from '../tool/output.ts'

export type Environment = Readonly<Record<string, string | undefined>>

type Clinic = { readonly id: string; readonly name: string }

export const addressOption = ({ CLINIC_API: address }: Environment): Option => {
  const option = new Option('--api <address>', 'the API (default: CLINIC_API, or that of the stack)')
  return address ? option.default(address, 'CLINIC_API') : option
}

/**
 * Finds the address of the API and the credential, and compares its clinic with the one that the command names.
 * @param isWrite after a write, the clinic is printed, so it is read even if the command names none
 * @throws CommandFailure without a credential, or if it belongs to another clinic
 */
export async function callerOf(
  command: Command,
  { CLINIC_CREDENTIAL: own }: Environment,
  isWrite: boolean,
): Promise<{ readonly send: SendRequest; readonly clinic: Clinic | undefined }> {
  const {
    stack,
    port,
    api,
    clinic: named,
  } = command.optsWithGlobals<GlobalOptions & { readonly api?: string; readonly clinic?: string }>()
  const local = stack === undefined && api === undefined ? await describeLocalStack(port) : undefined
  const credential = own || demoCredential(local, named)
  if (!credential) throw new CommandFailure(NO_CREDENTIAL)
  // Modules of AWS are loaded only for a deployed stack.
  const stackUrl = async () => (await import('../tool/connection.ts')).baseUrlOf(command)
  const baseUrl = api ?? (local ? `http://127.0.0.1:${port}` : await stackUrl())
  const send = transport({ baseUrl, credential })
  if (named === undefined && !isWrite) return { send, clinic: undefined }
  const { body } = await send<{ data: { clinic: Clinic } }>({ method: 'GET', path: '/me' })
  const { clinic } = body.data
  if (named === undefined || isNamed(clinic, named)) return { send, clinic }
  throw new CommandFailure(
    `The credential belongs to ${clinic.name} (${clinic.id}), and not to ${named}: set CLINIC_CREDENTIAL to one of the clinic.`,
  )
}

const NO_CREDENTIAL = `Set CLINIC_CREDENTIAL to a credential of the clinic; these two commands make one for you that reads, and expires in eight hours:
  clinic credential create-temporary --clinic CLINIC
  read -rs CLINIC_CREDENTIAL && export CLINIC_CREDENTIAL`

const isNamed = ({ id, name }: Clinic, text: string): boolean =>
  fold(name) === fold(text) || (text.length >= 4 && id.startsWith(text.toLowerCase()))

/** The credential of a clinic of the demo: of the one that is named, or of the first. */
const demoCredential = (local: LocalDescription | undefined, named: string | undefined) =>
  local?.clinics?.find((clinic) => named === undefined || isNamed(clinic, named))?.credentials.full
