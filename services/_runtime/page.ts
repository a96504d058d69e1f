import { ApiError } from "@pragma/contracts/errors";
import type { PageLinks, PageMeta } from "@pragma/contracts/pagination";
import { z } from "zod";
import { numberFromEnv } from "./config.ts";
import { objectWithData } from "./join-json.ts";
import { type Reply, text } from "./reply.ts";

/** The setting of services whose lists have large items. */
export const pageConfig = {
  /** Bytes of item text in a page; one that would be larger ends early. A single larger item is a page of its own. */
  PAGE_MAX_BYTES: numberFromEnv(z.number().int().min(1_024)).default(4 * 1024 * 1024),
};

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

/** A list as it is answered: `{data, meta, links, nextPageToken}`, the JSON of its items as it is. */
export function pageReply(items: (string | Uint8Array)[], place: PagePlace): Reply {
  return text(200, objectWithData(items, pageFields(place)));
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

/** An instant and a day as page tokens carry them: such as PostgreSQL can hold. */
export const instantInToken = z.iso.datetime().regex(/^(?!0000)/);
export const dayInToken = z.iso.date().regex(/^(?!0000)/);

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
