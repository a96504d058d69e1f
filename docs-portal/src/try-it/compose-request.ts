import { getParameterInputKey, operationRequiresApiKey, type TryItOperation } from "./operation.ts";

/** An HTTP request to the API, which the form sends and the code samples show. */
export interface TryItRequest {
  /** The HTTP method in upper case. */
  method: string;
  url: string;
  headers: Record<string, string>;
  /** The body as JSON text. */
  body?: string;
}

/** The values that a reader enters in the form. */
export interface TryItFormValues {
  server: string;
  /** The API key. It is not sent if the operation requires no key. */
  key: string;
  /** The values of the parameters, by `getParameterInputKey`. Empty values are omitted from the request. */
  parameters: Record<string, string>;
  body?: string;
}

/** Returns the request to an operation. A path parameter without a value remains as a placeholder in braces. */
export function composeTryItRequest(
  operation: TryItOperation,
  { server, key, parameters, body }: TryItFormValues,
): TryItRequest {
  const headers: Record<string, string> = {};
  if (operationRequiresApiKey(operation)) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const query = new URLSearchParams();
  let path = operation.path;
  for (const parameter of operation.parameters ?? []) {
    const value = parameters[getParameterInputKey(parameter)]?.trim();
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
