import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSerializedJsonResponse } from "../http/route-response.ts";
import { createResponseUnreadByClient } from "../testing/unread-response.ts";
import { LargeReadLimiter } from "./large-read-limiter.ts";
import { UnreadResponseLimiter } from "./unread-response-limit.ts";

const megabyte = 1_000_000;

function createLimiter() {
  const unreadResponses = new UnreadResponseLimiter({
    UNREAD_RESPONSE_MAX_BYTES: 5 * megabyte,
    UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION: 3 * megabyte,
  });
  return { unreadResponses, largeReads: new LargeReadLimiter(unreadResponses) };
}

/** Runs reads of several locations, and returns the highest numbers of concurrent reads: of one location, and of all. */
async function measureConcurrency(senderIds: string[]) {
  const { largeReads } = createLimiter();
  const active: string[] = [];
  let [ofLocation, ofAll] = [0, 0];
  const read = async (senderId: string) => {
    active.push(senderId);
    ofLocation = Math.max(ofLocation, active.filter((each) => each === senderId).length);
    ofAll = Math.max(ofAll, active.length);
    await sleep(5);
    active.splice(active.indexOf(senderId), 1);
  };
  await Promise.all(
    senderIds.map((senderId) =>
      largeReads.run(() => read(senderId), { senderId, bytes: megabyte, outgoing: undefined }),
    ),
  );
  return { ofLocation, ofAll };
}

describe("reads of large bodies", () => {
  it("run one at a time for each location, and few at a time for all", async () => {
    expect(await measureConcurrency(Array.from({ length: 8 }, () => "one"))).toEqual({ ofLocation: 1, ofAll: 1 });
    const senderIds = Array.from({ length: 24 }, (_, index) => `location ${index % 6}`);
    expect(await measureConcurrency(senderIds)).toEqual({ ofLocation: 1, ofAll: 2 });
  });

  it("of a location whose requests all wait do not delay others", async () => {
    const { largeReads } = createLimiter();
    const finished: string[] = [];
    const run = (senderId: string) =>
      largeReads.run(async () => void finished.push(senderId, await sleep(5, "")), {
        ...{ senderId, bytes: megabyte, outgoing: undefined },
      });
    await Promise.all([...Array.from({ length: 12 }, () => run("busy")), run("other")]);
    expect(finished.filter(Boolean).indexOf("other")).toBeLessThan(4);
  });

  it("are rejected if too many requests of the location wait", async () => {
    const { largeReads } = createLimiter();
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, () =>
        largeReads.run(countRead, { senderId: "one", bytes: megabyte, outgoing: undefined }),
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
      ...{ senderId: "one", canReject: true, outgoing },
    });
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const run = () => largeReads.run(countRead, { senderId: "one", bytes: 2 * megabyte, outgoing: undefined });
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
    const first = largeReads.run(() => sleep(50), { senderId: "one", bytes: megabyte, outgoing: undefined });
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const second = largeReads.run(countRead, { senderId: "one", bytes: megabyte, outgoing });
    outgoing.socket?.destroy();
    await expect(second).rejects.toMatchObject({ code: "rate_limited" });
    await first;
    await sleep(20);
    expect(readCount).toBe(0);
  });
});

it("a body that is not large is read once, without waiting", async () => {
  const { largeReads } = createLimiter();
  const owner = { senderId: "one", outgoing: undefined };
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
