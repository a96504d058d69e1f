import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { createSerializedJsonResponse } from "../http/route-response.ts";
import { createResponseUnreadByClient } from "../testing/unread-response.ts";
import { UnreadResponseLimiter } from "./unread-response-limit.ts";

const megabyte = 1_000_000;
const createLimit = () =>
  new UnreadResponseLimiter({
    UNREAD_RESPONSE_MAX_BYTES: 5 * megabyte,
    UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION: 3 * megabyte,
  });
const largeResponse = () => createSerializedJsonResponse(200, "é".repeat(megabyte / 2));

describe("a large response", () => {
  it("is counted until it is closed", async () => {
    const limit = createLimit();
    const outgoing = createResponseUnreadByClient();
    limit.trackResponse(largeResponse(), { senderId: "one", canReject: true, outgoing });
    expect(limit.heldBytes).toBe(megabyte);
    outgoing.socket?.destroy();
    await once(outgoing, "close");
    expect(limit.heldBytes).toBe(0);
  });

  it("is not counted when its client has already disconnected", () => {
    const limit = createLimit();
    const outgoing = createResponseUnreadByClient();
    outgoing.destroy();
    limit.trackResponse(largeResponse(), { senderId: "one", canReject: true, outgoing });
    expect(limit.heldBytes).toBe(0);
  });

  it("is rejected only for a location with too many unread responses", () => {
    const limit = createLimit();
    const trackResponseOf = (senderId: string) =>
      limit.trackResponse(largeResponse(), { senderId, canReject: true, outgoing: createResponseUnreadByClient() });
    for (let count = 0; count < 3; count += 1) trackResponseOf("one");
    expect(() => trackResponseOf("one")).toThrowError(
      expect.objectContaining({
        code: "rate_limited",
        limit: { name: "unread_reply_bytes", maximum: 3 * megabyte, unit: "bytes" },
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
    const limit = createLimit();
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
    expect(limit.heldBytes).toBe(5 * megabyte);
  });
});

it("a small response is not counted", () => {
  const limit = createLimit();
  limit.trackResponse(createSerializedJsonResponse(200, "x".repeat(1_000)), {
    senderId: "one",
    canReject: true,
    outgoing: createResponseUnreadByClient(),
  });
  expect(limit.heldBytes).toBe(0);
});
