import { defaultDocsUrl } from "@pragma/contracts/published-urls";
import { mapSchemas } from "./map-schemas.ts";
import { type OpenApiDocument, toOperationId } from "./openapi-document.ts";

interface JsonSchema {
  $ref?: string;
  [keyword: string]: unknown;
}

/** A webhook of the OpenAPI document, limited to the fields that this file reads. */
interface OpenApiWebhook {
  summary: string;
  description: string;
  parameters: { name: string; required?: boolean; schema: JsonSchema }[];
  requestBody: { content: { "application/json": { schema: JsonSchema } } };
  responses: Record<string, { description: string }>;
}

export type AsyncApiDocument = ReturnType<typeof createAsyncApiDocument>;

const headersSchemaName = "WebhookMessageHeaders";
const schemaPointer = "#/components/schemas/";

const description = [
  "Pragma API sends messages to your endpoint when an event occurs at a location, for example when an order is paid.",
  "**Delivery.** The API sends each message as a POST request to the `endpointUrl` of your webhook. Respond with a 2xx status within 15 seconds. Otherwise, the API sends the message again later: it makes up to ten attempts over about three days, but only one attempt for a test message.",
  "**Duplicates and sequence.** You can receive a message more than once, with the same `webhook-id` each time. Messages can arrive out of order. Of the messages about the same order, report or day, the message with the highest `meta.sequence` is the most recent.",
  "**Signatures.** Before you parse the body of a message, verify its signature over the raw bytes of the body. The signatures follow the Standard Webhooks specification.",
  "**Changes.** New fields and new events can be added at any time, so ignore fields that you do not know.",
].join("\n\n");

const securitySchemes = {
  webhookSignature: {
    type: "httpApiKey",
    name: "webhook-signature",
    in: "header",
    description:
      "Signature of the message in the format of Standard Webhooks: `v1,` followed by the base64-encoded HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the raw body, joined by periods. The key is the UTF-8 bytes of the recipient's secret. During a rotation of the secret, the header contains one signature for each active secret, separated by spaces. Accept the message if one of them is correct, and reject it if `webhook-timestamp` differs from the current time by more than five minutes.",
  },
  bodySignature: {
    type: "httpApiKey",
    name: "x-popina-hmac-signature",
    in: "header",
    description:
      "Hexadecimal HMAC-SHA256 of the raw body, for older integrations. The key is the UTF-8 bytes of the recipient's oldest active secret. In new integrations, verify `webhook-signature`, which also covers the time of the attempt.",
  },
};

