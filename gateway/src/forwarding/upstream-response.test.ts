import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { Pool } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { requestUpstream } from "./upstream-response.ts";

let close: () => Promise<void>;
afterEach(() => close());

/** Sends a request to a service that responds with these bytes, and then closes its connection. */
async function requestClosingService(response: Buffer | string): Promise<Readable> {
  const service = createServer((socket) => socket.once("data", () => socket.end(response))).listen(0, "127.0.0.1");
  await once(service, "listening");
  const pool = new Pool(`http://127.0.0.1:${(service.address() as AddressInfo).port}`);
  close = async () => {
    await pool.destroy();
    service.close();
  };
  const { signal } = new AbortController();
  const { body } = await requestUpstream(pool, { method: "GET", path: "/" }, { signal, isBuffered: () => false });
  return body as Readable;
}

const head = "HTTP/1.1 200 OK\r\nconnection: close\r\n";
/** Less than one read from a socket, and more than a stream buffers before it pauses its source. */
const body = "0123456789".repeat(4_000);

describe("a stream whose service closes the connection before the client reads", () => {
  it.each([
    ["a length", `content-length: ${body.length}\r\n\r\n${body}`],
    ["chunks", `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    ["the end of the connection", `\r\n${body}`],
  ])("is complete with %s", async (_, rest) => {
    const stream = await requestClosingService(head + rest);
    await sleep(50);
    expect((await buffer(stream)).toString()).toBe(body);
  });

  it.each([
    ["a length", `content-length: ${body.length + 1}\r\n\r\n${body}`],
    ["chunks", `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`],
  ])("fails if it is cut, with %s", async (_, rest) => {
    const stream = await requestClosingService(head + rest);
    const failed = once(stream, "error");
    await sleep(50);
    await expect(buffer(stream)).rejects.toThrow();
    await failed;
  });
});
