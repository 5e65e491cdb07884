import { type Command, Option } from 'commander'
import { nameOf } from './command-trail.ts'

/** Commands of all clinics, and those whose argument says the clinic. */
const WITHOUT_CLINIC =
  /^(clinic (create|list)|credential (update|rotate)|dead-letter .*|restore .*|migrate|message unresolved)$/

/** Adds `--clinic` to a command that concerns a clinic. */
export function addClinicOption(command: Command, env: { readonly CLINIC?: string | undefined }): void {
  const name = nameOf(command)
  if (WITHOUT_CLINIC.test(name)) return
  const option = new Option('--clinic <clinic>', 'full name, or start of the id (default: CLINIC)')
  command.addOption(env.CLINIC ? option.default(env.CLINIC, env.CLINIC) : option)
}