/** Returns the AsyncAPI document, with the schemas and examples of the section `webhooks` of the OpenAPI document. */
export function createAsyncApiDocument({ info, webhooks = {}, components = {} }: OpenApiDocument) {
  const events = Object.entries(webhooks as unknown as Record<string, { post: OpenApiWebhook }>);
  const componentSchemas = (components.schemas ?? {}) as Record<string, JsonSchema>;
  const schemas: Record<string, JsonSchema> = {};

  /** Copies the schema and the schemas to which it refers, and returns the example of the schema. */
  function copySchema({ $ref = "" }: JsonSchema): unknown {
    const schemaName = $ref.replace(schemaPointer, "");
    const component = componentSchemas[schemaName];
    if (component === undefined) throw new Error(`The OpenAPI document has no schema ${schemaName}.`);
    const { example, ...schema } = component;
    if (!(schemaName in schemas)) {
      schemas[schemaName] = toAsyncApiSchema(schema);
      for (const reference of listReferences(schema)) copySchema(reference);
    }
    return example;
  }

  const messages = Object.fromEntries(
    events.map(([name, { post }]) => {
      const { summary, parameters, requestBody } = post;
      const { schema } = requestBody.content["application/json"];
      const payload = copySchema(schema);
      const headers = Object.fromEntries(parameters.map((header) => [header.name, header.schema.example]));
      return [
        name,
        {
          name,
          title: name,
          summary,
          contentType: "application/json",
          headers: { $ref: `${schemaPointer}${headersSchemaName}` },
          payload: schema,
          examples: [
            { name, summary: `Example of ${name}`, headers: { ...headers, "x-popina-webhook-event": name }, payload },
          ],
          externalDocs: {
            description: `When ${name} is sent`,
            url: `${defaultDocsUrl}/webhook-events#${name.replaceAll(".", "-")}`,
          },
        },
      ];
    }),
  );

  const operations = Object.fromEntries(
    events.map(([name, { post: webhook }]) => [
      toOperationId(`send ${name.replaceAll("_", "")}`),
      {
        action: "send",
        channel: { $ref: "#/channels/endpoint" },
        title: `Send ${name}`,
        summary: webhook.summary,
        description: `${webhook.description}\n\nYour response:\n\n${describeResponses(webhook)}`,
        security: Object.keys(securitySchemes).map((scheme) => ({ $ref: `#/components/securitySchemes/${scheme}` })),
        bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
        messages: [{ $ref: `#/channels/endpoint/messages/${name}` }],
      },
    ]),
  );

  return {
    asyncapi: "3.0.0",
    info: {
      title: `${info.title} webhooks`,
      version: info.version,
      description,
      contact: info.contact,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      externalDocs: { description: "Guide to webhooks", url: `${defaultDocsUrl}/webhooks` },
    },
    defaultContentType: "application/json",
    servers: {
      endpoint: {
        title: "Your server",
        host: "{host}",
        protocol: "https",
        description:
          "Messages are sent to the server in the `endpointUrl` of your webhook. If your server requires authentication, set the `apiKey` of the recipient: the API sends its value in the header `authorization`.",
        variables: {
          host: {
            description: "Host in the `endpointUrl` of the webhook, with its port if it is not 443",
            examples: ["stock.example", "stock.example:8443"],
          },
        },
      },
    },
    channels: {
      endpoint: {
        // You choose the address when you create a webhook, so the document cannot contain it.
        address: null,
        title: "Your endpoint",
        summary: "Receives the messages of a webhook",
        description:
          "The channel is the endpoint of a webhook. The endpoint receives messages about the events to which the webhook subscribes, messages about other endpoints of the recipient (`endpoint.failing` and `endpoint.disabled`), and the test messages that you request. `address` is null, because you choose the URL (`endpointUrl`) when you create the webhook.",
        servers: [{ $ref: "#/servers/endpoint" }],
        messages: Object.fromEntries(events.map(([name]) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations,
    components: {
      messages,
      schemas: { [headersSchemaName]: createHeadersSchema(events.map(([, { post }]) => post)), ...schemas },
      securitySchemes,
    },
  };
}

/** Returns the schema of the headers, which all messages have. @throws `Error` if the messages have different headers. */
function createHeadersSchema([first, ...others]: OpenApiWebhook[]): JsonSchema {
  const parameters = first?.parameters ?? [];
  if (others.some((other) => JSON.stringify(other.parameters) !== JSON.stringify(parameters)))
    throw new Error("The webhook messages have different headers.");
  return {
    type: "object",
    description: "Headers that identify and authenticate a message",
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, toAsyncApiSchema(schema)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

function describeResponses({ responses }: OpenApiWebhook): string {
  return Object.entries(responses)
    .map(([status, response]) => `- ${status === "default" ? "" : `${status}: `}${response.description}`)
    .join("\n");
}

/** Returns an OpenAPI schema as an AsyncAPI schema, which has `examples` instead of `example`. */
const toAsyncApiSchema = (schema: JsonSchema) =>
  mapSchemas(schema, ({ example, ...keywords }) => ({
    ...keywords,
    ...(example !== undefined && { examples: [example] }),
  })) as JsonSchema;

function listReferences(part: unknown): JsonSchema[] {
  if (typeof part !== "object" || part === null) return [];
  const { $ref } = part as JsonSchema;
  return $ref !== undefined ? [{ $ref }] : Object.values(part).flatMap(listReferences);
}
