/** The names of the fields of an object. TypeScript has them as strings, since an object may have others than its type says. */
export const keysOf = <Name extends string>(object: Readonly<Partial<Record<Name, unknown>>>): Name[] =>
  Object.keys(object) as Name[]
