import { randomUUID } from "node:crypto";
import type { Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ChangeWaiters, createChangeWaiters } from "./change-waiters.ts";

let waiters: ChangeWaiters;
beforeEach(() => {
  waiters = createChangeWaiters({
    // Not used: no request waits for the changes of all locations, or until the first poll.
    db: {} as Database,
    notifier: { publish: () => {}, subscribe: () => {} },
    log: createLogger({ name: "test", level: "silent" }),
  });
});
afterEach(() => waiters.close());

const open = (senderId: string, keyId: string = randomUUID()) =>
  waiters.open({ waitKey: senderId, senderId, keyId, timeoutMs: 60_000, signal: new AbortController().signal });
const openMany = (count: number, senderId: string, keyId?: string) =>
  Array.from({ length: count }, () => open(senderId, keyId));
const findError = (senderId: string, keyId?: string): unknown => {
  try {
    open(senderId, keyId).close();
    return undefined;
  } catch (error) {
    return error;
  }
};

it("limits the waiting requests of a key, of a location and of the process, and names the limit that is exceeded", () => {
  const opened = openMany(10, "a", "key");
  expect(findError("a", "key")).toMatchObject({
    ...{ code: "too_many_waiting_requests", limit: { name: "waiting_change_requests", maximum: 10 } },
    message: expect.stringContaining("At most 10 requests of an API key can wait"),
  });
  opened.push(...openMany(90, "a"));
  expect(findError("a")).toMatchObject({
    ...{ code: "too_many_waiting_requests", limit: { name: "waiting_change_requests", maximum: 100 } },
    message: expect.stringContaining("At most 100 requests of all API keys of a location together can wait"),
  });
  for (let other = 0; other < 9; other += 1) opened.push(...openMany(100, `other ${other}`));
  expect(findError("c")).toMatchObject({ code: "overloaded", headers: { "retry-after": "2" } });
  for (const waiter of opened) waiter.close();
  expect([waiters.waitingCount, findError("a", "key"), findError("c")]).toEqual([0, undefined, undefined]);
});
