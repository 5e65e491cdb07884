/**
 * ISO 4217, list one: the currencies in use and their minor units. A table of our own, since the data that Node ships
 * changes between its releases (HUF, COP and others lost their decimals in some): an amount that was stored as 125050
 * must mean 1250.50 for ever.
 */

/** Two decimals. */
const TWO =
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY ' +
  'COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS ' +
  'INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR ' +
  'MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP ' +
  'STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG'

/** No longer in use, but in older invoices. */
const FORMER = 'ANG BGN CUC HRK SLL VEF ZWL'

const NONE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
const THREE = 'BHD IQD JOD KWD LYD OMR TND'
const FOUR = 'CLF UYW'

const DECIMALS: ReadonlyMap<string, number> = new Map(
  [NONE, '', `${TWO} ${FORMER}`, THREE, FOUR].flatMap((codes, decimals) =>
    codes.split(' ').map((code): [string, number] => [code, decimals]),
  ),
)

/** The codes of all currencies that a clinic can have. */
export const CURRENCIES: readonly string[] = [...DECIMALS.keys()].sort()

/** Decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD. @throws RangeError for a code that ISO 4217 does not list */
export function currencyDecimals(currency: string): number {
  const decimals = DECIMALS.get(currency)
  if (decimals === undefined) throw new RangeError('not a currency of ISO 4217')
  return decimals
}
