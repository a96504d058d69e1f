import { needsKey, type Operation, parameterId } from "./operation.ts";

/** A request as it goes over the wire. */
export interface ApiRequest {
  /** In capitals. */
  method: string;
  url: string;
  headers: Record<string, string>;
  /** JSON text. */
  body?: string;
}

/** What a reader has typed in. */
export interface Inputs {
  server: string;
  /** An API key. */
  key: string;
  /** By `parameterId`; empty ones are left out. */
  parameters: Record<string, string>;
  body?: string;
}

/** The request of an operation with these inputs. A path parameter without a value stays as its name in braces. */
export function composeRequest(operation: Operation, { server, key, parameters, body }: Inputs): ApiRequest {
  const headers: Record<string, string> = {};
  if (needsKey(operation)) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const query = new URLSearchParams();
  let path = operation.path;
  for (const parameter of operation.parameters ?? []) {
    const value = parameters[parameterId(parameter)]?.trim();
    if (!value) continue;
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    if (parameter.in === "query") query.set(parameter.name, value);
    if (parameter.in === "header") headers[parameter.name.toLowerCase()] = value;
  }
  const search = query.size > 0 ? `?${query}` : "";
  return {
    method: operation.method.toUpperCase(),
    url: `${server.replace(/\/+$/, "")}${path}${search}`,
    headers,
    ...(body !== undefined && { body }),
  };
}
