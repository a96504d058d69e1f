import type { DocumentedApiOperation } from "./api-operations.ts";
import type { ContractTestRequest } from "./operation-contract.ts";

/** A response whose body was read as text. */
export interface ContractTestOperationResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends a request to an operation. Reads only the first chunk of an event stream, because a stream does not end. */
export async function sendOperationRequest(
  url: string,
  operation: DocumentedApiOperation,
  operationRequest: ContractTestRequest,
): Promise<ContractTestOperationResponse> {
  const response = await fetchOperation(url, operation, operationRequest);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const text = isStream ? await readFirstChunk(response) : await response.text();
  return { status: response.status, headers: response.headers, text };
}

async function fetchOperation(
  url: string,
  { method, path }: DocumentedApiOperation,
  { path: pathParameters = {}, query = {}, body, headers = {}, key }: ContractTestRequest,
): Promise<Response> {
  const requestPath = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(pathParameters[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const isRaw = typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  return fetch(`${url}${requestPath}${search && `?${search}`}`, {
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
