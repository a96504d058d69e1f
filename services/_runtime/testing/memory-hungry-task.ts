/** A worker pool task for tests. Allocates `count` numbers in arrays of 1,000 and returns the number of arrays. */
export default function allocateNumbers(count: number): number {
  const arrays: number[][] = [];
  for (let i = 0; i < count; i += 1_000) arrays.push(Array.from({ length: 1_000 }, (_, index) => i + index + 0.5));
  return arrays.length;
}
