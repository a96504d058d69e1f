import { connect, type Socket } from "node:net";

/** A reply as its bytes were, to see what `fetch` hides. */
export interface RawConnectionResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Whether the connection ended before the reply did. */
  isTruncated: boolean;
}

/** A connection that is written to by hand. */
export async function openRawConnection(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  // What the test looks at is what came before it.
  socket.on("error", () => {});
  return socket;
}

/** The head of a request: its request line and headers. */
export function requestHead(line: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ host: "api.test", ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${line} HTTP/1.1`, ...lines, "", ""].join("\r\n");
}

/** Writes as fast as the other side takes it; false when the connection ended before everything was written. */
export async function writeChunks(socket: Socket, chunk: Uint8Array, times: number): Promise<boolean> {
  for (let written = 0; written < times; written++) {
    if (socket.destroyed || socket.writableEnded) return false;
    if (!socket.write(chunk)) {
      await new Promise<void>((resolve) => {
        const go = () => {
          socket.off("drain", go).off("close", go);
          resolve();
        };
        socket.on("drain", go).on("close", go);
      });
    }
  }
  return !socket.destroyed;
}

/** Reads one reply; resolves when it is whole, or when the connection has ended. */
export function readRawResponse(socket: Socket): Promise<RawConnectionResponse> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const resolveIfComplete = (isOver: boolean) => {
      const reply = parseRawResponse(bytes);
      if (!reply) {
        if (isOver) resolve({ status: 0, headers: {}, body: bytes, isTruncated: true });
        return;
      }
      if (!reply.isTruncated || isOver) resolve(reply);
    };
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      resolveIfComplete(false);
    });
    socket.on("close", () => resolveIfComplete(true));
  });
}

function parseRawResponse(bytes: Buffer): RawConnectionResponse | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const rest = bytes.subarray(end + 4);
  const status = Number(first.split(" ")[1]);
  if (status === 100) return parseRawResponse(rest);
  if (headers["transfer-encoding"] === "chunked") return { status, headers, ...decodeChunkedBody(rest) };
  const length = Number(headers["content-length"] ?? 0);
  return { status, headers, body: rest.subarray(0, length), isTruncated: rest.length < length };
}

function decodeChunkedBody(bytes: Buffer): { body: Buffer; isTruncated: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line === -1) return { body: Buffer.concat(chunks), isTruncated: true };
    const size = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16);
    if (size === 0) return { body: Buffer.concat(chunks), isTruncated: false };
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
    if (at > bytes.length) return { body: Buffer.concat(chunks), isTruncated: true };
  }
}
