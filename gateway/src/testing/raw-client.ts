import { connect, type Socket } from "node:net";

/** A response with the details that `fetch` hides. */
export interface RawConnectionResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Whether the connection closed before the response was complete. */
  isTruncated: boolean;
}

/** Opens a TCP connection, so that a test can write raw HTTP to it. */
export async function openRawTcpConnection(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  // Ignores errors, because tests check the data that was received before the error.
  socket.on("error", () => {});
  return socket;
}

/** Returns the request line and the headers of a request as raw HTTP. */
export function formatRequestHead(line: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ host: "api.test", ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${line} HTTP/1.1`, ...lines, "", ""].join("\r\n");
}

/** Writes a chunk several times, as fast as the receiver reads. Returns false if the connection closed too early. */
export async function writeChunkRepeatedly(socket: Socket, chunk: Uint8Array, times: number): Promise<boolean> {
  for (let written = 0; written < times; written++) {
    if (socket.destroyed || socket.writableEnded) return false;
    if (!socket.write(chunk)) {
      await new Promise<void>((resolve) => {
        const proceed = () => {
          socket.off("drain", proceed).off("close", proceed);
          resolve();
        };
        socket.on("drain", proceed).on("close", proceed);
      });
    }
  }
  return !socket.destroyed;
}

/** Reads one response. Resolves when the whole response has arrived or the connection has closed. */
export function readRawSocketResponse(socket: Socket): Promise<RawConnectionResponse> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const resolveIfComplete = (isClosed: boolean) => {
      const response = parseRawResponse(bytes);
      if (!response) {
        if (isClosed) resolve({ status: 0, headers: {}, body: bytes, isTruncated: true });
        return;
      }
      if (!response.isTruncated || isClosed) resolve(response);
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
  for (let offset = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", offset);
    if (lineEnd === -1) return { body: Buffer.concat(chunks), isTruncated: true };
    const size = Number.parseInt(bytes.subarray(offset, lineEnd).toString("latin1"), 16);
    if (size === 0) return { body: Buffer.concat(chunks), isTruncated: false };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    offset = lineEnd + 2 + size + 2;
    if (offset > bytes.length) return { body: Buffer.concat(chunks), isTruncated: true };
  }
}
