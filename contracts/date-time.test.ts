import { describe, expect, test } from "vitest";
import { DateTimeV1, isUtcBefore, RequestDateTime } from "./date-time.ts";

describe("RequestDateTime", () => {
  test.each([
    ["2026-05-29T10:17:19.000Z", "2026-05-29T10:17:19.000Z"],
    ["2026-05-29T10:17:19Z", "2026-05-29T10:17:19.000Z"],
    ["2026-05-29T10:17:19.5+02:00", "2026-05-29T08:17:19.500Z"],
    ["2026-05-29T01:17:19-05:30", "2026-05-29T06:47:19.000Z"],
    ["2026-05-29T10:17:19.123456Z", "2026-05-29T10:17:19.123456Z"],
    ["2026-05-29T10:17:19.123456789+02:00", "2026-05-29T08:17:19.123456789Z"],
    ["2026-05-29T10:17:19.1230000+00:00", "2026-05-29T10:17:19.123Z"],
    ["2024-02-29T23:59:59.999+00:00", "2024-02-29T23:59:59.999Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ])("converts %s to %s", (written, utc) => {
    expect(RequestDateTime.parse(written)).toBe(utc);
  });

  test.each([
    "2026-02-30T10:00:00Z",
    "2026-02-29T10:00:00Z",
    "2026-04-31T10:00:00Z",
    "2026-13-01T10:00:00Z",
    "2026-05-29T24:00:00Z",
    "2026-05-29T10:60:00Z",
    "2026-05-29T10:17:19",
    "2026-05-29T10:17Z",
    "2026-05-29T10:17:19.1234567890+02:00",
    `2026-05-29T10:17:19.${"1".repeat(200)}Z`,
    "2026-05-29 10:17:19Z",
    "2026-05-29",
    "0001-01-01T00:00:00+05:00",
    "9999-12-31T23:59:59-05:00",
    "",
    1780049839000,
    null,
  ])("rejects %s", (written) => {
    expect(RequestDateTime.safeParse(written).success).toBe(false);
  });
});

describe("DateTimeV1", () => {
  test.each(["2026-05-29T10:17:19", "0001-01-02T00:00:00", "9999-12-30T23:59:59.999"])(
    "keeps %s, which has no offset",
    (written) => {
      expect(DateTimeV1.parse(written)).toBe(written);
    },
  );

  test.each(["0001-01-01T12:00:00", "9999-12-31T00:00:00", "0000-12-31T23:59:59"])(
    "rejects %s, which is out of range in some time zone",
    (written) => expect(DateTimeV1.safeParse(written).success).toBe(false),
  );
});

test.each([
  ["2026-05-29T10:17:19.123Z", "2026-05-29T10:17:19.124Z", true],
  ["2026-05-29T10:17:19.123Z", "2026-05-29T10:17:19.1234Z", true],
  ["2026-05-29T10:17:19.1234Z", "2026-05-29T10:17:19.123Z", false],
  ["2026-05-29T10:17:19.123Z", "2026-05-29T10:17:19.123Z", false],
  ["0999-12-31T00:00:00.000Z", "2026-01-01T00:00:00.000Z", true],
])("isUtcBefore(%s, %s) is %s", (one, other, before) => {
  expect(isUtcBefore(one, other)).toBe(before);
});
