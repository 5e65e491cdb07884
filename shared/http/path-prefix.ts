/**
 * The prefix of the path of a request: the stage at API Gateway's own address (`/prod`), or the
 * base path of a custom domain; empty at a domain without one.
 * @param sent `requestContext.path`, which has the prefix, unlike the event's own path
 */
export function pathPrefix(sent: string | undefined, own: string): string {
  const prefix = sent?.slice(0, Math.max(0, sent.indexOf(own))) ?? ''
  // Repeated slashes would make the rest of a path the name of a host.
  return prefix.includes('//') || prefix === '/' ? '' : prefix
}
