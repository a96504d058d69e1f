import { randomUUID } from "node:crypto";
import type {
  CreateAccountingExportRequest,
  CreateAccountingExportResponse,
} from "@pragma/contracts/accounting-export";
import { ApiError, type RequestIssue, type RequestIssueCode } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { runAfterCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { type AuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { ReportingServiceContext } from "../context.ts";
import { type AccountingConfigRow, findAccountingConfigsByIds } from "../queries/accounting-configs.ts";
import { insertAccountingExportWithFiles, lockAndCountUnfinishedExports } from "../queries/accounting-exports.ts";
import { findTillIdsOfLocation } from "../queries/tills.ts";

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
  { db, pollAccountingExports, config: { MAX_UNFINISHED_EXPORTS_PER_LOCATION: maximum } }: ReportingServiceContext,
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
  const id = randomUUID();
  const locations = new Set(items.map(({ locationId }) => locationId));
  const locationId = locations.size === 1 ? (items[0]?.locationId ?? null) : null;
  const { keyId, consumer } = principal;
  await db.transaction(async (tx) => {
    if ((await lockAndCountUnfinishedExports(tx, db, { locationId, keyId })) >= maximum) {
      throw new ApiError("limit_reached", {
        detail: `${locationId ? "This location" : "This API key"} has ${maximum} unfinished exports${locationId ? "" : " for several locations"}, which is the maximum. Wait until one of them has finished.`,
        limit: {
          name: "unfinished_exports",
          maximum,
          unit: locationId ? "exports per location" : "exports per API key",
        },
      });
    }
    const references = await findReferencedTillsAndConfigs(tx, items);
    throwIfInvalid(findItemIssues(items, references));
    const files = planExportFiles(items, references.configsById);
    await insertAccountingExportWithFiles(tx, {
      id,
      ...{ locationId, keyId, consumer },
      traceparent: context.traceparent,
      files: [...files.values()],
      items: items.map((item, position) => ({
        locationId: item.locationId,
        position,
        tillId: item.tillId,
        fileNumber: files.get(exportFileKey(item))?.number ?? 0,
      })),
    });
    await publishAuditEvent(tx, audit, {
      ...{ action: "accounting_export.created", locationId, target: { type: "accounting_export", id } },
      details: { tills: items.length, locations: locations.size },
    });
    runAfterCommit(tx, pollAccountingExports);
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
function planExportFiles(items: LocatedExportItem[], configsById: Map<string, AccountingConfigRow>) {
  const itemsByFile = new Map(items.map((item) => [exportFileKey(item), item]));
  return new Map(
    [...itemsByFile].map(([key, { locationId, accountingConfigId, accountingProvider }], index) => [
      key,
      {
        number: index + 1,
        locationId,
        configId: accountingConfigId,
        provider: accountingProvider,
        config: configsById.get(accountingConfigId)?.body ?? "",
      },
    ]),
  );
}
