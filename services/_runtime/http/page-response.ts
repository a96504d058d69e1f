import { ApiError } from "@pragma/contracts/errors";
import type { PageLinks, PageMeta } from "@pragma/contracts/pagination";
import { z } from "zod";
import { createKeyedSemaphore } from "../concurrency/semaphore.ts";
import { numberFromEnv } from "../config/runtime-config.ts";
import type { SqlClient, SqlFragment } from "../database/postgres.ts";
import { buildDataListJson } from "../json/join-json.ts";
import type { RouteInput } from "./define-route.ts";
import { jsonTextResponse, type RouteResponse } from "./route-response.ts";

/** The setting of services whose lists have large items. */
export const pageSizeConfig = {
  /** Bytes of item text in a page; one that would be larger ends early. A single larger item is a page of its own. */
  PAGE_MAX_BYTES: numberFromEnv(1_024).default(4 * 1024 * 1024),
};

/** Which part of a list is wanted: after a place in its order, or so many items from its start. */
export interface PageRange<Place = { at: string; id: string }> {
  after: Place | null;
  offset: number;
  limit: number;
}

/** What was found of a page: fewer items than its limit where the list ends, or where more would be too large. */
export interface PageResult<Place> {
  /** The JSON of each, as the database sent it. */
  items: (string | Uint8Array)[];
  /** How many items the whole list has. */
  total: number;
  /** The place of the last item, when the list goes on after it. */
  last: Place | null;
}

type PagePosition = Record<string, string | number>;

/** An instant and a day as page tokens carry them: such as PostgreSQL can hold. */
export const pageTokenInstantSchema = z.iso.datetime().regex(/^(?!0000).{20,35}$/);
export const pageTokenDateSchema = z.iso.date().regex(/^(?!0000)/);

/** In a token beside the place of the last item: the page that begins or goes on after it, and how much of it is left. */
const pageTokenStateSchema = z.object({ index: z.int().min(0), left: z.int().min(1).max(100).optional() });

/** Pages of large items that are read for one key at a time: the others wait, and leave the database to other keys. */
const largePageSemaphore = createKeyedSemaphore(4);

type AnyRouteInput = RouteInput<undefined, undefined, undefined, unknown>;

interface PageRequest extends Pick<AnyRouteInput, "url" | "origin"> {
  query: { index: number; size: number; pageToken?: string | undefined };
}

type FindPageItems<Found> = (range: PageRange<Found>) => Promise<PageResult<Found>>;

/**
 * Answers the page of large items that was asked for, of which only a few are read for a key at a time. Where `find`
 * gives fewer items than there are, the page ends early: its token leads to the rest of it, with the same index, and
 * from there to the next page.
 *
 * @throws `ApiError` invalid_page_token.
 */
export async function largePageResponse<Schema extends z.ZodType<PagePosition>>(
  request: PageRequest & Pick<AnyRouteInput, "principal">,
  placeSchema: Schema,
  find: FindPageItems<z.output<Schema>>,
): Promise<RouteResponse> {
  return largePageSemaphore.run(() => pageResponse(request, placeSchema, find), request.principal.keyId);
}

async function pageResponse<Schema extends z.ZodType<PagePosition>>(
  { query, url, origin }: PageRequest,
  placeSchema: Schema,
  find: FindPageItems<z.output<Schema>>,
): Promise<RouteResponse> {
  const { size, pageToken } = query;
  const token = pageToken === undefined ? undefined : decodePageToken(pageToken, placeSchema.and(pageTokenStateSchema));
  const index = token?.index ?? query.index;
  const limit = Math.min(token?.left ?? size, size);
  const { items, total, last } = await find({ after: token ?? null, offset: token ? 0 : index * size, limit });
  const isCut = last !== null && items.length < limit;
  const next = isCut ? { index, left: limit - items.length } : { index: index + 1 };
  const nextPageToken = last && encodePageToken({ ...last, ...next });
  const isRest = token?.left !== undefined;
  const fields = buildPageFields({ total, index, size, url, origin, nextPageToken, isCut, isRest });
  return jsonTextResponse(200, buildDataListJson(items, fields));
}

