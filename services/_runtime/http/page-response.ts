import type { PageLinks, PageMeta } from "@pragma/contracts/pagination";
import { z } from "zod";
import { integerEnvSchema } from "../config/runtime-config.ts";
import type { SqlClient, SqlFragment } from "../database/postgres.ts";
import { buildDataListJson } from "../json/join-json.ts";
import type { RouteHandlerInput } from "./define-route.ts";
import {
  computeListFingerprint,
  decodePageToken,
  encodePageToken,
  listFingerprintSchema,
  pageTokenInstantSchema,
  requireSameList,
} from "./page-token.ts";
import { createSerializedJsonResponse, type RouteHandlerResponse } from "./route-response.ts";

export const pageMaxBytesConfig = {
  /** The maximum total size, in bytes, of the items in a response. A larger item is sent in a response of its own. */
  PAGE_MAX_BYTES: integerEnvSchema(1_024).default(4 * 1024 * 1024),
};

/** The requested part of a sorted list: after the position `after`, skip `offset` items, then return up to `limit`. */
export interface PageRange<Position = { at: string; id: string }> {
  after: Position | null;
  offset: number;
  limit: number;
}

/** The items of a page: fewer than `limit` if the list ends or if more items would exceed `PAGE_MAX_BYTES`. */
export interface PageOfJsonItems<Position> {
  /** The JSON of each item, as text or as UTF-8 bytes. */
  items: (string | Uint8Array)[];
  total: number;
  /** The position of the last item on the page, or null if no further items follow. */
  last: Position | null;
  /** Further fields of the response, such as totals over all pages. */
  otherFields?: Record<string, unknown>;
}

type PagePosition = Record<string, string | number>;

/** The fields besides the position. `left` is the number of items that remain if a page was sent only in part. */
const pageTokenStateSchema = z.object({
  index: z.int().min(0),
  left: z.int().min(1).max(100).optional(),
  filters: listFingerprintSchema,
});

type AnyRouteInput = RouteHandlerInput<undefined, undefined, undefined, unknown>;

interface PageRequest extends Pick<AnyRouteInput, "principal" | "url" | "origin"> {
  /** The validated query of the request. All parameters except those of the pagination are filters. */
  query: { index: number; size: number; pageToken?: string | undefined; [filter: string]: unknown };
  /** The location whose items are listed, also if the query does not contain it; null for those of all locations. */
  locationId: string | null;
}

/**
 * Returns the requested page of a list. If `find` returns fewer items than requested before the end, the page token
 * selects the rest of the same page, with the same index. @throws `ApiError` invalid_page_token.
 */
export async function createPageResponse<Schema extends z.ZodType<PagePosition>>(
  { query, locationId, url, origin }: PageRequest,
  positionSchema: Schema,
  find: (range: PageRange<z.output<Schema>>) => Promise<PageOfJsonItems<z.output<Schema>>>,
): Promise<RouteHandlerResponse> {
  const { index: _, size, pageToken, ...queryFilters } = query;
  const filters = computeListFingerprint(url.pathname, { ...queryFilters, locationId });
  const token =
    pageToken === undefined ? undefined : decodePageToken(pageToken, positionSchema.and(pageTokenStateSchema));
  if (token) requireSameList(token.filters, filters);
  const index = token?.index ?? query.index;
  const limit = Math.min(token?.left ?? size, size);
  const { items, total, last, otherFields } = await find({
    after: token ?? null,
    offset: token ? 0 : index * size,
    limit,
  });
  const isPartial = last !== null && items.length < limit;
  const next = isPartial ? { index, left: limit - items.length } : { index: index + 1 };
  const nextPageToken = last && encodePageToken({ ...last, ...next, filters });
  const isContinuation = token?.left !== undefined;
  const fields = buildPaginationFields({ total, index, size, url, origin, nextPageToken, isPartial, isContinuation });
  return createSerializedJsonResponse(200, buildDataListJson(items, { ...otherFields, ...fields }));
}

