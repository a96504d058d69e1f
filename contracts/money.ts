/**
 * Arithmetic with amounts of money. Amounts are integers in minor currency units. Results are rounded half away from
 * zero. Every function throws `AmountOutOfRangeError` if its result is not a safe integer.
 */

/** The error for a result whose absolute value exceeds 2^53 - 1, the maximum of exact integers in JavaScript. */
export class AmountOutOfRangeError extends RangeError {
  override name = "AmountOutOfRangeError";
}

export function addMoneyAmounts(one: number, other: number): number {
  return requireSafeInteger(one + other);
}

export function multiplyAmountOrThrow(one: number, other: number): number {
  return requireSafeInteger(one * other);
}

/** Returns a quotient rounded half away from zero: 5/2 is 3, -5/2 is -3. The denominator must be positive. */
export function divideRoundingHalfAway(numerator: number | bigint, denominator: number | bigint): number {
  if (Number.isSafeInteger(numerator) && Number.isSafeInteger(denominator)) {
    return divideSafeIntegers(numerator as number, denominator as number);
  }
  return requireSafeInteger(Number(divideBigInts(BigInt(numerator), BigInt(denominator))));
}

/** Converts a rate in percent to hundredths of a percent (basis points), rounded: 5.5 becomes 550. */
export function percentToBasisPoints(ratePercent: number): number {
  return scaleDecimal(ratePercent, 2);
}

/** Returns the rounded amount excluding tax for an amount including tax. The tax rate is in percent. */
export function computeAmountWithoutTax(amount: number, ratePercent: number): number {
  const divisor = 10_000 + percentToBasisPoints(ratePercent);
  const product = amount * 10_000;
  return divideRoundingHalfAway(Number.isSafeInteger(product) ? product : BigInt(amount) * 10_000n, divisor);
}

/**
 * Returns the price of `quantity` units that are sold by weight. `unitPrice` is the price per kilogram. `kilograms` is
 * the weight of one unit, which is rounded to grams.
 */
export function computePriceByWeight(unitPrice: number, quantity: number, kilograms: number): number {
  return divideRoundingHalfAway(BigInt(unitPrice) * BigInt(quantity) * BigInt(scaleDecimal(kilograms, 3)), 1_000n);
}

/**
 * Returns `value` times ten to the power of `places`, rounded half away from zero. Uses the decimal notation of the
 * number, because its binary approximation can be lower: 1.005 with two places is 101, not 100.
 */
function scaleDecimal(value: number, places: number): number {
  const approximation = Math.round(value * 10 ** places);
  if (Number.isSafeInteger(approximation) && approximation / 10 ** places === value) return approximation + 0;
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = BigInt(whole + fraction);
  const decimals = fraction.length - Number(exponent) - places;
  return decimals <= 0
    ? requireSafeInteger(Number(digits * 10n ** BigInt(-decimals)))
    : divideRoundingHalfAway(digits, 10n ** BigInt(decimals));
}

function divideSafeIntegers(numerator: number, denominator: number): number {
  const size = Math.abs(numerator);
  const remainder = size % denominator;
  const rounded = (size - remainder) / denominator + (remainder >= denominator - remainder ? 1 : 0);
  return numerator < 0 && rounded !== 0 ? -rounded : rounded;
}

function divideBigInts(numerator: bigint, denominator: bigint): bigint {
  const size = numerator < 0n ? -numerator : numerator;
  const rounded = (2n * size + denominator) / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}

function requireSafeInteger(amount: number): number {
  if (!Number.isSafeInteger(amount)) throw new AmountOutOfRangeError(`${amount} is not a safe integer`);
  return amount;
}
