import { sleep } from "../concurrency/sleep.ts";

/**
 * Asks again until there is an answer other than undefined or false, less often the longer that takes; throws what it
 * was waiting for when time is up.
 */
export async function eventually<T>(
  description: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { withinSeconds = 20 } = {},
): Promise<T> {
  const started = Date.now();
  const deadline = started + withinSeconds * 1000;
  let lastError: unknown;
  while (Date.now() < deadline) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      lastError = error;
    }
    await sleep(Math.min(250, Math.max(25, (Date.now() - started) / 20)));
  }
  throw new Error(`Waited ${withinSeconds} s for ${description}, in vain.`, { cause: lastError });
}
