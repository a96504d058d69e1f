import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CreateErasureRequest } from "./erasure.ts";

const locationId = randomUUID();
const orderIds = [randomUUID()];
const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const listIssues = (body: object) =>
  CreateErasureRequest.safeParse(body).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);

describe("a request for an erasure", () => {
  it.each([{ orderIds }, { before: "2000-01-01" }, { before: dayIn(0) }])("accepts %j", (selection) => {
    expect(CreateErasureRequest.parse({ locationId, ...selection })).toEqual({ locationId, ...selection });
  });

  it("rejects orders together with a day, and neither, even if another field is invalid", () => {
    const both = ": Must not have both `orderIds` and `before`: send two requests";
    expect(listIssues({ locationId, orderIds, before: "2026-01-01" })).toEqual([both]);
    expect(listIssues({ locationId: 1, orderIds, before: "2026-01-01" })).toHaveLength(2);
    expect(listIssues({ locationId })).toEqual([expect.stringContaining("`orderIds`")]);
  });

  it.each(["0000-01-01", "0999-12-31", "1999-12-31", dayIn(2), "9999-12-31"])("rejects the day %s", (before) => {
    expect(listIssues({ locationId, before })).toEqual([
      expect.stringMatching(/^before: Must be a day from 2000-01-01 to \d{4}-\d\d-\d\d, which is today in UTC$/),
    ]);
  });

  it("reports that there are too many orders", () => {
    const body = { locationId, orderIds: Array.from({ length: 1_001 }, () => randomUUID()) };
    expect(CreateErasureRequest.safeParse(body).error?.issues).toMatchObject([
      { code: "too_big", path: ["orderIds"], maximum: 1_000 },
    ]);
  });
});
