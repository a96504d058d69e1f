import { describe, expect, it } from "vitest";
import { z } from "zod";
import { computeListFingerprint, decodePageToken, encodePageToken, requireSameList } from "./page-token.ts";

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

describe("the filters of a page token", () => {
  const filters = {
    since: "2026-05-01",
    reportId: "7F6EC2B0-44f5-4df2-a1cb-3e8f2c0a9d11",
    state: undefined,
    until: null,
  };
  const ofToken = computeListFingerprint("/v1/orders/", filters);

  it("are the same with a trailing slash, in other letter case, and without filters that are not set", () => {
    const same = { reportId: filters.reportId.toLowerCase(), since: "2026-05-01" };
    expect(() => requireSameList(ofToken, computeListFingerprint("/v1/orders", same))).not.toThrow();
  });

  it("are named in the error when they differ", () => {
    const changed = computeListFingerprint("/v1/orders", { since: "2026-05-02", until: "2026-05-03" });
    expect(() => requireSameList(ofToken, changed)).toThrowError(
      expect.objectContaining({
        code: "invalid_page_token",
        message: expect.stringContaining("Send the same since, reportId, until"),
        issues: [
          expect.objectContaining({ in: "query", path: "since", code: "mismatch" }),
          expect.objectContaining({ path: "reportId", message: expect.stringMatching(/^Must be sent with/) }),
          expect.objectContaining({ path: "until", message: expect.stringMatching(/^Must be omitted/) }),
        ],
      }),
    );
  });

  it("do not apply to another list", () => {
    expect(() => requireSameList(ofToken, computeListFingerprint("/v1/reports/", filters))).toThrowError(
      /from another list/,
    );
  });
});
