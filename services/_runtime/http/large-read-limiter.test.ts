import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createResponseUnreadByClient } from "../testing/unread-response.ts";
import { LargeReadLimiter } from "./large-read-limiter.ts";
import { createSerializedJsonResponse } from "./route-response.ts";
import { UnreadResponseLimiter } from "./unread-response-limit.ts";

const megabyte = 1_000_000;

function createLimiter() {
  const unreadResponses = new UnreadResponseLimiter({
    UNREAD_RESPONSE_MAX_BYTES: 5 * megabyte,
    UNREAD_RESPONSE_MAX_BYTES_PER_KEY: 3 * megabyte,
  });
  return { unreadResponses, largeReads: new LargeReadLimiter(unreadResponses) };
}

/** Runs reads of several API keys, and returns the highest numbers of concurrent reads: of one key, and of all keys. */
async function measureConcurrency(keyIds: string[]) {
  const { largeReads } = createLimiter();
  const active: string[] = [];
  let [ofKey, ofAll] = [0, 0];
  const read = async (keyId: string) => {
    active.push(keyId);
    ofKey = Math.max(ofKey, active.filter((each) => each === keyId).length);
    ofAll = Math.max(ofAll, active.length);
    await sleep(5);
    active.splice(active.indexOf(keyId), 1);
  };
  await Promise.all(
    keyIds.map((keyId) => largeReads.run(() => read(keyId), { keyId, bytes: megabyte, outgoing: undefined })),
  );
  return { ofKey, ofAll };
}

describe("reads of large bodies", () => {
  it("run one at a time for each API key, and few at a time for all keys", async () => {
    expect(await measureConcurrency(Array.from({ length: 8 }, () => "one"))).toEqual({ ofKey: 1, ofAll: 1 });
    const keyIds = Array.from({ length: 24 }, (_, index) => `key ${index % 6}`);
    expect(await measureConcurrency(keyIds)).toEqual({ ofKey: 1, ofAll: 2 });
  });

  it("of a key whose requests all wait do not delay other keys", async () => {
    const { largeReads } = createLimiter();
    const finished: string[] = [];
    const run = (keyId: string) =>
      largeReads.run(async () => void finished.push(keyId, await sleep(5, "")), {
        ...{ keyId, bytes: megabyte, outgoing: undefined },
      });
    await Promise.all([...Array.from({ length: 12 }, () => run("busy")), run("other")]);
    expect(finished.filter(Boolean).indexOf("other")).toBeLessThan(4);
  });

  it("are rejected if too many requests of the key wait", async () => {
    const { largeReads } = createLimiter();
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, () =>
        largeReads.run(countRead, { keyId: "one", bytes: megabyte, outgoing: undefined }),
      ),
    );
    const rejected = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect([readCount, rejected.length]).toEqual([17, 183]);
    expect(rejected[0]).toMatchObject({ code: "rate_limited", limit: { name: "concurrent_large_reads", maximum: 16 } });
  });

  it("wait until the client has read earlier responses, and are rejected before the body is read", async () => {
    const { largeReads, unreadResponses } = createLimiter();
    const outgoing = createResponseUnreadByClient();
    unreadResponses.trackResponse(createSerializedJsonResponse(200, "x".repeat(2 * megabyte)), {
      ...{ keyId: "one", canReject: true, outgoing },
    });
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const run = () => largeReads.run(countRead, { keyId: "one", bytes: 2 * megabyte, outgoing: undefined });
    await expect(run()).rejects.toMatchObject({ code: "rate_limited", limit: { name: "unread_reply_bytes" } });
    expect(readCount).toBe(0);
    const waiting = run();
    outgoing.socket?.destroy();
    await waiting;
    expect(readCount).toBe(1);
  });

  it("do not run for a client that has disconnected", async () => {
    const { largeReads } = createLimiter();
    const outgoing = createResponseUnreadByClient();
    const first = largeReads.run(() => sleep(50), { keyId: "one", bytes: megabyte, outgoing: undefined });
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const second = largeReads.run(countRead, { keyId: "one", bytes: megabyte, outgoing });
    outgoing.socket?.destroy();
    await expect(second).rejects.toMatchObject({ code: "rate_limited" });
    await first;
    await sleep(20);
    expect(readCount).toBe(0);
  });
});

it("a body that is not large is read once, without waiting", async () => {
  const { largeReads } = createLimiter();
  const owner = { keyId: "one", outgoing: undefined };
  void largeReads.run(() => sleep(100), { ...owner, bytes: megabyte });
  const maxima: number[] = [];
  const read = (bytes: number) => async (maxBytes: number) => {
    maxima.push(maxBytes);
    return { body: bytes, omittedBytes: bytes > maxBytes ? bytes : undefined };
  };
  expect(await largeReads.readBody(read(1_000), owner)).toMatchObject({ body: 1_000 });
  expect(maxima).toEqual([256 * 1024]);
  expect(await largeReads.readBody(read(megabyte), owner)).toMatchObject({ omittedBytes: undefined });
  expect(maxima).toHaveLength(3);
});
