/** The parts of an OpenAPI document that the Markdown copies use. */
export interface OpenApiDocument {
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperationObject>>;
  webhooks: Record<string, Record<string, OpenApiOperationObject>>;
  components: { schemas: Record<string, OpenApiSchemaObject> };
}

export interface OpenApiOperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: OpenApiSchemaObject }[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { description: string; content?: Record<string, MediaType> }>;
}

interface MediaType {
  schema?: OpenApiSchemaObject;
  example?: unknown;
}

export interface OpenApiSchemaObject {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  example?: unknown;
  items?: OpenApiSchemaObject;
  properties?: Record<string, OpenApiSchemaObject>;
  required?: string[];
  allOf?: OpenApiSchemaObject[];
  anyOf?: OpenApiSchemaObject[];
  oneOf?: OpenApiSchemaObject[];
}
