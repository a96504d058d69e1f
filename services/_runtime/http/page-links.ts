import type { PageLinks, PageMeta } from "@pragma/contracts/pagination";

interface PageLinkOptions {
  total: number;
  /** Zero-based. */
  index: number;
  size: number;
  /** The requested URL, whose filters the links keep. */
  url: URL;
  /** The scheme and host that the client used. */
  origin: string;
  nextPageToken: string | null;
  /** Whether the page ended early, so that only its token leads to the rest. */
  isPartial?: boolean;
  /** Whether the page is the rest of one that ended early. */
  isContinuation?: boolean;
}

/** Returns the fields of a page besides `data`. */
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

/** Returns the URL of another page, by its index or token. */
function buildPageLink({ url, origin }: PageLinkOptions, name: "index" | "pageToken", value: string): string {
  const query = new URLSearchParams(url.search);
  query.delete(name === "index" ? "pageToken" : "index");
  query.set(name, value);
  return `${origin}${url.pathname}?${query}`;
}
