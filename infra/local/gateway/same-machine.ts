/** Names of this machine. Any port: a container or a tunnel may forward another one to the stack's. */
const LOCAL_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i

/**
 * Whether a request comes from this machine and from no page of another origin: a browser names the host that the page
 * believes to be on (DNS rebinding), and the origin of a page that posts to another host.
 */
export function isSameMachine(rawHeaders: readonly string[]): boolean {
  const [host = '', ...otherHosts] = valuesOf(rawHeaders, 'host')
  const origins = valuesOf(rawHeaders, 'origin')
  return (
    otherHosts.length === 0 &&
    LOCAL_HOST.test(host) &&
    origins.every((origin) => origin.toLowerCase() === `http://${host.toLowerCase()}`)
  )
}

const valuesOf = (rawHeaders: readonly string[], wanted: string): string[] =>
  rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === wanted)
