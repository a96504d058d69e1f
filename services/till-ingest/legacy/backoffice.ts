import { ApiError } from "@pragma/contracts/errors";
import type { LegacyTill } from "@pragma/contracts/legacy-till";
import type { PosApplicationName } from "@pragma/contracts/pos-application";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { z } from "zod";
import type { TillIngestServiceConfig } from "../config.ts";

/** The address of the legacy backoffice of one POS application, with its bearer token. */
export interface LegacyBackofficeAddress {
  /** The base URL without a trailing slash. */
  baseUrl: string;
  token: string | undefined;
}

/** The error of a failed request to a legacy backoffice. API responses contain its message, which states the reason. */
export class LegacyBackofficeError extends Error {}

interface BackofficeRequest {
  config: TillIngestServiceConfig;
  /** Maximum size of the response body after decompression, in bytes. */
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Returns the response body of a GET request to a path below a backoffice's base URL.
 *
 * @throws `LegacyBackofficeError`; the signal's abort reason if the signal is aborted.
 */
export async function fetchFromLegacyBackoffice(
  { baseUrl, token }: LegacyBackofficeAddress,
  path: string,
  { config, maxBytes, signal }: BackofficeRequest,
): Promise<Uint8Array> {
  const { LEGACY_TIMEOUT_SECONDS: seconds } = config;
  // Node.js 20 collects a signal of `AbortSignal.timeout` in `AbortSignal.any`, so that the timeout never happens.
  const abortController = new AbortController();
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    abortController.abort();
  }, seconds * 1000);
  const onAbort = () => abortController.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const response = await fetch(`${baseUrl}${path}`, {
      headers: { accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      redirect: "manual",
      signal: abortController.signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new LegacyBackofficeError(`The backoffice responded with status ${response.status}.`);
    }
    return await readBodyUpTo(response, maxBytes);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LegacyBackofficeError) throw error;
    if (isTimedOut) {
      throw new LegacyBackofficeError(`The backoffice did not respond within ${seconds} s.`, { cause: error });
    }
    throw new LegacyBackofficeError(
      "The backoffice is unreachable, or closed the connection before its response was complete.",
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

async function readBodyUpTo({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new LegacyBackofficeError(`The backoffice's response has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const backofficePageSize = 100;
/** Maximum number of listed tills. A longer list means that the pagination of the backoffice is broken. */
const maxListedTills = 10_000;
const maxPageBytes = 1024 * 1024;

const BackofficePage = z.object({
  data: z.array(z.object({ serverId: z.int().min(1), legacyId: z.int().min(1) })).max(10 * backofficePageSize),
  nextPage: z.int().nullable(),
});

/**
 * Returns the configured address of the backoffice of an application.
 *
 * @throws `ApiError` legacy_not_configured.
 */
export function requireBackofficeAddress(
  config: TillIngestServiceConfig,
  application: PosApplicationName,
): LegacyBackofficeAddress {
  const url = config[`LEGACY_${application}_URL`];
  if (url) return { baseUrl: url.replace(/\/+$/, ""), token: config[`LEGACY_${application}_TOKEN`] };
  throw new ApiError("legacy_not_configured", {
    detail: `No legacy backoffice is configured for ${application}. The operator of this installation can set LEGACY_${application}_URL.`,
  });
}

/**
 * Returns every till that the legacy backoffice of an application lists, without duplicates. With `legacyId`, returns
 * only the tills of that location.
 *
 * @throws `ApiError` legacy_not_configured, legacy_unavailable.
 */
export async function fetchBackofficeTillList(
  config: TillIngestServiceConfig,
  {
    application,
    legacyId,
    signal,
  }: { application: PosApplicationName; legacyId?: number | undefined; signal: AbortSignal },
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
      if (nextPage !== null && nextPage <= page)
        throw new LegacyBackofficeError("The backoffice's list repeats a page.");
      if (tills.size > maxListedTills)
        throw new LegacyBackofficeError(`The backoffice lists more than ${maxListedTills} tills.`);
      page = nextPage;
    }
  } catch (error) {
    if (!(error instanceof LegacyBackofficeError)) throw error;
    throw new ApiError("legacy_unavailable", {
      detail: `The list of tills could not be fetched: ${error.message}`,
      cause: error,
    });
  }
  const listedTills = [...tills.values()];
  return legacyId === undefined ? listedTills : listedTills.filter((till) => till.legacyId === legacyId);
}

async function fetchBackofficePage(
  address: LegacyBackofficeAddress,
  page: number,
  { config, signal }: { config: TillIngestServiceConfig; signal: AbortSignal },
): Promise<z.output<typeof BackofficePage>> {
  const path = `/tills?page=${page}&size=${backofficePageSize}`;
  const bytes = await fetchFromLegacyBackoffice(address, path, { config, maxBytes: maxPageBytes, signal });
  try {
    return BackofficePage.parse(parseJsonBody(bytes));
  } catch (error) {
    throw new LegacyBackofficeError(`Page ${page} of the backoffice has an invalid format.`, { cause: error });
  }
}
