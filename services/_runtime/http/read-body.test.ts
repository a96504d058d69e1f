import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, test } from "vitest";
import { RequestBodyMemoryReservation, setRequestBodyMemoryLimit } from "../admission/request-body-memory.ts";
import { sleep } from "../concurrency/sleep.ts";
import { buildTestIncomingRequest } from "../testing/incoming-request.ts";
import { readRequestBody, setGlobalMinRequestBodyRate } from "./read-body.ts";

const kibibyte = 1024;
const mebibyte = 1024 * 1024;
const reservations: RequestBodyMemoryReservation[] = [];

/** Returns a memory reservation that is released after the test. */
function reserveMemory(sender: string): RequestBodyMemoryReservation {
  const reservation = new RequestBodyMemoryReservation(sender);
  reservations.push(reservation);
  return reservation;
}
afterEach(() => {
  for (const reservation of reservations.splice(0)) reservation.release();
  setRequestBodyMemoryLimit(undefined);
  setGlobalMinRequestBodyRate({ bytes: 32 * kibibyte, windowSeconds: 10 });
});

function requestOf(body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}): IncomingMessage {
  return buildTestIncomingRequest({ method: "POST", headers, body });
}

test("rejects an unknown content encoding without reading the body", async () => {
  const request = buildTestIncomingRequest({ method: "POST", headers: { "content-encoding": "br" }, body: [] });
  await expect(
    readRequestBody(request, { memoryReservation: new RequestBodyMemoryReservation("a") }),
  ).rejects.toMatchObject({
    code: "unsupported_encoding",
  });
  expect(request.listenerCount("data")).toBe(0);
});

describe("a slow body", () => {
  /** Returns a stream that sends a chunk every `everyMs` milliseconds. If `ends` is false, it then stays open. */
  function slowStream(chunks: Uint8Array[], everyMs: number, { ends = true } = {}): ReadableStream<Uint8Array> {
    const remaining = [...chunks];
    return new ReadableStream({
      async pull(controller) {
        const next = remaining.shift();
        if (next) {
          controller.enqueue(next);
          await sleep(everyMs);
        } else if (ends) controller.close();
        else await new Promise(() => {});
      },
    });
  }
  const spaces = (size: number) => Buffer.alloc(size, " ");

  it.each([
    ["stops", () => slowStream([spaces(100 * kibibyte)], 0, { ends: false }), {}],
    [
      "stops one byte short of the end of its gzip",
      () => slowStream([gzipSync(spaces(20 * mebibyte)).subarray(0, -1)], 0, { ends: false }),
      { "content-encoding": "gzip" },
    ],
    ["trickles", () => slowStream([spaces(100 * kibibyte), ...Array(50).fill(spaces(kibibyte))], 100), {}],
  ])("returns 408 when it %s", async (_, body, headers) => {
    setGlobalMinRequestBodyRate({ bytes: 32 * kibibyte, windowSeconds: 1 });
    const memoryReservation = reserveMemory("a");
    const started = performance.now();
    await expect(
      readRequestBody(requestOf(body(), headers as Record<string, string>), { memoryReservation }),
    ).rejects.toMatchObject({ code: "request_timeout", status: 408, message: expect.stringContaining("32768 bytes") });
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  it("is read when it is small or fast enough", async () => {
    setGlobalMinRequestBodyRate({ bytes: 32 * kibibyte, windowSeconds: 1 });
    const read = (body: ReadableStream<Uint8Array>) =>
      readRequestBody(requestOf(body), { memoryReservation: reserveMemory("a") });
    const small = read(slowStream([spaces(30 * kibibyte), spaces(30 * kibibyte)], 1_500));
    const steady = read(slowStream(Array(10).fill(spaces(20 * kibibyte)), 250));
    expect((await small).byteLength).toBe(60 * kibibyte);
    expect((await steady).byteLength).toBe(200 * kibibyte);
  });
});

describe("the memory of request bodies", () => {
  const overloaded = expect.objectContaining({ code: "overloaded", status: 503 });
  const reserveBytes = (bytes: number, sender: string) => {
    const reservation = reserveMemory(sender);
    reservation.reserve(bytes);
    return reservation;
  };

  it("is limited to a quarter per location, and the error reports that limit", () => {
    setRequestBodyMemoryLimit(400);
    const first = reserveBytes(60 * mebibyte, "one");
    reserveBytes(40 * mebibyte, "one");
    const limit = { name: "concurrent_body_bytes_per_location", maximum: 100 * mebibyte, unit: "bytes" };
    expect(() => reserveBytes(1, "one")).toThrow(expect.objectContaining({ code: "overloaded", limit }));
    reserveBytes(100 * mebibyte, "other");
    first.release();
    reserveBytes(60 * mebibyte, "one");
  });

  it("suffices for one body of the maximum size per location, however small the limit", () => {
    setRequestBodyMemoryLimit(56);
    reserveBytes(50 * mebibyte, "one");
    expect(() => reserveBytes(mebibyte, "one")).toThrow(overloaded);
  });

  it("reserves its last tenth for small bodies", () => {
    setRequestBodyMemoryLimit(400);
    for (const sender of ["a", "b", "c"]) reserveBytes(100 * mebibyte, sender);
    reserveBytes(60 * mebibyte, "d");
    const large = reserveBytes(mebibyte, "e");
    expect(() => large.reserve(1)).toThrow(overloaded);
    for (let i = 0; i < 39; i += 1) reserveBytes(mebibyte, "f");
    expect(() => reserveBytes(1, "g")).toThrow(overloaded);
  });
});
