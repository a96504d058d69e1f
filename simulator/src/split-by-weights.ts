import { roundHalfAway } from "@pragma/contracts/money";

/**
 * Splits an amount in proportion to the weights, so that the parts add up to exactly the amount. Weights are whole
 * numbers of at least 0, not all 0.
 */
export function splitByWeights(amount: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let weightSoFar = 0;
  let amountSoFar = 0;
  return weights.map((weight) => {
    weightSoFar += weight;
    const upToHere = roundHalfAway(amount * weightSoFar, sum);
    const part = upToHere - amountSoFar;
    amountSoFar = upToHere;
    return part;
  });
}
