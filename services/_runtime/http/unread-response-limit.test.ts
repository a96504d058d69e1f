import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { createUnreadResponse } from "../testing/unread-response.ts";
import { jsonTextResponse } from "./route-response.ts";
import { UnreadResponseLimit } from "./unread-response-limit.ts";

const megabyte = 1_000_000;
const createLimit = () =>
  new UnreadResponseLimit({ UNREAD_REPLY_BYTES: 5 * megabyte, UNREAD_REPLY_BYTES_PER_KEY: 3 * megabyte });
const largeResponse = () => jsonTextResponse(200, "é".repeat(megabyte / 2));

describe("a large reply", () => {
  it("is counted until its response is closed", async () => {
    const budget = createLimit();
    const outgoing = createUnreadResponse();
    budget.trackResponse(largeResponse(), { keyId: "one", isRefusable: true, outgoing });
    expect(budget.heldBytes).toBe(megabyte);
    outgoing.socket?.destroy();
    await once(outgoing, "close");
    expect(budget.heldBytes).toBe(0);
  });

  it("is not counted when its client is gone already", () => {
    const budget = createLimit();
    const outgoing = createUnreadResponse();
    outgoing.destroy();
    budget.trackResponse(largeResponse(), { keyId: "one", isRefusable: true, outgoing });
    expect(budget.heldBytes).toBe(0);
  });

  it("is refused to a key that has left too much unread, and to nobody else", () => {
    const budget = createLimit();
    const ask = (keyId: string) =>
      budget.trackResponse(largeResponse(), { keyId, isRefusable: true, outgoing: createUnreadResponse() });
    for (let reply = 0; reply < 3; reply += 1) ask("one");
    expect(() => ask("one")).toThrowError(
      expect.objectContaining({
        code: "rate_limited",
        limit: { name: "unread_reply_bytes", maximum: 3 * megabyte, unit: "bytes" },
        headers: { "retry-after": "2" },
      }),
    );
    expect(() => budget.requireCapacity("one")).toThrowError(expect.objectContaining({ code: "rate_limited" }));
    budget.requireCapacity("other");
    ask("other");
    ask("other");
    expect(() => ask("third")).toThrowError(expect.objectContaining({ code: "overloaded" }));
  });

  it("is sent where its request has had its effect, and where it is larger than the limit by itself", () => {
    const budget = createLimit();
    budget.trackResponse(jsonTextResponse(200, "x".repeat(4 * megabyte)), {
      keyId: "one",
      isRefusable: true,
      outgoing: createUnreadResponse(),
    });
    budget.trackResponse(largeResponse(), { keyId: "one", isRefusable: false, outgoing: createUnreadResponse() });
    expect(budget.heldBytes).toBe(5 * megabyte);
  });
});

it("a small reply is not counted", () => {
  const budget = createLimit();
  budget.trackResponse(jsonTextResponse(200, "x".repeat(1_000)), {
    keyId: "one",
    isRefusable: true,
    outgoing: createUnreadResponse(),
  });
  expect(budget.heldBytes).toBe(0);
});
