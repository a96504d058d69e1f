import { type Application, applicationSchema } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import type { LegacyTill } from "@pragma/contracts/legacy-till";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { numberFromEnv } from "@pragma/runtime/config";
import { refuseFaults } from "@pragma/runtime/faults";
import { parseJson } from "@pragma/runtime/parse-json";
import { z } from "zod";

const baseUrl = z.url({ protocol: /^https?$/, error: "must be a http:// or https:// URL" }).optional();
const token = z.string().min(1).optional();

/** Where legacy backoffices are, and how they are asked. */
export const legacyConfig = {
  LEGACY_POPINA_URL: baseUrl,
  LEGACY_POPINA_TOKEN: token,
  LEGACY_JALIA_URL: baseUrl,
  LEGACY_JALIA_TOKEN: token,
  /** For the whole answer to each request. */
  LEGACY_TIMEOUT_SECONDS: numberFromEnv(1, 20).default(5),
  /** Tills of one call that are fetched at a time. */
  LEGACY_CONCURRENCY: numberFromEnv(1, 32).default(4),
};

type LegacyConfig = z.output<z.ZodObject<typeof legacyConfig>>;

/** The backoffice of an application. */
export interface LegacyAddress {
  /** Without a slash at its end. */
  base: string;
  token: string | undefined;
}

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
  config: LegacyConfig;
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
  { config, limit, signal }: Asking,
): Promise<Uint8Array> {
  const { LEGACY_TIMEOUT_SECONDS: seconds } = config;
  const inTime = AbortSignal.timeout(seconds * 1000);
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
      throw new BackofficeFailure(`The backoffice did not answer within ${seconds} s.`, { cause: error });
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

const pageSize = 100;
/** Tills of one list: a backoffice that goes on beyond is not believed. */
const mostTills = 10_000;
const pageLimit = 1024 * 1024;

const Page = z.object({
  data: z.array(z.object({ serverId: z.int().min(1), legacyId: z.int().min(1) })).max(10 * pageSize),
  nextPage: z.int().nullable(),
});

/** @throws `ApiError` legacy_not_configured. */
export function addressOf(config: LegacyConfig, application: Application): LegacyAddress {
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
  config: LegacyConfig,
  { application, legacyId, signal }: { application: Application; legacyId?: number | undefined; signal: AbortSignal },
): Promise<LegacyTill[]> {
  const address = addressOf(config, application);
  const tills = new Map<number, LegacyTill>();
  try {
    for (let page: number | null = 1; page !== null; ) {
      const { data, nextPage }: z.output<typeof Page> = await readPage(address, page, { config, signal });
      for (const till of data) tills.set(till.serverId, { application, ...till });
      if (nextPage !== null && nextPage <= page) throw new BackofficeFailure("The backoffice's list goes in circles.");
      if (tills.size > mostTills) throw new BackofficeFailure(`The backoffice lists more than ${mostTills} tills.`);
      page = nextPage;
    }
  } catch (error) {
    if (!(error instanceof BackofficeFailure)) throw error;
    throw new ApiError("legacy_unavailable", { detail: `The list cannot be had: ${error.message}`, cause: error });
  }
  const all = [...tills.values()];
  return legacyId === undefined ? all : all.filter((till) => till.legacyId === legacyId);
}

async function readPage(
  address: LegacyAddress,
  page: number,
  { config, signal }: { config: LegacyConfig; signal: AbortSignal },
): Promise<z.output<typeof Page>> {
  const path = `/tills?page=${page}&size=${pageSize}`;
  const bytes = await askBackoffice(address, path, { config, limit: pageLimit, signal });
  try {
    return Page.parse(parseJson(bytes));
  } catch (error) {
    throw new BackofficeFailure(`What the backoffice answers as page ${page} is no page of a list.`, { cause: error });
  }
}
