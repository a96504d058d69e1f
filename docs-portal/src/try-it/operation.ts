/** What the panel beside an operation of the reference knows of it. */
export interface Operation {
  operationId: string;
  /** In lower case; `event` for a message that the API sends. */
  method: string;
  /** With its parameters in braces. */
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

/** What a success is answered with. */
export type ReplyKind = "json" | "file" | "nothing" | "stream";

export function replyKindOf({ responses = {} }: Operation): ReplyKind {
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const types = Object.keys(success?.content ?? {});
  if (types.length === 0) return "nothing";
  if (types.includes("text/event-stream")) return "stream";
  return types.some((type) => type.endsWith("json")) ? "json" : "file";
}

/** The example of the body that the operation takes, as JSON text; undefined when it takes none. */
export function exampleBodyOf({ requestBody }: Operation): string | undefined {
  const media = Object.values(requestBody?.content ?? {})[0];
  if (media === undefined) return undefined;
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value ?? {};
  return JSON.stringify(example, null, 2);
}

export function needsKey({ security = [] }: Operation): boolean {
  return security.some((requirement) => Object.keys(requirement).length > 0);
}

/** Tells one parameter from another of the same name elsewhere in the request. */
export function parameterId({ in: place, name }: Parameter): string {
  return `${place}.${name}`;
}
