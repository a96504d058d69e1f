/** An operation of the reference, limited to the fields that the form and the code samples use. */
export interface TryItOperation {
  operationId: string;
  /** The HTTP method in lower case, or `event` for a webhook message. */
  method: string;
  /** The path, in which parameters are placeholders in braces. */
  path: string;
  parameters?: OpenApiParameter[];
  requestBody?: { content?: Record<string, MediaType> };
  responses?: Record<string, { content?: Record<string, MediaType> }>;
  security?: Record<string, string[]>[];
  servers?: { url: string }[];
}

export interface OpenApiParameter {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: ParameterSchema;
}

interface ParameterSchema {
  type?: string | string[];
  enum?: unknown[];
  default?: unknown;
  example?: unknown;
}

interface MediaType {
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

/** The kind of body that a successful response has. */
export type ResponseKind = "json" | "file" | "empty" | "stream";

export function responseKindOfOperation({ responses = {} }: TryItOperation): ResponseKind {
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const types = Object.keys(success?.content ?? {});
  if (types.length === 0) return "empty";
  if (types.includes("text/event-stream")) return "stream";
  return types.some((type) => type.endsWith("json")) ? "json" : "file";
}

/**
 * Returns the example request body as JSON text: `{}` if there is no example, undefined if there is no request body.
 */
export function exampleRequestBodyOf({ requestBody }: TryItOperation): string | undefined {
  const media = Object.values(requestBody?.content ?? {})[0];
  if (media === undefined) return undefined;
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value ?? {};
  return JSON.stringify(example, null, 2);
}

/** Returns the parameter with which a push stores nothing, or undefined if the operation is not a push. */
export function dryRunParameterOf({ parameters = [] }: TryItOperation): OpenApiParameter | undefined {
  return parameters.find((parameter) => parameter.in === "query" && parameter.name === "dryRun");
}

export function operationRequiresApiKey({ security = [] }: TryItOperation): boolean {
  return security.some((requirement) => Object.keys(requirement).length > 0);
}

/** Returns an id of a parameter. A path, query and header parameter with the same name have different ids. */
export function getParameterInputKey({ in: place, name }: OpenApiParameter): string {
  return `${place}.${name}`;
}
