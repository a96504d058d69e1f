import { ApiError } from "@pragma/contracts/errors";
import type { PageLinks, PageMeta } from "@pragma/contracts/pagination";
import type { z } from "zod";
import { type Reply, text } from "./reply.ts";

interface Page {
  /** The items as the JSON texts that are sent. */
  items: string[];
  /** How many items the whole list has. */
  total: number;
  /** Zero-based. */
  index: number;
  size: number;
  /** Scheme and host that the client used. */
  origin: string;
  /** The address as the client wrote it. */
  url: URL;
  /** Null on the last page. */
  nextPageToken: string | null;
}

/** One page of a list, `{data, meta, links, nextPageToken}`; the links are absolute and keep the list's filters. */
export function pageReply({ items, nextPageToken, ...page }: Page): Reply {
  const rest = JSON.stringify({ meta: metaOf(page), links: linksOf(page), nextPageToken });
  return text(200, `{"data":[${items.join(",")}],${rest.slice(1)}`);
}

type Place = Pick<Page, "total" | "index" | "size">;

function metaOf({ total, index, size }: Place): PageMeta {
  return { totalPage: Math.ceil(total / size), totalCount: total, currentPageIndex: index, pageSize: size };
}

/** The pages around this one. A page past the end has the last one before it; an empty list has one empty page. */
function linksOf({ total, index, size, origin, url }: Place & Pick<Page, "origin" | "url">): PageLinks {
  const last = Math.max(0, Math.ceil(total / size) - 1);
  const linkTo = (page: number) => {
    const search = new URLSearchParams(url.search);
    search.delete("pageToken");
    search.set("index", String(page));
    search.set("size", String(size));
    return `${origin}${url.pathname}?${search}`;
  };
  return {
    self: `${origin}${url.pathname}${url.search}`,
    first: linkTo(0),
    last: linkTo(last),
    next: index < last ? linkTo(index + 1) : null,
    prev: index > 0 ? linkTo(Math.min(index - 1, last)) : null,
  };
}

/** A page token: the place in the list's order after which the next page begins, opaque to clients. */
export function encodePageToken(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

/**
 * Reads what `encodePageToken` wrote. A token tells a place in an order and nothing else: who may see what, and the
 * filters, are asked again for each page.
 *
 * @throws `ApiError` invalid_page_token when it is not what `schema` describes.
 */
export function decodePageToken<Schema extends z.ZodType>(token: string, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(token, "base64url").toString("utf8")));
  } catch (cause) {
    throw new ApiError("invalid_page_token", {
      detail: "pageToken must be the nextPageToken of a page of this list.",
      cause,
    });
  }
}
