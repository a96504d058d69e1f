import type {
  CreateAccountingExportRequest,
  CreateAccountingExportResponse,
} from "@pragma/contracts/accounting-export";
import { ApiError, type RequestIssue, type RequestIssueCode } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import type { AuditSource } from "@pragma/runtime/messaging/audit-events";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { findTillIdsOfLocation } from "../documents/queries/tills.ts";
import type { ExportsContext } from "../exports/context.ts";
import type { NewExport } from "../exports/queries/export-queries.ts";
import { createExport } from "../exports/run-export.ts";
import { type AccountingExportTypes, accountingExports } from "./accounting-exports.ts";
import { type AccountingConfigRow, findAccountingConfigsByIds } from "./queries/accounting-configs.ts";

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
  services: ExportsContext,
  {
    body,
    principal,
    context,
    audit,
  }: {
    body: CreateAccountingExportRequest;
    principal: Principal;
    context: ObservabilityContext;
    audit: AuditSource;
  },
): Promise<CreateAccountingExportResponse> {
  const items = resolveItemLocations(body, principal);
  const locations = new Set(items.map(({ locationId }) => locationId));
  const locationId = locations.size === 1 ? (items[0]?.locationId ?? null) : null;
  const { id } = await createExport(services, accountingExports, {
    ...{ locationId, principal, context, audit },
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

/** The existing tills and configs of an export. Keys of tills are the ids of the location and of the till. */
interface ReferencedTillsAndConfigs {
  tillKeys: Set<string>;
  configsById: Map<string, AccountingConfigRow>;
}

/** Finds the tills and configs of the items. Reads one location at a time. */
async function findReferencedTillsAndConfigs(
  tx: SqlTransaction,
  items: LocatedExportItem[],
): Promise<ReferencedTillsAndConfigs> {
  const tillKeys = new Set<string>();
  const configsById = new Map<string, AccountingConfigRow>();
  for (const locationId of new Set(items.map((item) => item.locationId))) {
    const itemsOfLocation = items.filter((item) => item.locationId === locationId);
    const tillIds = itemsOfLocation.map(({ tillId }) => tillId);
    for (const tillId of await findTillIdsOfLocation(tx, { locationId, tillIds }))
      tillKeys.add(`${locationId} ${tillId}`);
    const ids = itemsOfLocation.map(({ accountingConfigId }) => accountingConfigId);
    for (const config of await findAccountingConfigsByIds(tx, { locationId, ids })) configsById.set(config.id, config);
  }
  return { tillKeys, configsById };
}

function findItemIssues(
  items: LocatedExportItem[],
  { tillKeys, configsById }: ReferencedTillsAndConfigs,
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
    const key = `${exportFileKey(item)} ${item.tillId}`;
    if (seenKeys.has(key)) add("", "duplicate", "Must be unique, because a file contains each till only once");
    seenKeys.add(key);
    return issues;
  });
}

function exportFileKey({ locationId, accountingConfigId, accountingProvider }: LocatedExportItem): string {
  return `${locationId} ${accountingConfigId} ${accountingProvider}`;
}

/** Returns the files of an export, numbered in the sequence in which the request contains their first items. */
function planFiles(items: LocatedExportItem[], configsById: Map<string, AccountingConfigRow>) {
  const files = new Map<string, NewExport<AccountingExportTypes>["files"][number]>();
  for (const [position, item] of items.entries()) {
    const { locationId, accountingConfigId: configId, accountingProvider: provider, tillId } = item;
    const key = exportFileKey(item);
    const config = configsById.get(configId)?.body ?? "";
    const file = files.get(key) ?? {
      ...{ number: files.size + 1, locationId, details: { configId, config, provider, tills: [], entries: 0 } },
    };
    file.details.tills.push({ position, tillId, state: "pending", failure: null });
    files.set(key, file);
  }
  return [...files.values()];
}
