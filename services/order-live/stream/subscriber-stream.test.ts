import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SubscriberStream } from "./subscriber-stream.ts";

const toBytes = (text: string) => new TextEncoder().encode(text);
const toText = (chunk: Uint8Array | undefined) => new TextDecoder().decode(chunk);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function createSubscriberStream() {
  const onOver = vi.fn();
  const outlet = new SubscriberStream({ onClosed: onOver });
  return { outlet, onOver, reader: outlet.body.getReader() };
}

describe("an outlet", () => {
  it("hands out what it was given in its order, whether it is asked before or after", async () => {
    const { outlet, reader } = createSubscriberStream();
    const first = reader.read();
    await Promise.resolve();
    outlet.write(toBytes("one"));
    outlet.write(toBytes("two"));
    expect(toText((await first).value)).toBe("one");
    expect(outlet.bufferedBytes).toBe(3);
    expect(toText((await reader.read()).value)).toBe("two");
    expect(outlet.bufferedBytes).toBe(0);
  });

  it("tells when everything was taken and more is asked for", async () => {
    const { outlet, reader } = createSubscriberStream();
    outlet.write(toBytes("one"));
    const drained = vi.fn();
    void outlet.waitUntilDrained().then(drained);
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).not.toHaveBeenCalled();
    await reader.read();
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).not.toHaveBeenCalled();
    const next = reader.read();
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).toHaveBeenCalled();
    await outlet.waitUntilDrained();
    outlet.write(toBytes("two"));
    expect(toText((await next).value)).toBe("two");
  });

  it("is stalled when something waits and nothing is taken", async () => {
    const { outlet, reader } = createSubscriberStream();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(outlet.isStalled(1_000)).toBe(false);
    outlet.write(toBytes("one"));
    outlet.write(toBytes("two"));
    await vi.advanceTimersByTimeAsync(900);
    expect(outlet.isStalled(1_000)).toBe(false);
    await reader.read();
    await vi.advanceTimersByTimeAsync(900);
    expect(outlet.isStalled(1_000)).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(outlet.isStalled(1_000)).toBe(true);
  });

  it("ends after what waits and the last words, once", async () => {
    const { outlet, onOver, reader } = createSubscriberStream();
    outlet.write(toBytes("one"));
    outlet.endWith(toBytes("bye"));
    outlet.endWith(toBytes("again"));
    outlet.write(toBytes("more"));
    expect([toText((await reader.read()).value), toText((await reader.read()).value)]).toEqual(["one", "bye"]);
    expect((await reader.read()).done).toBe(true);
    expect(onOver).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(onOver).toHaveBeenCalledTimes(1);
  });

  it("ends at once for a reader that waits", async () => {
    const { outlet, onOver, reader } = createSubscriberStream();
    const reading = reader.read();
    await Promise.resolve();
    outlet.endWith(toBytes("bye"));
    expect(toText((await reading).value)).toBe("bye");
    expect((await reader.read()).done).toBe(true);
    expect(onOver).toHaveBeenCalledTimes(1);
  });

  it("keeps nothing but the last words for a reader that is not worth waiting for, and cuts it off in the end", async () => {
    const { outlet, onOver, reader } = createSubscriberStream();
    outlet.write(toBytes("one"));
    outlet.endWith(toBytes("bye"), { isUnread: true });
    expect(outlet.bufferedBytes).toBe(3);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(onOver).toHaveBeenCalledTimes(1);
    expect(outlet.bufferedBytes).toBe(0);
    await expect(reader.read()).rejects.toThrow("takes nothing");
  });

  it("lets go of everything when its reader goes away", async () => {
    const { outlet, onOver, reader } = createSubscriberStream();
    outlet.write(toBytes("one"));
    const drained = outlet.waitUntilDrained();
    await reader.cancel();
    await drained;
    expect([outlet.bufferedBytes, outlet.isClosed]).toEqual([0, true]);
    outlet.write(toBytes("two"));
    outlet.endWith(toBytes("bye"));
    outlet.cancel();
    expect(onOver).toHaveBeenCalledTimes(1);
  });
});
