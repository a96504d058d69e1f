import { pageOf } from "@pragma/contracts/pagination";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { decodePageToken, encodePageToken, pageReply } from "./page.ts";

const origin = "https://api.example";

function page({
  total,
  index,
  size = 10,
  search = "",
}: {
  total: number;
  index: number;
  size?: number;
  search?: string;
}) {
  const url = new URL(`http://inside:4001/v1/things/${search}`);
  const reply = pageReply({ items: ['{"id":1}', '{"id":2}'], total, index, size, origin, url, nextPageToken: null });
  return pageOf(z.object({ id: z.int() })).parse(JSON.parse(reply.body as string));
}

describe("a page of a list", () => {
  it("sends the items as they are, with the list's figures", () => {
    const { data, meta, nextPageToken } = page({ total: 21, index: 1 });
    expect(data).toEqual([{ id: 1 }, { id: 2 }]);
    expect(meta).toEqual({ totalPage: 3, totalCount: 21, currentPageIndex: 1, pageSize: 10 });
    expect(nextPageToken).toBeNull();
  });

  it("links the pages around it, absolute, with the filters", () => {
    expect(page({ total: 21, index: 1, search: "?since=2026-05-29&index=1" }).links).toEqual({
      self: "https://api.example/v1/things/?since=2026-05-29&index=1",
      first: "https://api.example/v1/things/?since=2026-05-29&index=0&size=10",
      last: "https://api.example/v1/things/?since=2026-05-29&index=2&size=10",
      next: "https://api.example/v1/things/?since=2026-05-29&index=2&size=10",
      prev: "https://api.example/v1/things/?since=2026-05-29&index=0&size=10",
    });
  });

  it("has no page before the first and none after the last", () => {
    expect(page({ total: 20, index: 0 }).links.prev).toBeNull();
    expect(page({ total: 20, index: 1 }).links.next).toBeNull();
  });

  it("leads back from past the end, and links one empty page of an empty list", () => {
    expect(page({ total: 20, index: 9 }).links).toMatchObject({
      next: null,
      prev: "https://api.example/v1/things/?index=1&size=10",
    });
    const empty = page({ total: 0, index: 0 });
    expect(empty.meta.totalPage).toBe(0);
    expect(empty.links.last).toBe("https://api.example/v1/things/?index=0&size=10");
  });

  it("leaves the token of this page out of the links to others", () => {
    expect(page({ total: 21, index: 1, search: "?pageToken=abc" }).links.next).not.toContain("pageToken");
  });
});

describe("a page token", () => {
  const place = z.tuple([z.iso.datetime(), z.guid()]);
  const values = ["2026-05-29T10:17:19.000Z", "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11"] as const;

  it("comes back as the place it was made from", () => {
    expect(decodePageToken(encodePageToken(values), place)).toEqual(values);
  });

  it.each(["", "nonsense", "e30", encodePageToken(["yesterday", "7"]), encodePageToken([...values, 3])])(
    "that this list did not give is refused: %j",
    (token) => {
      expect(() => decodePageToken(token, place)).toThrowError(expect.objectContaining({ code: "invalid_page_token" }));
    },
  );
});
