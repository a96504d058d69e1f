import { ApiError } from "@pragma/contracts/errors";
import type { LegacyTill } from "@pragma/contracts/legacy-till";
import type { PosApplicationName } from "@pragma/contracts/pos-application";
import { runWithDeadline } from "@pragma/runtime/concurrency/run-with-deadline";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { z } from "zod";
import type { TillIngestServiceConfig } from "../config.ts";

/** The error of a failed request to a legacy backoffice. API responses contain its message, which states the reason. */
export class LegacyBackofficeError extends Error {}

/** Returns the base URL of a backoffice, without a trailing slash. @throws `ApiError` legacy_not_configured. */
export function requireBackofficeUrl(config: TillIngestServiceConfig, application: PosApplicationName): string {
  const url = config[`LEGACY_${application}_URL`];
  if (url) return url.replace(/\/+$/, "");
  throw new ApiError("legacy_not_configured", {
    detail: `No legacy backoffice is configured for ${application}. The operator of this installation can set LEGACY_${application}_URL.`,
  });
}

interface BackofficeRequest {
  application: PosApplicationName;
  path: string;
  /** Maximum size of the response body after decompression, in bytes. */
  maxBytes: number;
  signal: AbortSignal;
}

/** Returns a response body. @throws `LegacyBackofficeError`; `ApiError` legacy_not_configured; the abort reason. */
export async function fetchFromLegacyBackoffice(
  config: TillIngestServiceConfig,
  { application, path, maxBytes, signal: parent }: BackofficeRequest,
): Promise<Uint8Array> {
  const url = `${requireBackofficeUrl(config, application)}${path}`;
  const token = config[`LEGACY_${application}_TOKEN`];
  const headers = { accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const seconds = config.LEGACY_TIMEOUT_SECONDS;
  const createError = () => new LegacyBackofficeError(`The backoffice did not respond within ${seconds} s.`);
  const deadline = { timeoutMs: seconds * 1000, createError, parent };
  try {
    return await runWithDeadline(async (signal) => {
      const response = await fetch(url, { headers, redirect: "manual", signal });
      if (response.status === 200) return readBodyUpTo(response, maxBytes);
      await response.body?.cancel();
      throw new LegacyBackofficeError(`The backoffice responded with status ${response.status}.`);
    }, deadline);
  } catch (error) {
    parent.throwIfAborted();
    if (error instanceof LegacyBackofficeError) throw error;
    throw new LegacyBackofficeError(
      "The backoffice is unreachable, or closed the connection before its response was complete.",
      { cause: error },
    );
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

/** Returns the tills that a backoffice lists. @throws `ApiError` legacy_not_configured, legacy_unavailable. */
export async function fetchBackofficeTillList(
  config: TillIngestServiceConfig,
  { application, legacyId, signal }: Omit<BackofficeRequest, "path" | "maxBytes"> & { legacyId: number | undefined },
): Promise<LegacyTill[]> {
  const tills = new Map<number, LegacyTill>();
  try {
    for (let page: number | null = 1; page !== null; ) {
      const path = `/tills?page=${page}&size=${backofficePageSize}`;
      const bytes = await fetchFromLegacyBackoffice(config, { application, path, maxBytes: maxPageBytes, signal });
      const { data, nextPage }: z.output<typeof BackofficePage> = parseBackofficePage(bytes, page);
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
  return [...tills.values()].filter((till) => legacyId === undefined || till.legacyId === legacyId);
}

function parseBackofficePage(bytes: Uint8Array, page: number) {
  try {
    return BackofficePage.parse(parseJsonBody(bytes));
  } catch (error) {
    throw new LegacyBackofficeError(`Page ${page} of the backoffice has an invalid format.`, { cause: error });
  }
}
