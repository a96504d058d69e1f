import { randomUUID } from "node:crypto";
import { usageBatchSchema } from "@pragma/contracts/usage";
import { describe, expect, it } from "vitest";
import { createUsageCounter, type FinishedRequest, type UsageCounter } from "./usage-counter.ts";

const now = Date.parse("2026-05-29T10:17:19.000Z");
const minute = now / 60_000 - (now % 60_000) / 60_000;

function request(changes: Partial<FinishedRequest> = {}): FinishedRequest {
  return {
    keyId: "key",
    route: "/v2/tills",
    path: "/v2/tills/",
    method: "GET",
    status: 200,
    requestId: randomUUID(),
    ...changes,
  };
}

function takeAll(counter: UsageCounter) {
  const batches = [];
  for (let batch = counter.takeBatch(); batch; batch = counter.takeBatch()) batches.push(batch);
  return {
    batches,
    counts: batches.flatMap(({ counts }) => counts),
    failures: batches.flatMap(({ failures }) => failures),
  };
}

const totalOf = (items: { requestCount: number }[]) => items.reduce((sum, { requestCount }) => sum + requestCount, 0);

it("counts requests by key, minute, route and class of statuses", () => {
  const counter = createUsageCounter(new Set());
  for (const status of [200, 201, 304, 404, 499, 503]) counter.add(request({ status }), now);
  counter.add(request(), now + 60_000);
  counter.add(request({ keyId: "other" }), now);
  counter.add(request({ route: "/v1/orders" }), now);
  counter.add(request({ route: "/mcp", path: "/mcp", method: "POST" }), now);
  const item = { keyId: "key", minute, route: "/v2/tills" };
  const { counts } = takeAll(counter);
  expect(counts).toHaveLength(8);
  expect(counts).toEqual(
    expect.arrayContaining([
      { ...item, statusClass: 2, requestCount: 2 },
      { ...item, statusClass: 3, requestCount: 1 },
      { ...item, statusClass: 4, requestCount: 2 },
      { ...item, statusClass: 5, requestCount: 1 },
      { ...item, minute: minute + 1, statusClass: 2, requestCount: 1 },
      { ...item, keyId: "other", statusClass: 2, requestCount: 1 },
      { ...item, route: "/v1/orders", statusClass: 2, requestCount: 1 },
      { ...item, route: "/mcp", statusClass: 2, requestCount: 1 },
    ]),
  );
  expect(counter.takeBatch()).toBeUndefined();
});

it("ignores requests without a valid key, and never contains a path that a client chose", () => {
  const counter = createUsageCounter(new Set());
  counter.add(request({ keyId: undefined, status: 401 }), now);
  expect(counter.takeBatch()).toBeUndefined();
  counter.add(request({ route: undefined, path: "/openapi.full.json" }), now);
  counter.add(request({ route: "/v2/tills/secret", status: 404 }), now);
  const { counts, failures } = takeAll(counter);
  expect(new Set(counts.map(({ route }) => route))).toEqual(new Set(["other"]));
  expect(failures.map(({ route }) => route)).toEqual(["other"]);
});

it("counts requests that were not forwarded for the route that they asked for", () => {
  const counter = createUsageCounter(new Set());
  for (const path of ["/v2/tills", "/v2/tills/an-id"])
    counter.add(request({ route: undefined, path, status: 429 }), now);
  expect(takeAll(counter).counts).toMatchObject([{ route: "/v2/tills", statusClass: 4, requestCount: 2 }]);
});

describe("failures", () => {
  it("are listed one by one, with time, error code and request id", () => {
    const counter = createUsageCounter(new Set());
    counter.add(request({ method: "POST", status: 409, code: "till_conflict", requestId: "one" }), now);
    counter.add(request({ status: 404, requestId: "two" }), now + 1);
    const item = { keyId: "key", route: "/v2/tills", path: "/v2/tills/", issues: [], requestBytes: null, count: 1 };
    expect(takeAll(counter).failures).toEqual([
      {
        ...item,
        failedAt: "2026-05-29T10:17:19.000Z",
        method: "POST",
        status: 409,
        code: "till_conflict",
        requestId: "one",
      },
      { ...item, failedAt: "2026-05-29T10:17:19.001Z", method: "GET", status: 404, code: null, requestId: "two" },
    ]);
  });

  it("that are equal are represented by the latest three, and the last one counts the others", () => {
    const counter = createUsageCounter(new Set());
    for (let index = 0; index < 10_000; index++) {
      counter.add(request({ status: 429, code: "rate_limited", requestId: `${index}` }), now + index);
    }
    const { counts, failures } = takeAll(counter);
    expect(failures.map(({ requestId, count }) => [requestId, count])).toEqual([
      ["9997", 1],
      ["9998", 1],
      ["9999", 9_998],
    ]);
    expect(totalOf(counts)).toBe(10_000);
  });

  it("of one key are limited, so that they leave room for other keys", () => {
    const counter = createUsageCounter(new Set());
    for (let status = 400; status < 500; status++) counter.add(request({ status }), now);
    counter.add(request({ keyId: "other", status: 400 }), now);
    const { counts, failures } = takeAll(counter);
    expect(failures.filter(({ keyId }) => keyId === "key")).toHaveLength(10);
    expect(failures.filter(({ keyId }) => keyId === "other")).toHaveLength(1);
    expect(totalOf(counts)).toBe(101);
  });
});

