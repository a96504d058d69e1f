import type { Application } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import type { LegacyTill } from "@pragma/contracts/legacy-till";
import { parseJson } from "@pragma/runtime/parse-json";
import { z } from "zod";
import { askBackoffice, BackofficeFailure } from "./ask-backoffice.ts";
import type { LegacyAddress, LegacySettings } from "./legacy-config.ts";

const pageSize = 100;
/** Tills of one list: a backoffice that goes on beyond is not believed. */
const mostTills = 10_000;
const pageLimit = 1024 * 1024;

const Page = z.object({
  data: z.array(z.object({ serverId: z.int().min(1), legacyId: z.int().min(1) })).max(10 * pageSize),
  nextPage: z.int().nullable(),
});

/** @throws `ApiError` legacy_not_configured. */
export function addressOf({ addresses }: LegacySettings, application: Application): LegacyAddress {
  const address = addresses[application];
  if (address) return address;
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
  settings: LegacySettings,
  { application, legacyId, signal }: { application: Application; legacyId?: number | undefined; signal: AbortSignal },
): Promise<LegacyTill[]> {
  const address = addressOf(settings, application);
  const tills = new Map<number, LegacyTill>();
  try {
    for (let page: number | null = 1; page !== null; ) {
      const { data, nextPage }: z.output<typeof Page> = await readPage(address, page, { settings, signal });
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
  { settings, signal }: { settings: LegacySettings; signal: AbortSignal },
): Promise<z.output<typeof Page>> {
  const { timeout } = settings;
  const path = `/tills?page=${page}&size=${pageSize}`;
  const bytes = await askBackoffice(address, path, { timeout, limit: pageLimit, signal });
  try {
    return Page.parse(parseJson(bytes));
  } catch (error) {
    throw new BackofficeFailure(`What the backoffice answers as page ${page} is no page of a list.`, { cause: error });
  }
}
