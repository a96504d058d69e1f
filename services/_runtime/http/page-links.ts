import type { PageLinks, PageMeta } from "@pragma/contracts/pagination";

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

/** Returns the fields of a page response except `data`. */
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
