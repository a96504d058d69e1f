import { describe, expect, it } from "vitest";
import { z } from "zod";
import { decodePageToken, encodePageToken } from "./page-token.ts";

describe("a page token", () => {
  const positionSchema = z.object({ at: z.iso.datetime(), id: z.guid() });
  const position = { at: "2026-05-29T10:17:19.000Z", id: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11" };

  it("decodes to the position that it encodes", () => {
    expect(decodePageToken(encodePageToken(position), positionSchema)).toEqual(position);
  });

  it.each(["", "nonsense", "e30", encodePageToken({ at: "yesterday", id: "7" }), encodePageToken({ index: 1 })])(
    "is rejected when it is not of this list: %j",
    (token) => {
      expect(() => decodePageToken(token, positionSchema)).toThrowError(
        expect.objectContaining({ code: "invalid_page_token" }),
      );
    },
  );
});
