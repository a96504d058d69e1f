/**
 * The arithmetic of money: whole numbers of minor currency units, rounded half away from zero, exact whatever their
 * size. What would not fit the whole numbers that JSON carries exactly throws `AmountOutOfRange`.
 */

/** A sum or product beyond 2^53 - 1: it cannot be written exactly. */
export class AmountOutOfRange extends RangeError {
  override name = "AmountOutOfRange";
}

export function addAmounts(one: number, other: number): number {
  return requireSafeInteger(one + other);
}

export function multiplyAmount(one: number, other: number): number {
  return requireSafeInteger(one * other);
}

/** A fraction of whole numbers, rounded half away from zero: 5/2 is 3, -5/2 is -3. The denominator is above 0. */
export function divideRoundingHalfAway(numerator: number | bigint, denominator: number | bigint): number {
  if (Number.isSafeInteger(numerator) && Number.isSafeInteger(denominator)) {
    return divideSafeIntegers(numerator as number, denominator as number);
  }
  return requireSafeInteger(Number(divideBigInts(BigInt(numerator), BigInt(denominator))));
}

/** A rate in plain percent as hundredths of a percent, rounded: 5.5 is 550. */
export function percentToBasisPoints(ratePercent: number): number {
  return scaleDecimal(ratePercent, 2);
}

/** An amount that includes tax at a rate in plain percent, without that tax, rounded. */
export function amountWithoutTax(amount: number, ratePercent: number): number {
  const divisor = 10_000 + percentToBasisPoints(ratePercent);
  const product = amount * 10_000;
  return divideRoundingHalfAway(Number.isSafeInteger(product) ? product : BigInt(amount) * 10_000n, divisor);
}

/** The price of units that each weigh so many kilograms, at a price per kilogram; the weight is first rounded to grams. */
export function priceByWeight(unitPrice: number, quantity: number, kilograms: number): number {
  return divideRoundingHalfAway(BigInt(unitPrice) * BigInt(quantity) * BigInt(scaleDecimal(kilograms, 3)), 1_000n);
}

/**
 * A decimal number times a power of ten, rounded half away from zero. It is the number as it is written in decimal that
 * counts, not its binary neighbour: 1.005 at two places is 101.
 */
function scaleDecimal(value: number, places: number): number {
  const guess = Math.round(value * 10 ** places);
  if (Number.isSafeInteger(guess) && guess / 10 ** places === value) return guess + 0;
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
  if (!Number.isSafeInteger(amount)) throw new AmountOutOfRange(`${amount} is beyond what can be written exactly`);
  return amount;
}
