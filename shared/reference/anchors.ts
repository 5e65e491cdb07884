/** Returns the address of each heading of a page, as on GitHub: in lower case, and numbered if it is repeated. */
export function anchors(): (heading: string) => string {
  const uses = new Map<string, number>()
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = uses.get(anchor) ?? 0
    uses.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  }
}
