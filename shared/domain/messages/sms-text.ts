/** SMS encoding: the GSM-7 alphabet, or UTF-16 if any character is outside it (3GPP TS 23.038). */

const GSM7_BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Characters that take two septets: an escape and the character. */
const GSM7_EXTENSION = new Set('\f^{}\\[~]|€')

const SEGMENT_SEPTETS = 153

/** The maximum length of ten segments, in septets or UTF-16 code units. */
const MAX_SEPTETS = 10 * SEGMENT_SEPTETS
const MAX_UTF16_UNITS = 630

/**
 * The length of a text as an SMS of several segments, and the maximum length in its alphabet. An escape and its character are never in
 * different segments, so a septet before them can stay unused: it counts.
 */
export type SmsLength = {
  readonly alphabet: 'GSM-7' | 'UTF-16'
  readonly length: number
  readonly max: number
}

export function smsLength(text: string): SmsLength {
  let septets = 0
  for (const character of text) {
    if (GSM7_BASIC.has(character)) septets += 1
    else if (GSM7_EXTENSION.has(character))
      septets += septets % SEGMENT_SEPTETS === SEGMENT_SEPTETS - 1 ? 3 : 2
    else return { alphabet: 'UTF-16', length: text.length, max: MAX_UTF16_UNITS }
  }
  return { alphabet: 'GSM-7', length: septets, max: MAX_SEPTETS }
}
