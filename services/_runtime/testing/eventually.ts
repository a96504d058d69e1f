import { sleep } from "../sleep.ts";

/** Asks again until there is an answer other than undefined or false; throws what it was waiting for when time is up. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { withinSeconds = 20 } = {},
): Promise<T> {
  const deadline = Date.now() + withinSeconds * 1000;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      last = error;
    }
    await sleep(25);
  }
  throw new Error(`Waited ${withinSeconds} s for ${what}, in vain.`, { cause: last });
}
