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
    ...{ pollMs: 60_000, maxPerKey: 2, maxPerSender: 3, maxPerProcess: 5 },
  });
});
afterEach(() => waiters.close());

const open = (senderId: string, keyId: string = randomUUID()) =>
  waiters.open({ waitKey: senderId, senderId, keyId, timeoutMs: 60_000, signal: new AbortController().signal });
const findError = (senderId: string, keyId?: string): unknown => {
  try {
    open(senderId, keyId).close();
    return undefined;
  } catch (error) {
    return error;
  }
};

it("limits the waiting requests of a key, of a location and of the process, and names the limit that is exceeded", () => {
  const opened = [open("a", "key"), open("a", "key")];
  expect(findError("a", "key")).toMatchObject({
    ...{ code: "too_many_waiting_requests", limit: { name: "waiting_change_requests", maximum: 2 } },
    message: expect.stringContaining("At most 2 requests of an API key can wait"),
  });
  opened.push(open("a"));
  expect(findError("a")).toMatchObject({
    ...{ code: "too_many_waiting_requests", limit: { name: "waiting_change_requests", maximum: 3 } },
    message: expect.stringContaining("At most 3 requests of all API keys of a location together can wait"),
  });
  opened.push(open("b"), open("b"));
  expect(findError("c")).toMatchObject({ code: "overloaded", headers: { "retry-after": "2" } });
  for (const waiter of opened) waiter.close();
  expect([waiters.waitingCount, findError("a", "key"), findError("c")]).toEqual([0, undefined, undefined]);
});
