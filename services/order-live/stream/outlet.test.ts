import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Outlet } from "./outlet.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (chunk: Uint8Array | undefined) => new TextDecoder().decode(chunk);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const onOver = vi.fn();
  const outlet = new Outlet({ onOver });
  return { outlet, onOver, reader: outlet.body.getReader() };
}

describe("an outlet", () => {
  it("hands out what it was given in its order, whether it is asked before or after", async () => {
    const { outlet, reader } = open();
    const first = reader.read();
    await Promise.resolve();
    outlet.write(bytes("one"));
    outlet.write(bytes("two"));
    expect(text((await first).value)).toBe("one");
    expect(outlet.waiting).toBe(3);
    expect(text((await reader.read()).value)).toBe("two");
    expect(outlet.waiting).toBe(0);
  });

  it("tells when everything was taken and more is asked for", async () => {
    const { outlet, reader } = open();
    outlet.write(bytes("one"));
    const drained = vi.fn();
    void outlet.drained().then(drained);
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).not.toHaveBeenCalled();
    await reader.read();
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).not.toHaveBeenCalled();
    const next = reader.read();
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).toHaveBeenCalled();
    await outlet.drained();
    outlet.write(bytes("two"));
    expect(text((await next).value)).toBe("two");
  });

  it("is stalled when something waits and nothing is taken", async () => {
    const { outlet, reader } = open();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(outlet.isStalled(1_000)).toBe(false);
    outlet.write(bytes("one"));
    outlet.write(bytes("two"));
    await vi.advanceTimersByTimeAsync(900);
    expect(outlet.isStalled(1_000)).toBe(false);
    await reader.read();
    await vi.advanceTimersByTimeAsync(900);
    expect(outlet.isStalled(1_000)).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(outlet.isStalled(1_000)).toBe(true);
  });

  it("ends after what waits and the last words, once", async () => {
    const { outlet, onOver, reader } = open();
    outlet.write(bytes("one"));
    outlet.end(bytes("bye"));
    outlet.end(bytes("again"));
    outlet.write(bytes("more"));
    expect([text((await reader.read()).value), text((await reader.read()).value)]).toEqual(["one", "bye"]);
    expect((await reader.read()).done).toBe(true);
    expect(onOver).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(onOver).toHaveBeenCalledTimes(1);
  });

  it("ends at once for a reader that waits", async () => {
    const { outlet, onOver, reader } = open();
    const reading = reader.read();
    await Promise.resolve();
    outlet.end(bytes("bye"));
    expect(text((await reading).value)).toBe("bye");
    expect((await reader.read()).done).toBe(true);
    expect(onOver).toHaveBeenCalledTimes(1);
  });

  it("keeps nothing but the last words for a reader that is not worth waiting for, and cuts it off in the end", async () => {
    const { outlet, onOver, reader } = open();
    outlet.write(bytes("one"));
    outlet.end(bytes("bye"), { isUnread: true });
    expect(outlet.waiting).toBe(3);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(onOver).toHaveBeenCalledTimes(1);
    expect(outlet.waiting).toBe(0);
    await expect(reader.read()).rejects.toThrow("takes nothing");
  });

  it("lets go of everything when its reader goes away", async () => {
    const { outlet, onOver, reader } = open();
    outlet.write(bytes("one"));
    const drained = outlet.drained();
    await reader.cancel();
    await drained;
    expect([outlet.waiting, outlet.isOver]).toEqual([0, true]);
    outlet.write(bytes("two"));
    outlet.end(bytes("bye"));
    outlet.abandon();
    expect(onOver).toHaveBeenCalledTimes(1);
  });
});
