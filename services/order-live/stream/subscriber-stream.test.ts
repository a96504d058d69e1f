import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LiveOrderSubscriberStream } from "./subscriber-stream.ts";

const toBytes = (text: string) => new TextEncoder().encode(text);
const toText = (chunk: Uint8Array | undefined) => new TextDecoder().decode(chunk);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function createSubscriberStream() {
  const onClosed = vi.fn();
  const stream = new LiveOrderSubscriberStream(onClosed);
  return { stream, onClosed, reader: stream.body.getReader() };
}

describe("a subscriber stream", () => {
  it("delivers chunks in order, whether they are read before or after they are written", async () => {
    const { stream, reader } = createSubscriberStream();
    const first = reader.read();
    await Promise.resolve();
    stream.write(toBytes("one"));
    stream.write(toBytes("two"));
    expect(toText((await first).value)).toBe("one");
    expect(stream.bufferedBytes).toBe(3);
    expect(toText((await reader.read()).value)).toBe("two");
    expect(stream.bufferedBytes).toBe(0);
  });

  it("resolves waitUntilDrained when all chunks were read and another chunk is requested", async () => {
    const { stream, reader } = createSubscriberStream();
    stream.write(toBytes("one"));
    const drained = vi.fn();
    void stream.waitUntilDrained().then(drained);
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).not.toHaveBeenCalled();
    await reader.read();
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).not.toHaveBeenCalled();
    const next = reader.read();
    await vi.advanceTimersByTimeAsync(10);
    expect(drained).toHaveBeenCalled();
    await stream.waitUntilDrained();
    stream.write(toBytes("two"));
    expect(toText((await next).value)).toBe("two");
  });

  it("is stalled when data is buffered and not read", async () => {
    const { stream, reader } = createSubscriberStream();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stream.isStalled(1_000)).toBe(false);
    stream.write(toBytes("one"));
    stream.write(toBytes("two"));
    await vi.advanceTimersByTimeAsync(900);
    expect(stream.isStalled(1_000)).toBe(false);
    await reader.read();
    await vi.advanceTimersByTimeAsync(900);
    expect(stream.isStalled(1_000)).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(stream.isStalled(1_000)).toBe(true);
  });

  it("ends once, after the buffered chunks and the last chunk", async () => {
    const { stream, onClosed, reader } = createSubscriberStream();
    stream.write(toBytes("one"));
    stream.endWith(toBytes("bye"));
    stream.endWith(toBytes("second end"));
    stream.write(toBytes("more"));
    expect([toText((await reader.read()).value), toText((await reader.read()).value)]).toEqual(["one", "bye"]);
    expect((await reader.read()).done).toBe(true);
    expect(onClosed).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(onClosed).toHaveBeenCalledTimes(1);
  });

  it("ends immediately when a read is pending", async () => {
    const { stream, onClosed, reader } = createSubscriberStream();
    const reading = reader.read();
    await Promise.resolve();
    stream.endWith(toBytes("bye"));
    expect(toText((await reading).value)).toBe("bye");
    expect((await reader.read()).done).toBe(true);
    expect(onClosed).toHaveBeenCalledTimes(1);
  });

  it("discards the buffer of a stalled client and disconnects the client after the grace period", async () => {
    const { stream, onClosed, reader } = createSubscriberStream();
    stream.write(toBytes("one"));
    stream.endWith(toBytes("bye"), { shouldDiscardBuffered: true });
    expect(stream.bufferedBytes).toBe(3);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(onClosed).toHaveBeenCalledTimes(1);
    expect(stream.bufferedBytes).toBe(0);
    await expect(reader.read()).rejects.toThrow("stopped reading");
  });

  it("clears its buffer when the client disconnects", async () => {
    const { stream, onClosed, reader } = createSubscriberStream();
    stream.write(toBytes("one"));
    const drained = stream.waitUntilDrained();
    await reader.cancel();
    await drained;
    expect([stream.bufferedBytes, stream.isClosed]).toEqual([0, true]);
    stream.write(toBytes("two"));
    stream.endWith(toBytes("bye"));
    stream.cancel();
    expect(onClosed).toHaveBeenCalledTimes(1);
  });
});
