import { sleep } from "../concurrency/sleep.ts";

/** In CI, files that start whole installations share two cores, so that everything can take several times as long. */
const timeoutFactor = process.env.CI ? 3 : 1;

/**
 * Calls `probe`, at increasing intervals, until it returns a value other than undefined or false. Returns this value.
 * If `probe` throws an error, calls it again.
 *
 * @throws `Error` with the description after the timeout, which is three times as long in CI. `cause` is the last error of
 * `probe`.
 */
export async function eventually<T>(
  description: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutSeconds = 20 } = {},
): Promise<T> {
  const started = Date.now();
  const maxSeconds = timeoutSeconds * timeoutFactor;
  const deadline = started + maxSeconds * 1000;
  let lastError: unknown;
  while (Date.now() < deadline) {
    try {
      const result = await probe();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      lastError = error;
    }
    await sleep(Math.min(250, Math.max(25, (Date.now() - started) / 20)));
  }
  throw new Error(`Timed out after ${maxSeconds} s waiting for ${description}.`, { cause: lastError });
}
