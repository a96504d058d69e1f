/** The fields of a reference operation that the panel beside the operation uses. */
export interface Operation {
  operationId: string;
  /** The method in lower case; `event` for a webhook message. */
  method: string;
  /** The path with its parameters in braces. */
  path: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, MediaType> };
  responses?: Record<string, { content?: Record<string, MediaType> }>;
  security?: Record<string, string[]>[];
  servers?: { url: string }[];
}

export interface Parameter {
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

/** The kind of body of a successful response. */
export type ResponseKind = "json" | "file" | "empty" | "stream";

export function responseKindOf({ responses = {} }: Operation): ResponseKind {
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const types = Object.keys(success?.content ?? {});
  if (types.length === 0) return "empty";
  if (types.includes("text/event-stream")) return "stream";
  return types.some((type) => type.endsWith("json")) ? "json" : "file";
}

/** Returns the example request body as JSON text; undefined if the operation has no request body. */
export function exampleBodyOf({ requestBody }: Operation): string | undefined {
  const media = Object.values(requestBody?.content ?? {})[0];
  if (media === undefined) return undefined;
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value ?? {};
  return JSON.stringify(example, null, 2);
}

export function needsKey({ security = [] }: Operation): boolean {
  return security.some((requirement) => Object.keys(requirement).length > 0);
}

/** Returns an id of a parameter, unique across path, query and headers. */
export function parameterId({ in: place, name }: Parameter): string {
  return `${place}.${name}`;
}