/** What the place of an item follows from: its time has milliseconds, as the column that the list is in the order of. */
interface ListedRow {
  id: string;
  createdAt: Date | string;
}

export const createdAtPositionSchema = z.object({ at: pageTokenInstantSchema, id: z.guid() });

interface NewestRowsQuery<Row> {
  columns: SqlFragment;
  table: SqlFragment;
  where: SqlFragment;
  /** What is answered of a row; the row itself unless given. */
  toItem?: (row: Row) => unknown;
}

/**
 * Answers the page that was asked for of the rows of a table that pass `where`, newest first, by created_at and id.
 *
 * @throws `ApiError` invalid_page_token.
 */
export async function newestRowsPageResponse<Row extends ListedRow>(
  request: PageRequest,
  sql: SqlClient,
  { columns, table, where, toItem = (row) => row }: NewestRowsQuery<Row>,
): Promise<RouteResponse> {
  return pageResponse(request, createdAtPositionSchema, async ({ after, offset, limit }) => {
    const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
    const [rows, [counted]] = await Promise.all([
      // One more than the page holds tells whether there is another page.
      sql<Row[]>`
        select ${columns} from ${table} where ${where} and ${isAfter}
        order by created_at desc, id desc offset ${offset} limit ${limit + 1}`,
      sql<[{ total: number }]>`select count(*) as total from ${table} where ${where}`,
    ]);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    const items = rows.slice(0, limit).map((row) => JSON.stringify(toItem(row)));
    return { items, total: counted.total, last: last ? toCreatedAtPosition(last) : null };
  });
}

export function toCreatedAtPosition({ id, createdAt }: ListedRow): { at: string; id: string } {
  return { at: new Date(createdAt).toISOString(), id };
}

interface PageLinkOptions {
  total: number;
  /** Zero-based. */
  index: number;
  size: number;
  /** The address that was asked, whose filters the links keep. */
  url: URL;
  /** Scheme and host that the client used. */
  origin: string;
  nextPageToken: string | null;
  /** Whether it ended early, so that only the token leads to the rest of the page. */
  isCut?: boolean;
  /** Whether it is the rest of a page that ended early. */
  isRest?: boolean;
}

/** Returns what a page has beside its `data`. */
export function buildPageFields(options: PageLinkOptions): {
  meta: PageMeta;
  links: PageLinks;
  nextPageToken: string | null;
} {
  const { total, index, size, url, origin, nextPageToken, isCut = false, isRest = false } = options;
  const totalPage = Math.ceil(total / size);
  const lastIndex = Math.max(0, totalPage - 1);
  const isByToken = isCut || url.searchParams.has("pageToken");
  const linkToIndex = (page: number) => buildPageLink(options, "index", String(page));
  const linkToNext = (token: string) =>
    isByToken ? buildPageLink(options, "pageToken", token) : linkToIndex(index + 1);
  const previous = isRest ? index : Math.min(index - 1, lastIndex);
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

/** The address of another page, by its index or by a token. */
function buildPageLink({ url, origin }: PageLinkOptions, name: "index" | "pageToken", value: string): string {
  const query = new URLSearchParams(url.search);
  query.delete(name === "index" ? "pageToken" : "index");
  query.set(name, value);
  return `${origin}${url.pathname}?${query}`;
}

/** An opaque token for the page after this place in a list. */
export function encodePageToken(position: Record<string, string | number>): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** The place that a token stands for; throws `ApiError` invalid_page_token when it is not one that this list gave. */
export function decodePageToken<Schema extends z.ZodType>(token: string, positionSchema: Schema): z.output<Schema> {
  try {
    return positionSchema.parse(JSON.parse(Buffer.from(token, "base64url").toString("utf8")));
  } catch (cause) {
    throw new ApiError("invalid_page_token", {
      detail: "Give the nextPageToken of the page before as it was, or begin again without one.",
      cause,
    });
  }
}
