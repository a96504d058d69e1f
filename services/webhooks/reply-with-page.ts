import type { RouteInput } from "@pragma/runtime/define-route";
import { decodePageToken, encodePageToken, instantInToken, pageReply } from "@pragma/runtime/page";
import type { Reply } from "@pragma/runtime/reply";
import { z } from "zod";

/** A stretch of a list: after a place in its order, or so many items from its start. */
export interface Stretch {
  after: { at: string; id: string } | null;
  offset: number;
  limit: number;
}

/** The last item of a page, and the number of the page that begins after it. */
const placeSchema = z.object({ at: instantInToken, id: z.guid(), index: z.int().min(1) });

interface Asked extends Pick<RouteInput<undefined, undefined, undefined, unknown>, "url" | "origin"> {
  query: { index: number; size: number; pageToken?: string | undefined };
}

/** Answers the page that was asked for, of a list whose order is by createdAt and id, newest first. */
export async function replyWithPage<Row extends { id: string; createdAt: Date }>(
  { query, url, origin }: Asked,
  list: (stretch: Stretch) => Promise<{ rows: Row[]; total: number }>,
): Promise<Reply> {
  const { size, pageToken } = query;
  const after = pageToken === undefined ? null : decodePageToken(pageToken, placeSchema);
  const index = after?.index ?? query.index;
  // One more than the page holds tells whether there is another page.
  const { rows, total } = await list({ after, offset: after ? 0 : index * size, limit: size + 1 });
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1) : undefined;
  return pageReply({
    items: shown.map((row) => JSON.stringify(row)),
    total,
    index,
    size,
    url,
    origin,
    nextPageToken: last ? encodePageToken({ at: last.createdAt.toISOString(), id: last.id, index: index + 1 }) : null,
  });
}
