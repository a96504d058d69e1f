import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** An S3 server that keeps objects in memory, and answers reads as `fault` says. It does not check signatures. */
export interface FakeS3Server {
  /** The URL of an object store. The AWS_* variables must contain any credentials. */
  url: string;
  /** The objects by their key. */
  objects: Map<string, Buffer>;
  fault: S3Fault | null;
  close(): Promise<void>;
}

/**
 * How the server answers: it closes connections, returns errors, does not answer, sends the body a byte per second, or
 * changes the bytes of objects.
 */
export type S3Fault = "closed" | "error" | "silent" | "slow" | ((object: Buffer) => Buffer);

export async function startFakeS3Server(): Promise<FakeS3Server> {
  const bucket = "bucket";
  const timers = new Set<NodeJS.Timeout>();
  const state: Pick<FakeS3Server, "objects" | "fault"> = { objects: new Map(), fault: null };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { objects, fault } = state;
    const key = decodeURIComponent(new URL(request.url ?? "", "http://s3").pathname).slice(`/${bucket}/`.length);
    const body = await buffer(request);
    if (fault === "closed") return void request.socket.destroy();
    if (fault === "silent") return;
    if (fault === "error") return void response.writeHead(500).end();
    if (request.method === "PUT") objects.set(key, body);
    if (request.method === "DELETE") objects.delete(key);
    if (request.method !== "GET") return void response.writeHead(200).end();
    const stored = objects.get(key);
    if (!stored) return void response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    const object = typeof fault === "function" ? fault(stored) : stored;
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const bytes = start === undefined ? object : object.subarray(Number(start), Number(end) + 1);
    response.writeHead(start === undefined ? 200 : 206, { "content-length": bytes.byteLength });
    if (fault !== "slow") return void response.end(bytes);
    let sent = 0;
    const timer = setInterval(() => response.write(bytes.subarray(sent, ++sent)), 1_000);
    timers.add(timer);
    response.on("close", () => clearInterval(timer));
  }

  const server = createServer((request, response) => void respond(request, response).catch(() => response.destroy()));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, {
    url: `s3://${bucket}?${new URLSearchParams({ endpoint, region: "us-east-1", forcePathStyle: "true" })}`,
    async close() {
      for (const timer of timers) clearInterval(timer);
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  });
}
