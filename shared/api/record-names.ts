type RecordName<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<RecordName<Rest>>}`
  : Name

/** The fields of a request under the names that they have in records: `first_name` is `firstName`. */
export type InRecord<Body> = { [Name in keyof Body as RecordName<Name>]: Exclude<Body[Name], undefined> }

export const inRecord = <Body extends object>(body: Body): InRecord<Body> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name.replace(/_(.)/g, (_, first) => first.toUpperCase()),
      value,
    ]),
  ) as InRecord<Body>
