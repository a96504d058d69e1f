import { createFieldReader, renderInline } from "./fields.mjs";
import { sampleRequestFromSchema, sampleResponseFromSchema } from "./plugin-internals.mjs";

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

/**
 * The errors that almost every operation can return. If an operation can return all of them, its page does not list
 * them, but links to the page of errors, which does.
 */
const commonErrorCodes = [
  ...["key_missing", "key_invalid", "key_revoked", "key_expired", "scope_missing"],
  ...["rate_limited", "internal_error", "service_unavailable", "overloaded", "upstream_timeout"],
];

/** The parts of the request in which parameters are sent, in the sequence of the reference. */
const parameterPlaces = { path: "Path parameters", query: "Query parameters", header: "Headers" };

/**
 * Returns the content of the page of an operation: the operation with the examples that the form and the code samples
 * need, and the fields of its parameters and bodies with descriptions in HTML.
 * @param {Record<string, any>} api the operation, as docusaurus-plugin-openapi-docs has read it
 */
export function createOperationPage(api) {
  const reader = createFieldReader();
  const { operationId, method, description, parameters = [], requestBody, responses, security, servers } = api;
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
  const errors = statuses
    .filter(isError)
    .flatMap((status) => errorCodesOf(responses[status].description).map((error) => ({ status, ...error })));
  const hasCommonErrors = commonErrorCodes.every((common) => errors.some(({ code }) => code === common));
  return {
    description,
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
      .map((status) => ({
        status,
        reason: reasonPhrases[/** @type {keyof typeof reasonPhrases} */ (status)] ?? "",
        description: renderInline(responses[status].description),
        bodies: Object.entries(responses[status].content ?? {}).map(([mediaType, { schema }]) => ({
          mediaType,
          ...reader.describeBody(`response-${status}`, schema, false),
        })),
      })),
    errors: hasCommonErrors ? errors.filter(({ code }) => !commonErrorCodes.includes(code)) : errors,
    hasCommonErrors,
    operation: {
      operationId,
      method,
      path: api["x-event"] ?? api.path,
      parameters: parameters.map((/** @type {any} */ { name, in: place, required, example, schema }) => ({
        name,
        in: place,
        required,
        ...pick(schema, ["type", "enum", "default"]),
        example: example ?? schema.example,
      })),
      requestBody: requestBody && withExamples(requestBody, sampleRequestFromSchema),
      responses: Object.fromEntries(
        statuses
          .filter((status) => !isError(status))
          .map((status) => [status, withExamples(responses[status], sampleResponseFromSchema)]),
      ),
      security,
      servers,
    },
  };
}

/**
 * Returns the content types of a body with an example each.
 * @param {Record<string, any>} body
 * @param {(schema: any) => unknown} createExample
 */
function withExamples({ content = {} }, createExample) {
  return {
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema, example }]) => [
        type,
        { example: example ?? createExample(schema) },
      ]),
    ),
  };
}

/**
 * Returns the error codes and titles that the description of an error response lists.
 * @param {string} description
 * @returns {{ code: string; title: string }[]}
 */
function errorCodesOf(description) {
  const lines = description.split("\n\n").map((line) => /^`(\w+)`: (.*)$/s.exec(line));
  return lines.every((line) => line !== null) ? lines.map(([, code = "", title = ""]) => ({ code, title })) : [];
}

/** @param {Record<string, any>} object @param {string[]} names */
function pick(object, names) {
  return { schema: Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]])) };
}
