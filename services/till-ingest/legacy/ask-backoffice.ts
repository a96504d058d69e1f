import type { LegacyAddress } from "./legacy-config.ts";

/** A backoffice did not give what it was asked for; the message says why, in words for the caller. */
export class BackofficeFailure extends Error {}

interface Asking {
  /** In milliseconds, for the whole answer. */
  timeout: number;
  /** Bytes of the answer at most, inflated. */
  limit: number;
  signal: AbortSignal;
}

/**
 * Gets an address below a backoffice's base URL; its bytes.
 *
 * @throws `BackofficeFailure`; whatever the signal was given for.
 */
export async function askBackoffice(
  { base, token }: LegacyAddress,
  path: string,
  { timeout, limit, signal }: Asking,
): Promise<Uint8Array> {
  const inTime = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(`${base}${path}`, {
      headers: { accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      redirect: "manual",
      signal: AbortSignal.any([inTime, signal]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new BackofficeFailure(`The backoffice answered ${response.status}.`);
    }
    return await readUpTo(response, limit);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BackofficeFailure) throw error;
    if (inTime.aborted) {
      throw new BackofficeFailure(`The backoffice did not answer within ${timeout / 1000} s.`, { cause: error });
    }
    throw new BackofficeFailure("The backoffice cannot be reached, or broke off its answer.", { cause: error });
  }
}

async function readUpTo({ body }: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw new BackofficeFailure(`The backoffice's answer has more than ${limit} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
