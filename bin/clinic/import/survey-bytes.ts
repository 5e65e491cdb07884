/** What the bytes of a file say about their encoding. */
export type Survey = {
  bytes: number
  /** Bytes other than spaces and line endings. */
  filled: number
  zeros: { even: number; odd: number }
  /** Bytes that are letters in Turkish text, and seldom in that of Western Europe. */
  turkish: number
  /** Characters beyond ASCII that are valid UTF-8, and sequences that are not. */
  valid: number
  invalid: number
  firstInvalidLine: number | null
}

/** İ, ı, Ş, ş, Ğ and ğ in windows-1254; in windows-1252 Ý, ý, Þ, þ, Ð and ð. */
const TURKISH_BYTES = new Set([0xdd, 0xfd, 0xde, 0xfe, 0xd0, 0xf0])

/** A replacement character that the file itself contains. */
const REPLACEMENT = Buffer.from('\uFFFD')

export const newSurvey = (): Survey => ({
  bytes: 0,
  filled: 0,
  zeros: { even: 0, odd: 0 },
  turkish: 0,
  valid: 0,
  invalid: 0,
  firstInvalidLine: null,
})

/** Returns the number of the line at the end of the chunk. */
export function surveyChunk(
  survey: Survey,
  chunk: Buffer,
  decoder: InstanceType<typeof TextDecoder>,
  line: number,
): number {
  for (const [at, byte] of chunk.entries()) {
    if (byte > 0x20) survey.filled++
    if (byte === 0) survey.zeros[(survey.bytes + at) % 2 === 0 ? 'even' : 'odd']++
    else if (TURKISH_BYTES.has(byte)) survey.turkish++
  }
  survey.bytes += chunk.length
  const text = decoder.decode(chunk, { stream: true })
  const beyondAscii = text.match(/[^\0-\x7f]/gu)?.length ?? 0
  const replaced = text.split('\uFFFD').length - 1
  const invalid = Math.max(0, replaced - occurrences(chunk, REPLACEMENT))
  survey.valid += beyondAscii - replaced
  survey.invalid += invalid
  if (invalid > 0 && survey.firstInvalidLine === null)
    survey.firstInvalidLine = line + text.slice(0, text.indexOf('\uFFFD')).split('\n').length - 1
  return line + text.split('\n').length - 1
}

function occurrences(bytes: Buffer, part: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + part.length)) count++
  return count
}
