import { z } from "zod";
import type { RouteInput } from "./define-route.ts";
import { decodePageToken, encodePageToken, instantInToken, pageReply } from "./page.ts";
import type { Reply } from "./reply.ts";

/** A stretch of a list: after a place in its order, or so many items from its start. */
export interface Stretch {
  after: { at: string; id: string } | null;
  offset: number;
  limit: number;
}

/** What the place of an item follows from: its time has milliseconds, as the column that the list is in the order of. */
interface Listed {
  id: string;
  createdAt: Date | string;
}

/** The last item of a page, and the number of the page that begins after it. */
const placeSchema = z.object({ at: instantInToken, id: z.guid(), index: z.int().min(1) });

interface Asked extends Pick<RouteInput<undefined, undefined, undefined, unknown>, "url" | "origin"> {
  query: { index: number; size: number; pageToken?: string | undefined };
}

/**
 * Answers the page that was asked for, of a list whose order is by createdAt and id, newest first. `render` writes an
 * item's JSON, where that is not the item itself.
 *
 * @throws `ApiError` invalid_page_token.
 */
export async function replyWithPage<Item extends Listed>(
  { query, url, origin }: Asked,
  list: (stretch: Stretch) => Promise<{ rows: Item[]; total: number }>,
  { render = (item) => JSON.stringify(item) }: { render?: (item: Item) => string } = {},
): Promise<Reply> {
  const { size, pageToken } = query;
  const after = pageToken === undefined ? null : decodePageToken(pageToken, placeSchema);
  const index = after?.index ?? query.index;
  // One more than the page holds tells whether there is another page.
  const { rows, total } = await list({ after, offset: after ? 0 : index * size, limit: size + 1 });
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1) : undefined;
  const nextPageToken = last ? encodePageToken({ ...placeOf(last), index: index + 1 }) : null;
  return pageReply({ items: shown.map(render), total, index, size, url, origin, nextPageToken });
}

function placeOf({ id, createdAt }: Listed): { at: string; id: string } {
  return { at: new Date(createdAt).toISOString(), id };
}
