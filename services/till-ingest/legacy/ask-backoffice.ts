import { type Application, applicationSchema } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { refuseFaults } from "@pragma/runtime/faults";
import { z } from "zod";
import type { LegacyAddress } from "./legacy-config.ts";

export const applicationQuery = z.object({
  application: applicationSchema
    .optional()
    .meta({ description: "Whose legacy backoffice; that of the key's location when left out" }),
});

/**
 * The backoffice that a request is about, and the location whose tills a key may see there: its own, unless it may act
 * for any.
 *
 * @throws `ApiError` location_forbidden, invalid_request for a key without a location that names no application.
 */
export function askedBackoffice(
  { location, scopes }: Principal,
  asked: Application | undefined,
): { application: Application; legacyId: number | undefined } {
  const application = asked ?? location?.application;
  if (allows(scopes, "locations:any")) {
    if (application) return { application, legacyId: undefined };
    const message = "is required: this key belongs to no location, so name one";
    refuseFaults([{ in: "query", path: "application", code: "required", message }]);
  }
  if (!application || application !== location?.application) {
    throw new ApiError("location_forbidden", { detail: "application must be that of the API key's location." });
  }
  // No location of a legacy backoffice has this number.
  return { application, legacyId: location.legacyId ?? 0 };
}

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
