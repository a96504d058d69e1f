import { type BulkExportData, bulkExportDataScopes } from "@pragma/contracts/bulk-export-columns";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import type { ReportingContext } from "../../../context.ts";
import { findExport } from "../../queries/export-queries.ts";
import type { BulkExportTypes } from "../bulk-exports.ts";

/** The properties that are equal in all routes of exports. */
export const exportRouteDefaults = { tag: "Exports", audience: "public", scope: "reports:read" } as const;

export const exportParams = z.object({ id: z.guid().meta({ description: "ID of the export" }) });

export const dataScopesDescription =
  "Exports of `orders`, `items` and `payments` require the scope `orders:read` in addition to `reports:read`.";

/** @throws `ApiError` scope_missing that names the scopes that the key needs for the rows. */
export function requireDataScopes({ scopes }: Principal, data: BulkExportData): void {
  const missing = bulkExportDataScopes[data].filter((scope) => !hasScope(scopes, scope));
  if (missing.length === 0) return;
  throw new ApiError("scope_missing", {
    detail: `Exports of ${data} require the scope ${missing.join(" and ")}. Scopes of the API key's consumer: ${scopes.join(", ") || "none"}.`,
  });
}

/** @throws `ApiError` export_not_found, also for an export of another location. */
export async function requireBulkExport({ db }: Pick<ReportingContext, "db">, principal: Principal, id: string) {
  const locationId = getReadRestrictionLocationId(principal);
  const found = await findExport<BulkExportTypes>(db.sql, "bulk", { id, locationId });
  if (!found) throw exportNotFoundError(id);
  return found;
}

export function exportNotFoundError(id: string): ApiError {
  return new ApiError("export_not_found", { detail: `This location has no export ${id}.` });
}
