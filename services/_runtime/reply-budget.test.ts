import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { text } from "./reply.ts";
import { ReplyBudget } from "./reply-budget.ts";
import { openResponse } from "./testing/open-response.ts";

const megabyte = 1_000_000;
const open = () => new ReplyBudget({ UNREAD_REPLY_BYTES: 5 * megabyte, UNREAD_REPLY_BYTES_PER_KEY: 3 * megabyte });
const large = () => text(200, "é".repeat(megabyte / 2));

describe("a large reply", () => {
  it("is counted until its response is closed", async () => {
    const budget = open();
    const outgoing = openResponse();
    budget.hold(large(), { keyId: "one", isRefusable: true, outgoing });
    expect(budget.held).toBe(megabyte);
    outgoing.socket?.destroy();
    await once(outgoing, "close");
    expect(budget.held).toBe(0);
  });

  it("is not counted when its client is gone already", () => {
    const budget = open();
    const outgoing = openResponse();
    outgoing.destroy();
    budget.hold(large(), { keyId: "one", isRefusable: true, outgoing });
    expect(budget.held).toBe(0);
  });

  it("is refused to a key that has left too much unread, and to nobody else", () => {
    const budget = open();
    const ask = (keyId: string) => budget.hold(large(), { keyId, isRefusable: true, outgoing: openResponse() });
    for (let reply = 0; reply < 3; reply += 1) ask("one");
    expect(() => ask("one")).toThrowError(
      expect.objectContaining({
        code: "rate_limited",
        limit: { name: "unread_reply_bytes", maximum: 3 * megabyte, unit: "bytes" },
        headers: { "retry-after": "2" },
      }),
    );
    expect(() => budget.requireRoom("one")).toThrowError(expect.objectContaining({ code: "rate_limited" }));
    budget.requireRoom("other");
    ask("other");
    ask("other");
    expect(() => ask("third")).toThrowError(expect.objectContaining({ code: "overloaded" }));
  });

  it("is sent where its request has had its effect, and where it is larger than the limit by itself", () => {
    const budget = open();
    budget.hold(text(200, "x".repeat(4 * megabyte)), { keyId: "one", isRefusable: true, outgoing: openResponse() });
    budget.hold(large(), { keyId: "one", isRefusable: false, outgoing: openResponse() });
    expect(budget.held).toBe(5 * megabyte);
  });
});

it("a small reply is not counted", () => {
  const budget = open();
  budget.hold(text(200, "x".repeat(1_000)), { keyId: "one", isRefusable: true, outgoing: openResponse() });
  expect(budget.held).toBe(0);
});
