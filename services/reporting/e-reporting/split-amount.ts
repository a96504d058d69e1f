/**
 * Splits what was received for an order over the totals of its VAT rates, in proportion to them. The parts add up to what was
 * received.
 *
 * Totals of both signs can cancel each other, so that in proportion to their sum, a part could be larger than everything that
 * was sold. Unless what was received is between 0 and the sum, each total was then received, and the difference reduces the
 * totals of the other sign first: what was received beyond the sum reduces refunds. Returns undefined if all totals are 0,
 * unless nothing was received.
 */
export function splitReceived(received: number, totals: readonly number[]): number[] | undefined {
  const sum = addUp(totals);
  if (received === sum) return [...totals];
  const [positive, negative] = [totals.map((total) => Math.max(total, 0)), totals.map((total) => Math.min(total, 0))];
  const isMixed = addUp(positive) > 0 && addUp(negative) < 0;
  const isPartial = Math.min(0, sum) <= received && received <= Math.max(0, sum);
  if (!isMixed || isPartial) return splitAmount(received, totals);
  const difference = received - sum;
  const [opposed, others] = difference > 0 ? [negative, positive] : [positive, negative];
  const reduction = Math.sign(difference) * Math.min(Math.abs(difference), Math.abs(addUp(opposed)));
  const reduced = splitAmount(reduction, opposed) ?? [];
  const added = splitAmount(difference - reduction, others) ?? [];
  return totals.map((total, index) => total + (reduced[index] ?? 0) + (added[index] ?? 0));
}

const addUp = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

/**
 * Splits an amount in proportion to weights. The parts add up to the amount: each share is rounded down,
 * and the rest goes to the largest fractions, one minor unit each, the first of equal ones first. A negative amount has the
 * opposite parts of its opposite, as a refund of its sale. Returns undefined if the weights add up to 0.
 */
function splitAmount(amount: number, weights: readonly number[]): number[] | undefined {
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
