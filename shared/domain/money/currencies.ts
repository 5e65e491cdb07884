/**
 * The currencies of ISO 4217, list one, and their minor units. The data that Node ships changes between its releases
 * (HUF, COP and others lost their decimals in some), so amounts in minor units need a table that does not.
 */

/** Two decimals. */
const TWO =
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY ' +
  'COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS ' +
  'INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR ' +
  'MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP ' +
  'STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG'

/** No longer in use, but in older invoices. All have two decimals. */
const FORMER = 'ANG BGN CUC HRK SLL VEF ZWL'

const NONE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
const THREE = 'BHD IQD JOD KWD LYD OMR TND'
const FOUR = 'CLF UYW'

const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...withDecimals(NONE, 0),
  ...withDecimals(TWO, 2),
  ...withDecimals(FORMER, 2),
  ...withDecimals(THREE, 3),
  ...withDecimals(FOUR, 4),
])

function withDecimals(codes: string, decimals: number): [string, number][] {
  return codes.split(' ').map((code) => [code, decimals])
}

/** The codes that clinics and invoices can have. */
export const CURRENCIES: readonly string[] = [...DECIMALS.keys()].sort()

/** The number of decimals: 2 for EUR, 0 for JPY, 3 for KWD. @throws RangeError for an unknown code */
export function currencyDecimals(currency: string): number {
  const decimals = DECIMALS.get(currency)
  if (decimals === undefined) throw new RangeError('unknown currency code')
  return decimals
}
