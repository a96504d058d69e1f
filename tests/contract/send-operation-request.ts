import type { ApiOperation } from "./api-operations.ts";
import type { OperationRequest } from "./operation-contract.ts";

/** What came back, read. */
export interface OperationResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends a request of an operation to the product. Of a stream of events the beginning is read. */
export async function sendOperationRequest(
  url: string,
  operation: ApiOperation,
  ask: OperationRequest,
): Promise<OperationResponse> {
  const response = await fetchOperation(url, operation, ask);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const text = isStream ? await readFirstChunk(response) : await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** Sends a request of an operation, and leaves its reply to be read. */
async function fetchOperation(
  url: string,
  { method, path }: ApiOperation,
  { path: inPath = {}, query = {}, body, headers = {}, key }: OperationRequest,
): Promise<Response> {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inPath[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const isRaw = typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  return fetch(`${url}${address}${search && `?${search}`}`, {
    method,
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    ...(body instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit);
}

async function readFirstChunk(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}
