/**
 * A request of a collection, independent of the format of the collection.
 * @typedef {object} CollectionRequest
 * @property {string} name
 * @property {string} description
 * @property {string} method in upper case
 * @property {string} path the path, in which parameters begin with a colon
 * @property {boolean} requiresKey
 * @property {CollectionParameter[]} pathParameters
 * @property {CollectionParameter[]} queryParameters
 * @property {CollectionParameter[]} headers
 * @property {string | undefined} body JSON text
 * @property {string | undefined} savedVariable the variable in which the request stores the ID of the first item in its
 *   response, so that the next request can get this item
 */
/** @typedef {{ name: string, value: string, description: string, isEnabled: boolean }} CollectionParameter */

/** @typedef {Record<string, any>} OpenApiDocument */

/** @typedef {{ name: string, requests: CollectionRequest[] }} CollectionFolder */

/**
 * Returns the folders of a collection: one for each tag, with a request for each operation of the tag.
 * @param {OpenApiDocument} document
 * @returns {CollectionFolder[]}
 */
export function listCollectionFolders(document) {
  const resources = new Set(Object.keys(document.paths).flatMap((path) => path.match(/[^/]+(?=\/\{id\})/) ?? []));
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );
  return document.tags.map((/** @type {{ name: string }} */ { name }) => ({
    name,
    requests: routes
      .filter(({ operation }) => operation.tags[0] === name)
      .map((route) => createCollectionRequest(document, resources, route)),
  }));
}

/**
 * @param {OpenApiDocument} document
 * @param {Set<string>} resources the path segments before an ID
 * @param {{ path: string, method: string, operation: any }} route
 * @returns {CollectionRequest}
 */
function createCollectionRequest(document, resources, { path, method, operation }) {
  const parameters = operation.parameters ?? [];
  const lastSegment = path.split("/").at(-1) ?? "";
  const isListOrCreation = method === "get" || (method === "post" && !path.includes("{"));
  const media = Object.values(operation.requestBody?.content ?? {})[0];
  const example = media === undefined ? undefined : exampleOf(document, media);
  return {
    name: operation.summary,
    description: operation.description ?? "",
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, ":$1"),
    requiresKey: operation.security.length > 0,
    pathParameters: parametersIn(parameters, "path").map((parameter) => ({
      ...parameter,
      value: `{{${pathVariableOf(path, parameter.name)}}}`,
    })),
    queryParameters: parametersIn(parameters, "query"),
    headers: [
      ...(media === undefined
        ? []
        : [{ name: "Content-Type", value: "application/json", description: "", isEnabled: true }]),
      ...parametersIn(parameters, "header").map((header) =>
        // Without a new key for each request, the API would return the response of the first request again.
        header.name === "Idempotency-Key" ? { ...header, value: "{{$guid}}", isEnabled: true } : header,
      ),
    ],
    body: media === undefined ? undefined : JSON.stringify(replaceIds(example, resources), null, 2),
    savedVariable:
      savedVariablesByOperationId[operation.operationId] ??
      (isListOrCreation && resources.has(lastSegment) ? idVariableOf(lastSegment) : undefined),
  };
}

/**
 * The variables of the operations whose path does not name the resource that they create.
 * @type {Record<string, string>}
 */
const savedVariablesByOperationId = { recoverDeliveries: "recoveryId" };

/**
 * Returns the parameters in one part of a request. Optional parameters are disabled, so that a request without changes
 * has no filters.
 * @param {any[]} parameters
 * @param {"path" | "query" | "header"} place
 * @returns {CollectionParameter[]}
 */
function parametersIn(parameters, place) {
  return parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, description = "", required = false, example, schema }) => ({
      name,
      value: String(example ?? schema?.example ?? schema?.default ?? ""),
      description,
      isEnabled: required,
    }));
}

/**
 * Returns the variable with the value of a path parameter, such as `reportId` for `{id}` in `/v2/reports/{id}`.
 * @param {string} path
 * @param {string} parameter
 */
function pathVariableOf(path, parameter) {
  const segments = path.split("/");
  const resource = segments[segments.indexOf(`{${parameter}}`) - 1] ?? "";
  return parameter === "id" ? idVariableOf(resource) : parameter;
}

/**
 * @param {string} resource a path segment, such as `deliveries`
 * @returns {string} such as `deliveryId`
 */
function idVariableOf(resource) {
  const words = resource.split("-").map((word) => word.replace(/ies$/, "y").replace(/(?<!s)s$/, ""));
  const [first, ...others] = words;
  return `${first}${others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Id`;
}

/**
 * @param {OpenApiDocument} document
 * @param {any} part a media type object or an array schema
 * @returns {unknown} its example, or the example of its schema
 */
function exampleOf(document, { example, examples = {}, schema }) {
  const [named] = /** @type {any[]} */ (Object.values(examples));
  const given = example ?? named?.value;
  if (given !== undefined) return given;
  const name = schema?.$ref?.replace("#/components/schemas/", "");
  const resolved = name === undefined ? schema : document.components.schemas[name];
  if (resolved?.example !== undefined) return resolved.example;
  return resolved?.type === "array" ? [exampleOf(document, { schema: resolved.items })] : {};
}

/**
 * Returns the example with the variable of a resource in each field with an ID, such as `recipientId`. An example ID
 * does not exist at the location of the user.
 * @param {any} example
 * @param {Set<string>} resources
 */
function replaceIds(example, resources) {
  if (Array.isArray(example)) return example;
  const variables = [...resources].map(idVariableOf).filter((name) => name in example);
  return { ...example, ...Object.fromEntries(variables.map((name) => [name, `{{${name}}}`])) };
}

/**
 * Returns the names of the variables in the paths of the requests, in the sequence of their first use.
 * @param {CollectionFolder[]} folders
 * @returns {string[]}
 */
export function listPathVariables(folders) {
  const parameters = folders.flatMap(({ requests }) => requests.flatMap(({ pathParameters }) => pathParameters));
  return [...new Set(parameters.map(({ value }) => value.slice(2, -2)))];
}
