import type { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { WorkerService } from '../shared/runtime/workers.ts'

/** What a function needs in order to use a service. */
export type ServiceAccess = {
  readonly environment: Readonly<Record<string, string>>
  /** A new statement for each role: a policy may change the statements that it is made of. */
  readonly grant: () => PolicyStatement
}

/** Access to the services that a part of the stack offers. */
export type Services = Readonly<Partial<Record<WorkerService, ServiceAccess>>>

/** @throws Error naming the first service that is not offered */
export function accessTo(
  names: readonly WorkerService[],
  services: Services,
): { environment: Record<string, string>; grants: PolicyStatement[] } {
  const accesses = names.map((name) => {
    const access = services[name]
    if (!access) throw new Error(`No part of the stack offers the service "${name}" here.`)
    return access
  })
  return {
    environment: Object.assign({}, ...accesses.map(({ environment }) => environment)),
    grants: accesses.map(({ grant }) => grant()),
  }
}
