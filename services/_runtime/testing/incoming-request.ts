import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

interface IncomingRequestOptions {
  method: string;
  /** With names in any case. */
  headers?: Record<string, string>;
  /** As it comes in; left out for a request without one. */
  body?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A request as node:http gives it, as far as services look at it. */
export function createIncomingRequest({ method, headers = {}, body }: IncomingRequestOptions): IncomingMessage {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const framing = body ? { "transfer-encoding": "chunked" } : {};
  const incoming = Readable.from(body ?? [], { objectMode: false });
  return Object.assign(incoming, {
    method,
    headers: { ...framing, ...Object.fromEntries(lowered) },
  }) as IncomingMessage;
}
