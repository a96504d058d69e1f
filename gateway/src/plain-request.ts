import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { ClientRequest, HeadersMemo } from "./client-side.ts";

/** A request that only reads, that came whole, and that says nothing about its connection or a body. */
export interface PlainRequest extends ClientRequest {
  readonly method: "GET" | "HEAD";
  readonly url: string;
}

/** A request's headers as they came, and what they say. */
interface PlainHeaders {
  lines: string;
  headers: Record<string, string>;
  rawHeaders: string[];
  memo: HeadersMemo;
}

/** More than this is for node:http to judge, in bytes. */
const mostBytes = 8 * 1024;

/**
 * The one form that is taken: a read in HTTP/1.1 whose target is a path, with headers of visible ASCII on a line each,
 * and nothing behind the empty line. No two parts that repeat can match the same, so none takes long to refuse.
 */
const requestLine = /^(GET|HEAD) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const headerLines = /^(?:[\w!#$%&'*+.^`|~-]+:[\x20-\x7e\t]*\r\n)+\r\n$/;

/** Headers that make more of a request than a plain one: a body, another protocol, a word about this connection. */
const unusual = new Set([
  "content-length",
  "transfer-encoding",
  "expect",
  "upgrade",
  "te",
  "trailer",
  "http2-settings",
]);

/**
 * Reads the plain requests of one connection. Most clients send the same headers with each: what was read of them is
 * kept from one to the next.
 */
export class PlainRequestReader {
  readonly #socket: Socket;
  #last: PlainHeaders | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * Reads what one `read` of the connection brought. Undefined unless it is one whole plain request and nothing else:
   * all the rest, right or wrong, is for node:http, so nothing here needs to be lenient.
   */
  read(bytes: Buffer): PlainRequest | undefined {
    if (bytes.length > mostBytes) return undefined;
    const text = bytes.toString("latin1");
    const end = text.indexOf("\r\n");
    const [, method, url] = requestLine.exec(text.slice(0, Math.max(0, end))) ?? [];
    if (url === undefined) return undefined;
    const lines = text.slice(end + 2);
    if (this.#last?.lines !== lines) this.#last = readHeaders(lines);
    if (!this.#last) return undefined;
    const { headers, rawHeaders, memo } = this.#last;
    return { method: method as "GET" | "HEAD", url, headers, rawHeaders, socket: this.#socket, complete: true, memo };
  }
}

function readHeaders(lines: string): PlainHeaders | undefined {
  if (!headerLines.test(lines)) return undefined;
  const headers = { __proto__: null } as unknown as Record<string, string>;
  const rawHeaders: string[] = [];
  for (let at = 0; at < lines.length - 2; ) {
    const colon = lines.indexOf(":", at);
    const end = lines.indexOf("\r\n", colon);
    const name = lines.slice(at, colon);
    const value = lines.slice(colon + 1, end).trim();
    const key = name.toLowerCase();
    if (key in headers || unusual.has(key)) return undefined;
    headers[key] = value;
    rawHeaders.push(name, value);
    at = end + 2;
  }
  if (headers.host === undefined || !isKept(headers.connection)) return undefined;
  return { lines, headers, rawHeaders, memo: {} };
}

function isKept(connection: IncomingHttpHeaders["connection"]): boolean {
  return connection === undefined || connection.toLowerCase() === "keep-alive";
}
