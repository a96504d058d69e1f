import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeAddresses } from "./equivalence/addresses.ts";
import { describeChanges } from "./equivalence/changes.ts";
import { describeReads } from "./equivalence/reads.ts";
import { describeRefusals } from "./equivalence/refusals.ts";
import { operations, seenOf, start, stop } from "./equivalence/setting.ts";

/** One installation, in one process and in one for each part: clients cannot tell. */
beforeAll(start, 120_000);
afterAll(stop);

describe("reads", describeReads);
describe("refusals", describeRefusals);
describe("addresses", describeAddresses);
describe("changes", describeChanges);

/** Statuses that every operation that documents them was asked for. */
const demanded = [200, 201, 202, 204, 304, 400, 401, 403, 413, 415];

it("all that is documented was asked for: each success, and each refusal that there is everywhere", () => {
  const missing = operations.flatMap((operation) => {
    const unseen = operation.statuses.filter((status) => demanded.includes(status) && !seenOf(operation).has(status));
    return unseen.map((status) => `${operation.method} ${operation.path} ${status}`);
  });
  expect(missing).toEqual([]);
});
