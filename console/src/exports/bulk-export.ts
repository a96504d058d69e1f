import type { ApiSchemaTypes } from "@pragma/client";
import { type CurrentKey, hasAnyScope } from "../session/session.ts";

export type BulkExport = ApiSchemaTypes["Export"];
export type ListedBulkExport = ApiSchemaTypes["ExportListItem"];

/** Whether a key that reads reports may also export these rows: those with orders need a scope of their own. */
export const canExport = (key: CurrentKey, data: BulkExport["data"]): boolean =>
  data === "reports" || data === "taxes" || hasAnyScope(key, "orders:read");

export const isUnfinished = ({ state }: { state: string }): boolean =>
  state === "queued" || state === "pending" || state === "running";

/** How often a view reads exports again, in milliseconds: often while one runs. */
export const getRefetchMs = (exports: readonly { state: string }[]): number =>
  exports.some(isUnfinished) ? 2_000 : 30_000;
