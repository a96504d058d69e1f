import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, test } from "vitest";
import { sleep } from "../concurrency/sleep.ts";
import { RequestBodyMemoryReservation, setRequestBodyMemoryLimit } from "../limits/request-body-memory.ts";
import { createIncomingRequest } from "../testing/incoming-request.ts";
import { readRequestBody, setMinBodyRate } from "./read-body.ts";

const kibibyte = 1024;
const mebibyte = 1024 * 1024;
const reservations: RequestBodyMemoryReservation[] = [];

/** What a body takes, until the test is over. */
function reserveMemory(sender: string): RequestBodyMemoryReservation {
  const each = new RequestBodyMemoryReservation(sender);
  reservations.push(each);
  return each;
}
afterEach(() => {
  for (const each of reservations.splice(0)) each.release();
  setRequestBodyMemoryLimit(undefined);
  setMinBodyRate({ bytes: 32 * kibibyte, windowSeconds: 10 });
});

function requestOf(body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}): IncomingMessage {
  return createIncomingRequest({ method: "POST", headers, body });
}

test("leaves a body alone whose encoding it does not know", async () => {
  const request = createIncomingRequest({ method: "POST", headers: { "content-encoding": "br" }, body: [] });
  await expect(readRequestBody(request, { allowance: new RequestBodyMemoryReservation("a") })).rejects.toMatchObject({
    code: "unsupported_encoding",
  });
  expect(request.listenerCount("data")).toBe(0);
});

describe("a body that comes slowly", () => {
  /** Chunks of a size, one each so many milliseconds. */
  function slowStream(chunks: Uint8Array[], everyMs: number, { ends = true } = {}): ReadableStream<Uint8Array> {
    const left = [...chunks];
    return new ReadableStream({
      async pull(controller) {
        const next = left.shift();
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
  ])("is refused when it %s, and holds nothing any more", async (_, body, headers) => {
    setMinBodyRate({ bytes: 32 * kibibyte, windowSeconds: 1 });
    const taking = reserveMemory("a");
    const started = performance.now();
    await expect(
      readRequestBody(requestOf(body(), headers as Record<string, string>), { allowance: taking }),
    ).rejects.toMatchObject({ code: "request_timeout", status: 408, message: expect.stringContaining("32768 bytes") });
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  it("is read when it is small, or brings enough", async () => {
    setMinBodyRate({ bytes: 32 * kibibyte, windowSeconds: 1 });
    const read = (body: ReadableStream<Uint8Array>) =>
      readRequestBody(requestOf(body), { allowance: reserveMemory("a") });
    const small = read(slowStream([spaces(30 * kibibyte), spaces(30 * kibibyte)], 1_500));
    const steady = read(slowStream(Array(10).fill(spaces(20 * kibibyte)), 250));
    expect((await small).byteLength).toBe(60 * kibibyte);
    expect((await steady).byteLength).toBe(200 * kibibyte);
  });
});

describe("the bodies in hand", () => {
  const overloaded = expect.objectContaining({ code: "overloaded", status: 503 });
  const taking = (bytes: number, sender: string) => {
    const each = reserveMemory(sender);
    each.reserve(bytes);
    return each;
  };

  it("are of one location a quarter at most, and the refusal says how many", () => {
    setRequestBodyMemoryLimit(400);
    const mine = taking(60 * mebibyte, "one");
    taking(40 * mebibyte, "one");
    const limit = { name: "bodies in hand of a location", maximum: 100 * mebibyte, unit: "bytes" };
    expect(() => taking(1, "one")).toThrow(expect.objectContaining({ code: "overloaded", limit }));
    taking(100 * mebibyte, "other");
    mine.release();
    taking(60 * mebibyte, "one");
  });

  it("let a location send one body of the largest size, however small the budget", () => {
    setRequestBodyMemoryLimit(56);
    taking(50 * mebibyte, "one");
    expect(() => taking(mebibyte, "one")).toThrow(overloaded);
  });

  it("leave the last tenth to small bodies", () => {
    setRequestBodyMemoryLimit(400);
    for (const sender of ["a", "b", "c"]) taking(100 * mebibyte, sender);
    taking(60 * mebibyte, "d");
    const large = taking(mebibyte, "e");
    expect(() => large.reserve(1)).toThrow(overloaded);
    for (let i = 0; i < 39; i += 1) taking(mebibyte, "f");
    expect(() => taking(1, "g")).toThrow(overloaded);
  });
});
