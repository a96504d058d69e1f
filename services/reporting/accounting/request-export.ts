import { randomUUID } from "node:crypto";
import type { CreateAccountingExport, StartedAccountingExport } from "@pragma/contracts/accounting-export";
import { ApiError, type RequestIssue } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { runAfterCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import type { ReportingContext } from "../context.ts";
import { type AccountingConfigRow, findAccountingConfigRows } from "../queries/accounting-configs.ts";
import {
  countUnfinishedExportsOfOwner,
  findLocationsOfTills,
  insertAccountingExport,
} from "../queries/accounting-exports.ts";

type LocatedExportItem = CreateAccountingExport[number] & { locationId: string };

/**
 * Writes down an export with everything that it is to be made from, configs as they are now, and has it made. Tills of
 * one location, config and provider come into one file.
 *
 * @throws `ApiError` location_forbidden when an item names another location than the key's own without `locations:any`;
 * invalid_request naming every item whose till or config the location does not have, or that is there twice;
 * limit_reached when too many exports of the location have not come to their end.
 */
export async function requestAccountingExport(
  { db, wakeExports, config: { EXPORTS_UNFINISHED_PER_LOCATION: maximum } }: ReportingContext,
  { body, principal, context }: { body: CreateAccountingExport; principal: Principal; context: RequestContext },
): Promise<StartedAccountingExport> {
  const items = resolveItemLocations(body, principal);
  const id = randomUUID();
  const locations = new Set(items.map(({ locationId }) => locationId));
  const locationId = locations.size === 1 ? (items[0]?.locationId ?? null) : null;
  const { keyId, consumer } = principal;
  await db.transaction(async (tx) => {
    if ((await countUnfinishedExportsOfOwner(tx, db, { locationId, keyId })) >= maximum) {
      throw new ApiError("limit_reached", {
        detail: `This location has ${maximum} exports that have not come to their end. Wait until one has.`,
        limit: { name: "unfinished_exports", maximum, unit: "exports per location" },
      });
    }
    const configs = await findAccountingConfigRows(
      tx,
      items.map(({ accountingConfigId }) => accountingConfigId),
    );
    const configsById = new Map(configs.map((config) => [config.id, config]));
    throwIfInvalid(await findItemIssues(tx, items, configsById));
    const files = planExportFiles(items, configsById);
    await insertAccountingExport(tx, {
      id,
      ...{ locationId, keyId, consumer },
      traceparent: context.traceparent,
      files: [...files.values()],
      items: items.map((item, position) => ({
        position,
        tillId: item.tillId,
        fileNumber: files.get(exportFileKey(item))?.number ?? 0,
      })),
    });
    runAfterCommit(tx, wakeExports);
  });
  return { id, tillsIds: [...new Set(items.map(({ tillId }) => tillId))] };
}

/** Every item with its location, and ids in lower case. */
function resolveItemLocations(body: CreateAccountingExport, { location, scopes }: Principal): LocatedExportItem[] {
  const missingLocationIssues: RequestIssue[] = [];
  const forbiddenIndexes: number[] = [];
  const items = body.map((item, index) => {
    const locationId = item.locationId?.toLowerCase() ?? location?.id ?? "";
    if (locationId === "") {
      const message = "is required: this key belongs to no location, so name one";
      missingLocationIssues.push({ in: "body", path: `[${index}].locationId`, code: "required", message });
    } else if (locationId !== location?.id && !hasScope(scopes, "locations:any")) forbiddenIndexes.push(index);
    const tillId = item.tillId.toLowerCase();
    return { ...item, tillId, accountingConfigId: item.accountingConfigId.toLowerCase(), locationId };
  });
  throwIfInvalid(missingLocationIssues);
  if (forbiddenIndexes.length > 0) {
    const paths = forbiddenIndexes.map((index) => `[${index}].locationId`).join(", ");
    throw new ApiError("location_forbidden", {
      detail: `locationId must be the location of the API key, or be left out. It is not in: ${paths}.`,
    });
  }
  return items;
}

async function findItemIssues(
  tx: SqlTransaction,
  items: LocatedExportItem[],
  configOf: Map<string, AccountingConfigRow>,
): Promise<RequestIssue[]> {
  const tillLocations = await findLocationsOfTills(
    tx,
    items.map(({ tillId }) => tillId),
  );
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const faults: RequestIssue[] = [];
    const add = (path: string, code: string, message: string) =>
      faults.push({ in: "body", path: `[${index}]${path}`, code, message });
    if (tillLocations.get(item.tillId) !== item.locationId) {
      add(".tillId", "unknown_till", "must be the id of a till of the location that has come to its report");
    }
    if (configOf.get(item.accountingConfigId)?.locationId !== item.locationId) {
      add(".accountingConfigId", "unknown_config", "must be the id of an accounting config of the location");
    }
    const key = `${exportFileKey(item)} ${item.tillId}`;
    if (seen.has(key)) add("", "duplicate", "must not be the same as another: a till comes into a file once");
    seen.add(key);
    return faults;
  });
}

function exportFileKey({ locationId, accountingConfigId, accountingProvider }: LocatedExportItem): string {
  return `${locationId} ${accountingConfigId} ${accountingProvider}`;
}

/** The files of an export, numbered in the order in which items first name them. */
function planExportFiles(items: LocatedExportItem[], configOf: Map<string, AccountingConfigRow>) {
  const byKey = new Map(items.map((item) => [exportFileKey(item), item]));
  return new Map(
    [...byKey].map(([key, { locationId, accountingConfigId, accountingProvider }], index) => [
      key,
      {
        number: index + 1,
        locationId,
        configId: accountingConfigId,
        provider: accountingProvider,
        config: configOf.get(accountingConfigId)?.body ?? "",
      },
    ]),
  );
}
