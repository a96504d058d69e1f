/** A calculation for tests of thread pools: keeps so many numbers, in lists of a thousand. */
export default function allocateNumbers(count: number): number {
  const kept: number[][] = [];
  for (let i = 0; i < count; i += 1_000) kept.push(Array.from({ length: 1_000 }, (_, index) => i + index + 0.5));
  return kept.length;
}
