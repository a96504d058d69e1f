import { renderBlocks, renderInline } from "./document.mjs";
import { createFieldReader } from "./fields.mjs";
import { exampleOfSchema } from "./schema-example.mjs";

/** @typedef {import("./document.mjs").DocumentedOperation} DocumentedOperation */

/** The titles of statuses in the reference. */
const reasonPhrases = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  304: "Not Modified",
  410: "Gone",
  default: "Any other status",
};

/** The parts of the request in which parameters are sent, in the sequence of the reference. */
const parameterPlaces = { path: "Path parameters", query: "Query parameters", header: "Headers" };

/**
 * Returns the content of the page of an operation: the operation with the examples that the form and the code samples
 * need, and the fields of its parameters and bodies with descriptions in HTML.
 * @param {Record<string, any>} document
 * @param {DocumentedOperation} documented
 */
export function createOperationPage(document, { method, path, operation }) {
  const { schemas } = document.components;
  const reader = createFieldReader(schemas);
  const { operationId, summary, description, parameters = [], requestBody, responses, security } = operation;
  const isMessage = method === "event";
  const parameterGroups = Object.entries(parameterPlaces).map(([place, title]) => ({
    title,
    fields: parameters
      .filter((/** @type {any} */ parameter) => parameter.in === place)
      .map((/** @type {any} */ { name, required, schema, description: about }) =>
        reader.describeField(
          `${place}.${name}`,
          { ...schema, description: about ?? schema.description },
          {
            name,
            required: required === true && !isMessage,
            isRequest: !isMessage,
          },
        ),
      ),
  }));
  const [requestType, requestMedia] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const isError = (/** @type {string} */ status) => errorCodesOf(responses[status].description).length > 0;
  const statuses = Object.keys(responses);
  return {
    summary,
    description: renderBlocks(description),
    parameterGroups: parameterGroups.filter(({ fields }) => fields.length > 0),
    ...(requestMedia && {
      body: {
        mediaType: requestType,
        isRequired: requestBody.required === true,
        ...reader.describeBody("body", requestMedia.schema, !isMessage),
      },
    }),
    responses: statuses
      .filter((status) => !isError(status))
      .map((status) => {
        const [mediaType, media] = Object.entries(responses[status].content ?? {})[0] ?? [];
        return {
          status,
          reason: reasonPhrases[/** @type {keyof typeof reasonPhrases} */ (status)] ?? "",
          description: renderInline(responses[status].description),
          ...(media && { mediaType, body: reader.describeBody(`response-${status}`, media.schema, false) }),
        };
      }),
    errors: statuses.filter(isError).map((status) => ({ status, codes: errorCodesOf(responses[status].description) })),
    operation: {
      operationId,
      method,
      path,
      parameters: parameters.map((/** @type {any} */ { name, in: place, required, example, schema }) => ({
        name,
        in: place,
        required,
        ...pick(schema, ["type", "enum", "default"]),
        example: example ?? schema.example,
      })),
      requestBody: requestBody && withExamples(requestBody, schemas),
      responses: Object.fromEntries(
        statuses
          .filter((status) => !isError(status))
          .map((status) => [status, withExamples(responses[status], schemas)]),
      ),
      security,
      servers: document.servers,
    },
  };
}

/** @param {Record<string, any>} part @param {Record<string, any>} schemas @returns the content types with an example each */
function withExamples({ content = {} }, schemas) {
  return {
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema, example }]) => [
        type,
        { example: example ?? exampleOfSchema(schema, schemas) },
      ]),
    ),
  };
}

/**
 * Returns the error codes and titles that the description of an error response lists.
 * @param {string} description
 */
function errorCodesOf(description) {
  const lines = description.split("\n\n").map((line) => /^`(\w+)`: (.*)$/s.exec(line));
  return lines.every((line) => line !== null) ? lines.map(([, code, title]) => ({ code, title })) : [];
}

/** @param {Record<string, any>} object @param {string[]} names */
function pick(object, names) {
  return { schema: Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]])) };
}
