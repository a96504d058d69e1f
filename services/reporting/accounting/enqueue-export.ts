import type {
  CreateAccountingExportRequest,
  CreateAccountingExportResponse,
} from "@pragma/contracts/accounting-export";
import { ApiError, type RequestIssue, type RequestIssueCode } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { groupByKey } from "../calculation/groups.ts";
import type { ReportingContext } from "../context.ts";
import { createExport, type ExportRequest } from "../exports/run-export.ts";
import { type AccountingExportTypes, accountingExports } from "./accounting-exports.ts";

type StoredConfig = { id: string; locationId: string; body: string };
type LocatedExportItem = CreateAccountingExportRequest[number] & { locationId: string };

/**
 * Enqueues an export. Stores the export with copies of its configs, so that later changes of the configs do not affect
 * it. Tills of the same location, config and provider share one file.
 *
 * @throws `ApiError` location_forbidden when a key without `locations:any` requests a till of another location;
 * invalid_request, which lists every item without a location, or else every duplicate and every item whose location
 * does not have the till or the config; limit_reached when the location, or the API key if the tills belong to several
 * locations, already has the maximum number of unfinished exports.
 */
export async function enqueueAccountingExport(
  services: ReportingContext,
  body: CreateAccountingExportRequest,
  request: Pick<ExportRequest<AccountingExportTypes>, "principal" | "context" | "audit">,
): Promise<CreateAccountingExportResponse> {
  const items = resolveItemLocations(body, request.principal);
  const locations = new Set(items.map(({ locationId }) => locationId));
  const [onlyLocation = null] = locations.size === 1 ? locations : [];
  const { id } = await createExport(services, accountingExports, {
    ...request,
    locationId: onlyLocation,
    async prepare(tx) {
      const references = await findReferencedTillsAndConfigs(tx, items);
      throwIfInvalid(findItemIssues(items, references));
      const auditDetails = { tills: items.length, locations: locations.size };
      return { request: {}, files: planFiles(items, references.configsById), auditDetails };
    },
  });
  return { id, tillsIds: [...new Set(items.map(({ tillId }) => tillId))] };
}

/** Returns the items with ids in lower case. The location of an item defaults to the location of the API key. */
function resolveItemLocations(
  body: CreateAccountingExportRequest,
  { location, scopes }: Principal,
): LocatedExportItem[] {
  const missingLocationIssues: RequestIssue[] = [];
  const forbiddenIndexes: number[] = [];
  const items = body.map((item, index) => {
    const locationId = item.locationId?.toLowerCase() ?? location?.id ?? "";
    if (locationId === "") {
      const message = "Is required, because this API key has no location";
      missingLocationIssues.push({ in: "body", path: `[${index}].locationId`, code: "required", message });
    } else if (locationId !== location?.id && !hasScope(scopes, "locations:any")) forbiddenIndexes.push(index);
    const tillId = item.tillId.toLowerCase();
    return { ...item, tillId, accountingConfigId: item.accountingConfigId.toLowerCase(), locationId };
  });
  throwIfInvalid(missingLocationIssues);
  if (forbiddenIndexes.length > 0) {
    const paths = forbiddenIndexes.map((index) => `[${index}].locationId`).join(", ");
    throw new ApiError("location_forbidden", {
      detail: `This API key can export only the tills of its own location. Omit locationId, or change it in: ${paths}.`,
    });
  }
  return items;
}

/** Finds the tills and configs of the items. Reads one location at a time. Keys of tills contain their location. */
async function findReferencedTillsAndConfigs(tx: SqlTransaction, items: LocatedExportItem[]) {
  const tillKeys = new Set<string>();
  const configsById = new Map<string, StoredConfig>();
  for (const itemsOfLocation of groupByKey(items, ({ locationId }) => [locationId])) {
    const [{ locationId }] = itemsOfLocation;
    const tillIds = itemsOfLocation.map(({ tillId }) => tillId);
    const tills = await tx<{ tillId: string }[]>`
      select till_id from tills where location_id = ${locationId} and till_id = any(${tillIds}::uuid[])`;
    for (const { tillId } of tills) tillKeys.add(`${locationId} ${tillId}`);
    const configIds = itemsOfLocation.map(({ accountingConfigId }) => accountingConfigId);
    const configs = await tx<StoredConfig[]>`
      select id, location_id, body from accounting_configs where location_id = ${locationId} and id = any(${configIds}::uuid[])`;
    for (const config of configs) configsById.set(config.id, config);
  }
  return { tillKeys, configsById };
}

function findItemIssues(
  items: LocatedExportItem[],
  { tillKeys, configsById }: Awaited<ReturnType<typeof findReferencedTillsAndConfigs>>,
): RequestIssue[] {
  const seenKeys = new Set<string>();
  return items.flatMap((item, index) => {
    const issues: RequestIssue[] = [];
    const add = (path: string, code: RequestIssueCode, message: string) =>
      issues.push({ in: "body", path: `[${index}]${path}`, code, message });
    if (!tillKeys.has(`${item.locationId} ${item.tillId}`)) {
      add(".tillId", "unknown_till", "Must be the ID of a processed till of the location");
    }
    if (configsById.get(item.accountingConfigId)?.locationId !== item.locationId) {
      add(".accountingConfigId", "unknown_config", "Must be the ID of an accounting config of the location");
    }
    const key = [...getFileKey(item), item.tillId].join(" ");
    if (seenKeys.has(key)) add("", "duplicate", "Must be unique, because a file contains each till only once");
    seenKeys.add(key);
    return issues;
  });
}

function getFileKey({ locationId, accountingConfigId, accountingProvider }: LocatedExportItem): string[] {
  return [locationId, accountingConfigId, accountingProvider];
}

/** Returns the files of an export, numbered in the sequence in which the request contains their first items. */
function planFiles(items: LocatedExportItem[], configsById: Map<string, StoredConfig>) {
  const positioned = items.map((item, position) => ({ ...item, position }));
  return groupByKey(positioned, getFileKey).map((group, index) => {
    const { locationId, accountingConfigId: configId, accountingProvider: provider } = group[0];
    const config = configsById.get(configId)?.body ?? "";
    const tills = group.map(({ position, tillId }) => ({ position, tillId, state: "pending" as const, failure: null }));
    return { number: index + 1, locationId, details: { configId, config, provider, tills, entries: 0 } };
  });
}
