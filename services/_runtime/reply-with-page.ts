import { ApiError } from "@pragma/contracts/errors";
import type { PageLinks, PageMeta } from "@pragma/contracts/pagination";
import { z } from "zod";
import { numberFromEnv } from "./config.ts";
import type { RouteInput } from "./define-route.ts";
import { objectWithData } from "./join-json.ts";
import type { Fragment, Sql } from "./postgres.ts";
import { type Reply, text } from "./reply.ts";
import { createSemaphore } from "./semaphore.ts";

/** The setting of services whose lists have large items. */
export const pageConfig = {
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
export interface FoundPage<Place> {
  /** The JSON of each, as the database sent it. */
  items: (string | Uint8Array)[];
  /** How many items the whole list has. */
  total: number;
  /** The place of the last item, when the list goes on after it. */
  last: Place | null;
}

type Place = Record<string, string | number>;

/** An instant and a day as page tokens carry them: such as PostgreSQL can hold. */
export const instantInToken = z.iso.datetime().regex(/^(?!0000).{20,35}$/);
export const dayInToken = z.iso.date().regex(/^(?!0000)/);

/** In a token beside the place of the last item: the page that begins or goes on after it, and how much of it is left. */
const tokenSchema = z.object({ index: z.int().min(0), left: z.int().min(1).max(100).optional() });

/** Pages of large items that are read for one key at a time: the others wait, and leave the database to other keys. */
const reading = createSemaphore(4);

type AnyInput = RouteInput<undefined, undefined, undefined, unknown>;

interface Asked extends Pick<AnyInput, "url" | "origin"> {
  query: { index: number; size: number; pageToken?: string | undefined };
}

type FindPage<Found> = (range: PageRange<Found>) => Promise<FoundPage<Found>>;

/**
 * Answers the page of large items that was asked for, of which only a few are read for a key at a time. Where `find`
 * gives fewer items than there are, the page ends early: its token leads to the rest of it, with the same index, and
 * from there to the next page.
 *
 * @throws `ApiError` invalid_page_token.
 */
export async function replyWithLargePage<Schema extends z.ZodType<Place>>(
  asked: Asked & Pick<AnyInput, "principal">,
  placeSchema: Schema,
  find: FindPage<z.output<Schema>>,
): Promise<Reply> {
  return reading.run(() => replyWithFound(asked, placeSchema, find), asked.principal.keyId);
}

async function replyWithFound<Schema extends z.ZodType<Place>>(
  { query, url, origin }: Asked,
  placeSchema: Schema,
  find: FindPage<z.output<Schema>>,
): Promise<Reply> {
  const { size, pageToken } = query;
  const token = pageToken === undefined ? undefined : decodePageToken(pageToken, placeSchema.and(tokenSchema));
  const index = token?.index ?? query.index;
  const limit = Math.min(token?.left ?? size, size);
  const { items, total, last } = await find({ after: token ?? null, offset: token ? 0 : index * size, limit });
  const isCut = last !== null && items.length < limit;
  const next = isCut ? { index, left: limit - items.length } : { index: index + 1 };
  const nextPageToken = last && encodePageToken({ ...last, ...next });
  const isRest = token?.left !== undefined;
  const fields = pageFields({ total, index, size, url, origin, nextPageToken, isCut, isRest });
  return text(200, objectWithData(items, fields));
}

/** What the place of an item follows from: its time has milliseconds, as the column that the list is in the order of. */
interface Listed {
  id: string;
  createdAt: Date | string;
}

export const createdPlace = z.object({ at: instantInToken, id: z.guid() });

interface NewestRows<Row> {
  columns: Fragment;
  table: Fragment;
  where: Fragment;
  /** What is answered of a row; the row itself unless given. */
  show?: (row: Row) => unknown;
}

/**
 * Answers the page that was asked for of the rows of a table that pass `where`, newest first, by created_at and id.
 *
 * @throws `ApiError` invalid_page_token.
 */
export async function replyWithNewest<Row extends Listed>(
  asked: Asked,
  sql: Sql,
  { columns, table, where, show = (row) => row }: NewestRows<Row>,
): Promise<Reply> {
  return replyWithFound(asked, createdPlace, async ({ after, offset, limit }) => {
    const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
    const [rows, [counted]] = await Promise.all([
      // One more than the page holds tells whether there is another page.
      sql<Row[]>`
        select ${columns} from ${table} where ${where} and ${isAfter}
        order by created_at desc, id desc offset ${offset} limit ${limit + 1}`,
      sql<[{ total: number }]>`select count(*) as total from ${table} where ${where}`,
    ]);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    const items = rows.slice(0, limit).map((row) => JSON.stringify(show(row)));
    return { items, total: counted.total, last: last ? placeOf(last) : null };
  });
}

export function placeOf({ id, createdAt }: Listed): { at: string; id: string } {
  return { at: new Date(createdAt).toISOString(), id };
}

interface PagePlace {
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
export function pageFields(place: PagePlace): { meta: PageMeta; links: PageLinks; nextPageToken: string | null } {
  const { total, index, size, url, origin, nextPageToken, isCut = false, isRest = false } = place;
  const totalPage = Math.ceil(total / size);
  const lastIndex = Math.max(0, totalPage - 1);
  const isByToken = isCut || url.searchParams.has("pageToken");
  const at = (page: number) => linkTo(place, "index", String(page));
  const next = (token: string) => (isByToken ? linkTo(place, "pageToken", token) : at(index + 1));
  const previous = isRest ? index : Math.min(index - 1, lastIndex);
  return {
    meta: { totalPage, totalCount: total, currentPageIndex: index, pageSize: size },
    links: {
      self: `${origin}${url.pathname}${url.search}`,
      first: at(0),
      last: at(lastIndex),
      next: nextPageToken === null ? null : next(nextPageToken),
      prev: previous < 0 ? null : at(previous),
    },
    nextPageToken,
  };
}

/** The address of another page, by its index or by a token. */
function linkTo({ url, origin }: PagePlace, name: "index" | "pageToken", value: string): string {
  const query = new URLSearchParams(url.search);
  query.delete(name === "index" ? "pageToken" : "index");
  query.set(name, value);
  return `${origin}${url.pathname}?${query}`;
}

/** An opaque token for the page after this place in a list. */
export function encodePageToken(place: Record<string, string | number>): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** The place that a token stands for; throws `ApiError` invalid_page_token when it is not one that this list gave. */
export function decodePageToken<Schema extends z.ZodType>(token: string, place: Schema): z.output<Schema> {
  try {
    return place.parse(JSON.parse(Buffer.from(token, "base64url").toString("utf8")));
  } catch (cause) {
    throw new ApiError("invalid_page_token", {
      detail: "Give the nextPageToken of the page before as it was, or begin again without one.",
      cause,
    });
  }
}
