import type { Key } from '../../../shared/store/keys/key.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'

/** The items of a response, and the key that the next page follows; without one, this is the last page. */
export type Response = { readonly items: readonly Item[]; readonly last: Key | undefined }

type Attributes = Record<string, unknown>

const MAX_NUMBER_LENGTH = 40

/**
 * Reads a response of DynamoDB to GetItem, BatchGetItem or Query. Items are as the SDK decodes them, with their attributes sorted:
 * they are sent in another order for each item, and objects of many orders take several times as long, to make and to read.
 * @throws SyntaxError for JSON in another form; Error for keys that were left unprocessed
 */
export function readResponse(text: string): Response {
  const reader = new ResponseReader(text)
  const items: Item[] = []
  let last: Key | undefined
  reader.eachMember((name) => {
    if (name === 'Item') items.push(reader.item())
    else if (name === 'Items') reader.eachElement(() => items.push(reader.item()))
    else if (name === 'Responses')
      reader.eachMember(() => reader.eachElement(() => items.push(reader.item())))
    else if (name === 'LastEvaluatedKey') last = reader.item()
    else if (name === 'UnprocessedKeys')
      reader.eachMember(() => {
        throw new Error('keys left unprocessed')
      })
    else reader.number()
  })
  return { items, last }
}

/** Reads JSON without spaces, as DynamoDB sends it. */
class ResponseReader {
  readonly #text: string
  #at = 0
  /** Where the next backslash is. */
  #escape = -1

  constructor(text: string) {
    this.#text = text
    this.#findEscape()
  }

  item(): Item {
    return this.#map() as Item
  }

  /** Reads a number that is not needed, such as `Count`. */
  number(): void {
    const [number = ''] = /^[-\d.]+/.exec(this.#text.slice(this.#at, this.#at + MAX_NUMBER_LENGTH)) ?? []
    if (number === '') this.#fail()
    this.#at += number.length
  }

  eachMember(read: (name: string) => void): void {
    this.#skip('{')
    if (this.#skips('}')) return
    do {
      const name = this.#string()
      this.#skip(':')
      read(name)
    } while (this.#skips(','))
    this.#skip('}')
  }

  eachElement(read: () => void): void {
    this.#skip('[')
    if (this.#skips(']')) return
    do read()
    while (this.#skips(','))
    this.#skip(']')
  }

  #map(): Attributes {
    const names: string[] = []
    const values: unknown[] = []
    this.eachMember((name) => {
      const value = this.#value()
      let place = names.length
      for (; place > 0 && (names[place - 1] as string) > name; place--) {
        names[place] = names[place - 1] as string
        values[place] = values[place - 1]
      }
      names[place] = name
      values[place] = value
    })
    const map: Attributes = {}
    for (let place = 0; place < names.length; place++) map[names[place] as string] = values[place]
    return map
  }

  /** A value after its type: `{"S":"text"}`. */
  #value(): unknown {
    this.#skip('{')
    const type = this.#string()
    this.#skip(':')
    const value = this.#valueOf(type)
    this.#skip('}')
    return value
  }

  #valueOf(type: string): unknown {
    switch (type) {
      case 'S':
        return this.#string()
      case 'N':
        return Number(this.#string())
      case 'M':
        return this.#map()
      case 'L':
        return this.#list(() => this.#value())
      case 'BOOL':
        return this.#boolean()
      case 'NULL':
        return this.#boolean() ? null : this.#fail()
      case 'B':
        return new Uint8Array(Buffer.from(this.#string(), 'base64'))
      case 'SS':
        return new Set(this.#list(() => this.#string()))
      case 'NS':
        return new Set(this.#list(() => Number(this.#string())))
      default:
        return this.#fail()
    }
  }

  #list<Element>(read: () => Element): Element[] {
    const elements: Element[] = []
    this.eachElement(() => elements.push(read()))
    return elements
  }

  #boolean(): boolean {
    const value = this.#text.startsWith('true', this.#at)
    if (!value && !this.#text.startsWith('false', this.#at)) this.#fail()
    this.#at += value ? 4 : 5
    return value
  }

  #string(): string {
    this.#skip('"')
    const start = this.#at
    let end = this.#text.indexOf('"', start)
    const isEscaped = this.#escape < end
    while (this.#escape < end) {
      // What follows a backslash is not the end.
      if (this.#escape + 1 === end) end = this.#text.indexOf('"', end + 1)
      this.#findEscape(this.#escape + 2)
    }
    if (end < 0) this.#fail()
    this.#at = end + 1
    return isEscaped ? JSON.parse(this.#text.slice(start - 1, end + 1)) : this.#text.slice(start, end)
  }

  #findEscape(from = 0): void {
    const found = this.#text.indexOf('\\', from)
    this.#escape = found < 0 ? Number.POSITIVE_INFINITY : found
  }

  #skip(character: string): void {
    if (!this.#skips(character)) this.#fail()
  }

  #skips(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #fail(): never {
    throw new SyntaxError(`no response of DynamoDB at ${this.#at}`)
  }
}
