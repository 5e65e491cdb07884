// Reports the requests that a function sends to AWS. The SDK is a part of each bundle, so they are seen where all copies
// of it meet: in Node's HTTP client.
import { createRequire } from 'node:module'

// Importing node:http as a module would load much more than the client.
const { ClientRequest } = createRequire(import.meta.url)('node:http')

/**
 * @param {string[]} endpoints of AWS services
 * @param {(request: { service: string | undefined, target: string | undefined, path: string, body: string }) => void} report
 */
export function reportRequests(endpoints, report) {
  const hosts = new Set(endpoints.map((endpoint) => new URL(endpoint).host))
  const { write, end } = ClientRequest.prototype
  const bodies = new WeakMap()
  const append = (request, chunk) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array)
      bodies.set(request, (bodies.get(request) ?? '') + Buffer.from(chunk).toString())
  }
  ClientRequest.prototype.write = function (chunk, ...rest) {
    append(this, chunk)
    return write.call(this, chunk, ...rest)
  }
  ClientRequest.prototype.end = function (chunk, ...rest) {
    append(this, chunk)
    if (hosts.has(String(this.getHeader('host'))))
      report({
        // The scope of the signature: `Credential=<key>/<date>/<region>/<service>/aws4_request`.
        service: /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//.exec(String(this.getHeader('authorization')))?.[1],
        target: this.getHeader('x-amz-target'),
        path: this.path,
        body: bodies.get(this) ?? '',
      })
    return end.call(this, chunk, ...rest)
  }
}
