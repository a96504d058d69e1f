import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

interface IncomingRequestOptions {
  method: string;
  /** The request headers. Their names can be in upper or lower case. */
  headers?: Record<string, string>;
  /** The chunks of the body, or undefined for a request without a body. */
  body?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Returns a node:http request that has only the properties that services read. */
export function buildTestIncomingRequest({ method, headers = {}, body }: IncomingRequestOptions): IncomingMessage {
  const lowerCaseHeaders = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const framing = body ? { "transfer-encoding": "chunked" } : {};
  const incoming = Readable.from(body ?? [], { objectMode: false });
  return Object.assign(incoming, {
    method,
    headers: { ...framing, ...Object.fromEntries(lowerCaseHeaders) },
  }) as IncomingMessage;
}
