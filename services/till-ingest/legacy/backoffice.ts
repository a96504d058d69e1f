import { ApiError } from "@pragma/contracts/errors";
import type { LegacyTill } from "@pragma/contracts/legacy-till";
import { type PosApplication, posApplicationSchema } from "@pragma/contracts/pos-application";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { numberFromEnv } from "@pragma/runtime/config/runtime-config";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { z } from "zod";

const baseUrl = z.url({ protocol: /^https?$/, error: "must be a http:// or https:// URL" }).optional();
const token = z.string().min(1).optional();

/** Where legacy backoffices are, and how they are asked. */
export const legacyBackofficeVariables = {
  LEGACY_POPINA_URL: baseUrl,
  LEGACY_POPINA_TOKEN: token,
  LEGACY_JALIA_URL: baseUrl,
  LEGACY_JALIA_TOKEN: token,
  /** For the whole answer to each request. */
  LEGACY_TIMEOUT_SECONDS: numberFromEnv(1, 20).default(5),
  /** Tills of one call that are fetched at a time. */
  LEGACY_CONCURRENCY: numberFromEnv(1, 32).default(4),
};

type LegacyBackofficeVariables = z.output<z.ZodObject<typeof legacyBackofficeVariables>>;

/** The backoffice of an application. */
export interface BackofficeAddress {
  /** Without a slash at its end. */
  base: string;
  token: string | undefined;
}

export const legacyApplicationQuery = z.object({
  application: posApplicationSchema
    .optional()
    .meta({ description: "Whose legacy backoffice; that of the key's location when left out" }),
});

/**
 * The backoffice that a request is about, and the location whose tills a key may see there: its own, unless it may act
 * for any.
 *
 * @throws `ApiError` location_forbidden, invalid_request for a key without a location that names no application.
 */
export function resolveLegacyTillFilter(
  { location, scopes }: Principal,
  requested: PosApplication | undefined,
): { application: PosApplication; legacyId: number | undefined } {
  const application = requested ?? location?.application;
  if (hasScope(scopes, "locations:any")) {
    if (application) return { application, legacyId: undefined };
    const message = "is required: this key belongs to no location, so name one";
    throwIfInvalid([{ in: "query", path: "application", code: "required", message }]);
  }
  if (!application || application !== location?.application) {
    throw new ApiError("location_forbidden", { detail: "application must be that of the API key's location." });
  }
  // No location of a legacy backoffice has this number.
  return { application, legacyId: location.legacyId ?? 0 };
}

/** A backoffice did not give what it was asked for; the message says why, in words for the caller. */
export class BackofficeError extends Error {}

interface BackofficeRequest {
  config: LegacyBackofficeVariables;
  /** Bytes of the answer at most, inflated. */
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Gets an address below a backoffice's base URL; its bytes.
 *
 * @throws `BackofficeFailure`; whatever the signal was given for.
 */
export async function fetchFromBackoffice(
  { base, token }: BackofficeAddress,
  path: string,
  { config, maxBytes, signal }: BackofficeRequest,
): Promise<Uint8Array> {
  const { LEGACY_TIMEOUT_SECONDS: seconds } = config;
  const timeoutSignal = AbortSignal.timeout(seconds * 1000);
  try {
    const response = await fetch(`${base}${path}`, {
      headers: { accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      redirect: "manual",
      signal: AbortSignal.any([timeoutSignal, signal]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new BackofficeError(`The backoffice answered ${response.status}.`);
    }
    return await readBodyUpTo(response, maxBytes);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BackofficeError) throw error;
    if (timeoutSignal.aborted) {
      throw new BackofficeError(`The backoffice did not answer within ${seconds} s.`, { cause: error });
    }
    throw new BackofficeError("The backoffice cannot be reached, or broke off its answer.", { cause: error });
  }
}

async function readBodyUpTo({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BackofficeError(`The backoffice's answer has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const backofficePageSize = 100;
/** Tills of one list: a backoffice that goes on beyond is not believed. */
const maxListedTills = 10_000;
const maxPageBytes = 1024 * 1024;

const BackofficePage = z.object({
  data: z.array(z.object({ serverId: z.int().min(1), legacyId: z.int().min(1) })).max(10 * backofficePageSize),
  nextPage: z.int().nullable(),
});

/** @throws `ApiError` legacy_not_configured. */
export function requireBackofficeAddress(
  config: LegacyBackofficeVariables,
  application: PosApplication,
): BackofficeAddress {
  const url = config[`LEGACY_${application}_URL`];
  if (url) return { base: url.replace(/\/+$/, ""), token: config[`LEGACY_${application}_TOKEN`] };
  throw new ApiError("legacy_not_configured", {
    detail: `This installation knows of no legacy backoffice of ${application}: its operator has to set LEGACY_${application}_URL.`,
  });
}

/**
 * Every till that the legacy backoffice of an application has, each once; those of one location when `legacyId` is given.
 *
 * @throws `ApiError` legacy_not_configured, legacy_unavailable.
 */
export async function listLegacyTills(
  config: LegacyBackofficeVariables,
  {
    application,
    legacyId,
    signal,
  }: { application: PosApplication; legacyId?: number | undefined; signal: AbortSignal },
): Promise<LegacyTill[]> {
  const address = requireBackofficeAddress(config, application);
  const tills = new Map<number, LegacyTill>();
  try {
    for (let page: number | null = 1; page !== null; ) {
      const { data, nextPage }: z.output<typeof BackofficePage> = await fetchBackofficePage(address, page, {
        config,
        signal,
      });
      for (const till of data) tills.set(till.serverId, { application, ...till });
      if (nextPage !== null && nextPage <= page) throw new BackofficeError("The backoffice's list goes in circles.");
      if (tills.size > maxListedTills)
        throw new BackofficeError(`The backoffice lists more than ${maxListedTills} tills.`);
      page = nextPage;
    }
  } catch (error) {
    if (!(error instanceof BackofficeError)) throw error;
    throw new ApiError("legacy_unavailable", { detail: `The list cannot be had: ${error.message}`, cause: error });
  }
  const all = [...tills.values()];
  return legacyId === undefined ? all : all.filter((till) => till.legacyId === legacyId);
}

async function fetchBackofficePage(
  address: BackofficeAddress,
  page: number,
  { config, signal }: { config: LegacyBackofficeVariables; signal: AbortSignal },
): Promise<z.output<typeof BackofficePage>> {
  const path = `/tills?page=${page}&size=${backofficePageSize}`;
  const bytes = await fetchFromBackoffice(address, path, { config, maxBytes: maxPageBytes, signal });
  try {
    return BackofficePage.parse(parseJsonBody(bytes));
  } catch (error) {
    throw new BackofficeError(`What the backoffice answers as page ${page} is no page of a list.`, { cause: error });
  }
}
