/**
 * Splits an amount in proportion to weights. The parts add up to the amount: each share is rounded down, and the rest goes
 * to the largest fractions, one minor unit each, the first of equal ones first. A negative amount has the opposite parts of its opposite, as a refund of its sale. Returns undefined if the weights add up to 0.
 */
export function splitAmount(amount: number, weights: readonly number[]): number[] | undefined {
  if (amount < 0) return splitAmount(-amount, weights)?.map((part) => 0 - part);
  const sum = weights.reduce((total, weight) => total + BigInt(weight), 0n);
  if (sum === 0n) return undefined;
  if (sum < 0n)
    return splitAmount(
      amount,
      weights.map((weight) => -weight),
    );
  const shares = weights.map((weight, index) => {
    const product = BigInt(amount) * BigInt(weight);
    const part = divideRoundingDown(product, sum);
    return { index, part, fraction: product - part * sum };
  });
  const rest = BigInt(amount) - shares.reduce((total, { part }) => total + part, 0n);
  const byFraction = [...shares].sort((one, other) => Number(other.fraction - one.fraction) || one.index - other.index);
  for (const share of byFraction.slice(0, Number(rest))) share.part += 1n;
  return shares.map(({ part }) => Number(part));
}

/** The denominator is positive. */
function divideRoundingDown(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}