it("limits memory and batches: the largest batch fits into a NATS message, and what is not counted is reported", () => {
  const counter = createUsageCounter(new Set());
  const code = "accounting_config_not_found";
  let added = 0;
  for (let index = 0; index < 60_000; index++) {
    const keyId = randomUUID();
    // Characters that take two bytes in JSON.
    const requestId = '"'.repeat(128);
    counter.add(request({ keyId, route: "/v1/orders-live", method: "DELETE", status: 404, code, requestId }), now);
    added++;
  }
  const { batches, counts, failures } = takeAll(counter);
  expect(totalOf(counts) + counter.droppedRequests).toBe(added);
  expect(counter.droppedRequests).toBe(10_000);
  expect(failures).toHaveLength(1_000);
  expect(new Set(batches.map(({ id }) => id)).size).toBe(batches.length);
  for (const batch of batches) {
    expect(usageBatchSchema.safeParse(batch).error).toBeUndefined();
    expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(1024 * 1024 - 1024);
  }
  counter.add(request(), now);
  expect(takeAll(counter).counts).toHaveLength(1);
});

it("keeps of a failed request what its developer needs, without received values", () => {
  const counter = createUsageCounter(new Set(["replay"]));
  const issue = (message: string, path = "a") => ({ in: "body" as const, path, code: "custom" as const, message });
  const requestIssues = [
    issue('Must be a UUID; got "jean@example.com"'),
    issue("x".repeat(1_000), `[0]${".rowList[11]".repeat(100)}`),
    issue('Must be one of "room", "bar"; got "attic"'),
    ...Array.from({ length: 10 }, () => issue("Is required")),
  ];
  counter.add(request({ status: 400, path: "/v1/orders/jean@example.com", requestIssues, requestBytes: 12 }), now);
  const [failure] = takeAll(counter).failures;
  expect(failure).toMatchObject({ path: "/v1/orders/{hidden}", requestBytes: 12 });
  expect(failure?.issues).toHaveLength(5);
  expect(failure?.issues[0]).toEqual(issue("Must be a UUID"));
  expect(failure?.issues[1]).toMatchObject({
    path: `[0]${".rowList[11]".repeat(100)}`.slice(0, 120),
    message: "x".repeat(240),
  });
  expect(failure?.issues[2]).toEqual(issue('Must be one of "room", "bar"'));
});

it.each(["pragma_0123456789ABCDEFGHIJ", "Dupont.0612345678", "0612345678", "jean@example.com", "x".repeat(41)])(
  "hides the name %s that a client gave to a parameter",
  (path) => {
    const counter = createUsageCounter(new Set());
    const requestIssues = [{ in: "query" as const, path, code: "unknown_parameter" as const, message: "Is unknown" }];
    counter.add(request({ status: 400, requestIssues }), now);
    expect(takeAll(counter).failures[0]?.issues[0]?.path).toBe("{hidden}");
  },
);

it("fits into a NATS message of 1 MiB, whatever failed", () => {
  const counter = createUsageCounter(new Set());
  const requestIssues = Array.from({ length: 5 }, () => ({
    ...{
      in: "body" as const,
      path: "\u4e00\0\ud800".repeat(500),
      code: "custom" as const,
      message: "\u4e00".repeat(500),
    },
  }));
  for (let key = 0; key < 100; key++)
    counter.add(
      request({
        keyId: randomUUID(),
        status: 400,
        requestId: "r".repeat(128),
        requestIssues,
        path: `/v1/${"a/".repeat(500)}`,
      }),
      now,
    );
  for (let key = 0; key < 2_000; key++) counter.add(request({ keyId: randomUUID(), route: "/v1/accounting" }), now);
  for (const batch of takeAll(counter).batches) {
    expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(1024 * 1024);
    expect(JSON.stringify(batch.failures)).not.toMatch(/\\u/);
  }
});
