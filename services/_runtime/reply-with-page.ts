import { z } from "zod";
import type { RouteInput } from "./define-route.ts";
import { decodePageToken, encodePageToken, instantInToken, pageReply } from "./page.ts";
import type { Reply } from "./reply.ts";
import { createSemaphore } from "./semaphore.ts";

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
  return pageReply(items, { total, index, size, url, origin, nextPageToken, isCut, isRest: token?.left !== undefined });
}

/** What the place of an item follows from: its time has milliseconds, as the column that the list is in the order of. */
interface Listed {
  id: string;
  createdAt: Date | string;
}

export const createdPlace = z.object({ at: instantInToken, id: z.guid() });

/**
 * Answers the page that was asked for, of a list whose order is by createdAt and id, newest first, and whose items are
 * small.
 *
 * @throws `ApiError` invalid_page_token.
 */
export async function replyWithPage<Item extends Listed>(
  asked: Asked,
  list: (range: PageRange) => Promise<{ rows: Item[]; total: number }>,
): Promise<Reply> {
  return replyWithFound(asked, createdPlace, async ({ limit, ...range }) => {
    // One more than the page holds tells whether there is another page.
    const { rows, total } = await list({ ...range, limit: limit + 1 });
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    const items = shown.map((item) => JSON.stringify(item));
    return { items, total, last: last ? placeOf(last) : null };
  });
}

export function placeOf({ id, createdAt }: Listed): { at: string; id: string } {
  return { at: new Date(createdAt).toISOString(), id };
}
