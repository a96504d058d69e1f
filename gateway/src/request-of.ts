import type { ReadableStream } from "node:stream/web";
import type { Exchange } from "./exchange.ts";

/** The request of an exchange as the `Request` that code in this process is asked with. Headers: name, value, ... */
export function requestOf(
  { method, target, route }: Exchange,
  {
    headers,
    body,
    signal,
  }: { headers: string[]; body?: ReadableStream<Uint8Array> | undefined; signal?: AbortSignal | undefined },
): Request {
  const pairs: [string, string][] = [];
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at] as string, headers[at + 1] as string]);
  return new Request(`http://${route?.service ?? "gateway"}${target.path}${target.search}`, {
    method,
    headers: pairs,
    ...(signal && { signal }),
    ...(body && { body: body as NonNullable<RequestInit["body"]>, duplex: "half" }),
  });
}