/** The column must have millisecond precision, because page tokens contain the time in milliseconds. */
interface ListedRow {
  id: string;
  createdAt: Date | string;
}

export const createdAtCursorSchema = z.object({ at: pageTokenInstantSchema, id: z.guid() });

interface NewestRowsQuery<Row> {
  columns: SqlFragment;
  table: SqlFragment;
  where: SqlFragment;
  /** Converts a row to an item of the page. By default, the item is the row itself. */
  toItem?: (row: Row) => unknown;
  /** The maximum total size of the items, in bytes. Only a page with a single item can exceed it. */
  maxBytes?: number;
}

/** Returns a page of the rows that match `where`, newest first. @throws `ApiError` invalid_page_token. */
export async function queryNewestRowsPageResponse<Row extends ListedRow>(
  request: PageRequest,
  sql: SqlClient,
  { columns, table, where, toItem = (row) => row, maxBytes = Number.POSITIVE_INFINITY }: NewestRowsQuery<Row>,
): Promise<RouteHandlerResponse> {
  return createPageResponse(request, createdAtCursorSchema, async ({ after, offset, limit }) => {
    const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
    const [rows, [counted]] = await Promise.all([
      // Reads one row more than the page needs, to find out whether another page follows.
      sql<Row[]>`
        select ${columns} from ${table} where ${where} and ${isAfter}
        order by created_at desc, id desc offset ${offset} limit ${limit + 1}`,
      sql<[{ total: number }]>`select count(*) as total from ${table} where ${where}`,
    ]);
    const texts = rows.slice(0, limit).map((row) => JSON.stringify(toItem(row)));
    const items = limitPageBytes(texts, maxBytes);
    const last = rows.length > items.length ? rows[items.length - 1] : undefined;
    return { items, total: counted.total, last: last ? toCreatedAtCursor(last) : null };
  });
}

/** Returns the first items, up to a total size in bytes, but at least one. */
export function limitPageBytes<Item extends string | Uint8Array>(items: Item[], maxBytes: number): Item[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += Buffer.byteLength(item);
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? items : items.slice(0, end);
}

export function toCreatedAtCursor({ id, createdAt }: ListedRow): { at: string; id: string } {
  return { at: new Date(createdAt).toISOString(), id };
}

interface PageLinkOptions {
  total: number;
  index: number;
  size: number;
  /** The URL of the request. All links contain the filters in its query. */
  url: URL;
  origin: string;
  nextPageToken: string | null;
  /** Whether items are missing because of the maximum page size in bytes. `nextPageToken` then selects these items. */
  isPartial?: boolean;
  isContinuation?: boolean;
}

export function buildPaginationFields(options: PageLinkOptions): {
  meta: PageMeta;
  links: PageLinks;
  nextPageToken: string | null;
} {
  const { total, index, size, url, origin, nextPageToken, isPartial = false, isContinuation = false } = options;
  const totalPage = Math.ceil(total / size);
  const lastIndex = Math.max(0, totalPage - 1);
  const isByToken = isPartial || url.searchParams.has("pageToken");
  const linkToIndex = (page: number) => buildPageLink(options, "index", String(page));
  const linkToNext = (token: string) =>
    isByToken ? buildPageLink(options, "pageToken", token) : linkToIndex(index + 1);
  const previous = isContinuation ? index : Math.min(index - 1, lastIndex);
  return {
    meta: { totalPage, totalCount: total, currentPageIndex: index, pageSize: size },
    links: {
      self: `${origin}${url.pathname}${url.search}`,
      first: linkToIndex(0),
      last: linkToIndex(lastIndex),
      next: nextPageToken === null ? null : linkToNext(nextPageToken),
      prev: previous < 0 ? null : linkToIndex(previous),
    },
    nextPageToken,
  };
}

function buildPageLink({ url, origin }: PageLinkOptions, name: "index" | "pageToken", value: string): string {
  const query = new URLSearchParams(url.search);
  query.delete(name === "index" ? "pageToken" : "index");
  query.set(name, value);
  return `${origin}${url.pathname}?${query}`;
}
