import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSerializedJsonResponse } from "../http/route-response.ts";
import { createResponseUnreadByClient } from "../testing/unread-response.ts";
import { LargeResponseLimiter } from "./large-response-limiter.ts";

const megabyte = 1_000_000;

const createLimiter = () =>
  new LargeResponseLimiter({
    UNREAD_RESPONSE_MAX_BYTES: 5 * megabyte,
    UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION: 3 * megabyte,
  });

/** Runs reads of several locations, and returns the highest numbers of concurrent reads: of one location, and of all. */
async function measureConcurrency(senderIds: string[]) {
  const limiter = createLimiter();
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
      limiter.readLargeBody(megabyte, () => read(senderId), { senderId, outgoing: undefined }),
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
    const limiter = createLimiter();
    const finished: string[] = [];
    const run = (senderId: string) =>
      limiter.readLargeBody(megabyte, async () => void finished.push(senderId, await sleep(5, "")), {
        ...{ senderId, outgoing: undefined },
      });
    await Promise.all([...Array.from({ length: 12 }, () => run("busy")), run("other")]);
    expect(finished.filter(Boolean).indexOf("other")).toBeLessThan(4);
  });

  it("are rejected if too many requests of the location wait", async () => {
    const limiter = createLimiter();
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, () =>
        limiter.readLargeBody(megabyte, countRead, { senderId: "one", outgoing: undefined }),
      ),
    );
    const rejected = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect([readCount, rejected.length]).toEqual([17, 183]);
    expect(rejected[0]).toMatchObject({ code: "rate_limited", limit: { name: "concurrent_large_reads", maximum: 16 } });
  });

  it("wait until the client has read earlier responses, and are rejected before the body is read", async () => {
    const limiter = createLimiter();
    const outgoing = createResponseUnreadByClient();
    limiter.trackResponse(createSerializedJsonResponse(200, "x".repeat(2 * megabyte)), {
      ...{ senderId: "one", canReject: true, outgoing },
    });
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const run = () => limiter.readLargeBody(2 * megabyte, countRead, { senderId: "one", outgoing: undefined });
    await expect(run()).rejects.toMatchObject({ code: "rate_limited", limit: { name: "unread_response_bytes" } });
    expect(readCount).toBe(0);
    const waiting = run();
    outgoing.socket?.destroy();
    await waiting;
    expect(readCount).toBe(1);
  });

  it("do not run for a client that has disconnected", async () => {
    const limiter = createLimiter();
    const outgoing = createResponseUnreadByClient();
    const first = limiter.readLargeBody(megabyte, () => sleep(50), { senderId: "one", outgoing: undefined });
    let readCount = 0;
    const countRead = async () => {
      readCount += 1;
    };
    const second = limiter.readLargeBody(megabyte, countRead, { senderId: "one", outgoing });
    outgoing.socket?.destroy();
    await expect(second).rejects.toMatchObject({ code: "rate_limited" });
    await first;
    await sleep(20);
    expect(readCount).toBe(0);
  });
});

it("a body that is not large is read once, without waiting", async () => {
  const limiter = createLimiter();
  const owner = { senderId: "one", outgoing: undefined };
  void limiter.readLargeBody(megabyte, () => sleep(100), owner);
  const maxima: number[] = [];
  const read = (bytes: number) => async (maxBytes: number) => {
    maxima.push(maxBytes);
    return { body: bytes, omittedBytes: bytes > maxBytes ? bytes : undefined };
  };
  expect(await limiter.readBody(read(1_000), owner)).toMatchObject({ body: 1_000 });
  expect(maxima).toEqual([256 * 1024]);
  expect(await limiter.readBody(read(megabyte), owner)).toMatchObject({ omittedBytes: undefined });
  expect(maxima).toHaveLength(3);
});

const largeResponse = () => createSerializedJsonResponse(200, "é".repeat(megabyte / 2));

describe("a large response", () => {
  it("is counted until it is closed", async () => {
    const limit = createLimiter();
    const outgoing = createResponseUnreadByClient();
    limit.trackResponse(largeResponse(), { senderId: "one", canReject: true, outgoing });
    expect(limit.unreadBytes).toBe(megabyte);
    outgoing.socket?.destroy();
    await once(outgoing, "close");
    expect(limit.unreadBytes).toBe(0);
  });

  it("is not counted when its client has already disconnected", () => {
    const limit = createLimiter();
    const outgoing = createResponseUnreadByClient();
    outgoing.destroy();
    limit.trackResponse(largeResponse(), { senderId: "one", canReject: true, outgoing });
    expect(limit.unreadBytes).toBe(0);
  });

  it("is rejected only for a location with too many unread responses", () => {
    const limit = createLimiter();
    const trackResponseOf = (senderId: string) =>
      limit.trackResponse(largeResponse(), { senderId, canReject: true, outgoing: createResponseUnreadByClient() });
    for (let count = 0; count < 3; count += 1) trackResponseOf("one");
    expect(() => trackResponseOf("one")).toThrowError(
      expect.objectContaining({
        code: "rate_limited",
        limit: { name: "unread_response_bytes", maximum: 3 * megabyte, unit: "bytes" },
        headers: { "retry-after": "2" },
      }),
    );
    expect(() => limit.requireCapacity("one")).toThrowError(expect.objectContaining({ code: "rate_limited" }));
    limit.requireCapacity("other");
    trackResponseOf("other");
    trackResponseOf("other");
    expect(() => trackResponseOf("third")).toThrowError(expect.objectContaining({ code: "overloaded" }));
  });

  it("is sent when its request has had its effect, or when it alone exceeds the limit", () => {
    const limit = createLimiter();
    limit.trackResponse(createSerializedJsonResponse(200, "x".repeat(4 * megabyte)), {
      senderId: "one",
      canReject: true,
      outgoing: createResponseUnreadByClient(),
    });
    limit.trackResponse(largeResponse(), {
      senderId: "one",
      canReject: false,
      outgoing: createResponseUnreadByClient(),
    });
    expect(limit.unreadBytes).toBe(5 * megabyte);
  });
});

it("a small response is not counted", () => {
  const limit = createLimiter();
  limit.trackResponse(createSerializedJsonResponse(200, "x".repeat(1_000)), {
    senderId: "one",
    canReject: true,
    outgoing: createResponseUnreadByClient(),
  });
  expect(limit.unreadBytes).toBe(0);
});
