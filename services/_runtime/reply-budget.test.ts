import { describe, expect, it } from "vitest";
import { text } from "./reply.ts";
import { createReplyBudget } from "./reply-budget.ts";

const megabyte = 1_000_000;
const open = () => createReplyBudget({ UNREAD_REPLY_BYTES: 5 * megabyte, UNREAD_REPLY_BYTES_PER_KEY: 3 * megabyte });
const large = () => text(200, "é".repeat(megabyte / 2));

describe("a large reply", () => {
  it("is counted until the client has taken it, and is sent as it was", async () => {
    const budget = open();
    const held = budget.hold(large(), { keyId: "one", isRefusable: true });
    expect(held.headers["content-length"]).toBe(String(megabyte));
    expect(budget.held).toBe(megabyte);
    const reader = (held.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value ?? []).toString()).toBe(large().body);
    expect(budget.held).toBe(megabyte);
    expect((await reader.read()).done).toBe(true);
    expect(budget.held).toBe(0);
  });

  it("is no longer counted when its client is gone", async () => {
    const budget = open();
    const { body } = budget.hold(large(), { keyId: "one", isRefusable: true });
    await (body as ReadableStream).cancel();
    expect(budget.held).toBe(0);
  });

  it("is refused to a key that has left too much unread, and to nobody else", () => {
    const budget = open();
    const ask = (keyId: string) => budget.hold(large(), { keyId, isRefusable: true });
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
    budget.hold(text(200, "x".repeat(4 * megabyte)), { keyId: "one", isRefusable: true });
    budget.hold(large(), { keyId: "one", isRefusable: false });
    expect(budget.held).toBe(5 * megabyte);
  });
});

it("a small reply goes out at once and is not counted", () => {
  const budget = open();
  const small = text(200, "x".repeat(1_000));
  expect(budget.hold(small, { keyId: "one", isRefusable: true })).toBe(small);
  expect(budget.held).toBe(0);
});
