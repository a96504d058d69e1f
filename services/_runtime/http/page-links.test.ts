import { paginatedSchema } from "@pragma/contracts/pagination";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { buildDataListJson } from "../json/join-json.ts";
import { buildPaginationFields } from "./page-response.ts";

const origin = "https://api.example";

interface PageOptions {
  total: number;
  index: number;
  search?: string;
  nextPageToken?: string | null;
}

function buildPage({ total, index, search = "", nextPageToken = null }: PageOptions) {
  const url = new URL(`http://inside:4001/v1/things/${search}`);
  const items = ['{"id":1}', Buffer.from('{"id":2}')];
  const body = buildDataListJson(items, buildPaginationFields({ total, index, size: 10, origin, url, nextPageToken }));
  return paginatedSchema(z.object({ id: z.int() })).parse(JSON.parse(String(body)));
}

describe("a page of a list", () => {
  it("contains the items and the counts of the list", () => {
    const { data, meta, nextPageToken } = buildPage({ total: 21, index: 1 });
    expect(data).toEqual([{ id: 1 }, { id: 2 }]);
    expect(meta).toEqual({ totalPage: 3, totalCount: 21, currentPageIndex: 1, pageSize: 10 });
    expect(nextPageToken).toBeNull();
  });

  it("has absolute links to the adjacent pages, including the filters", () => {
    const { links } = buildPage({ total: 21, index: 1, search: "?since=2026-05-29&index=1", nextPageToken: "t" });
    expect(links).toEqual({
      self: "https://api.example/v1/things/?since=2026-05-29&index=1",
      first: "https://api.example/v1/things/?since=2026-05-29&index=0",
      last: "https://api.example/v1/things/?since=2026-05-29&index=2",
      next: "https://api.example/v1/things/?since=2026-05-29&index=2",
      prev: "https://api.example/v1/things/?since=2026-05-29&index=0",
    });
  });

  it("has no link before the first page or after the last page", () => {
    expect(buildPage({ total: 21, index: 0, nextPageToken: "t" }).links.prev).toBeNull();
    expect(buildPage({ total: 20, index: 1 }).links.next).toBeNull();
  });

  it("links back from an index past the end, and to one page of an empty list", () => {
    const { links } = buildPage({ total: 20, index: 9 });
    expect(links.next).toBeNull();
    expect(links.prev).toBe("https://api.example/v1/things/?index=1");
    const empty = buildPage({ total: 0, index: 0 });
    expect(empty.meta.totalPage).toBe(0);
    expect(empty.links.last).toBe("https://api.example/v1/things/?index=0");
  });

  it("links to the next page by token when it was requested by token", () => {
    const { links } = buildPage({ total: 31, index: 1, search: "?size=10&pageToken=one", nextPageToken: "two" });
    expect(links.next).toBe("https://api.example/v1/things/?size=10&pageToken=two");
    expect(links.prev).toBe("https://api.example/v1/things/?size=10&index=0");
  });
});
