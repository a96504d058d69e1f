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
 * @property {Record<string, string>} savedVariables the variables that the request stores, so that the next requests can use
 *   them, with the place of their value in the response, such as `data.0.id`
 * @property {boolean} isOfJob whether the request gets the state of a background job
 * @property {boolean} endsByItself whether the response ends without the client
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
  const idPaths = Object.keys(document.paths).filter((path) => path.endsWith("/{id}"));
  const idVariables = new Map(idPaths.map((path) => [path.slice(0, -"/{id}".length), idVariableOf(path)]));
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = document.tags.map((/** @type {{ name: string }} */ { name }) => name);
  const names = [...firstFolders.filter((name) => tags.includes(name)), ...tags.filter(isNotFirst)];
  return names.map((name) => ({
    name,
    requests: sortByVariables(
      routes
        .filter(({ operation }) => operation.tags[0] === name)
        .map((route) => createCollectionRequest(document, idVariables, route)),
    ),
  }));
}

/** The folders whose requests create what the requests of the other folders read. */
const firstFolders = ["Health", "API documents", "Locations", "Catalog", "Tills"];

/** @param {string} name */
const isNotFirst = (name) => !firstFolders.includes(name);

/**
 * Sorts requests so that each one follows those that store the variables in its path, and so that what is created first is
 * deleted last.
 * @param {CollectionRequest[]} requests
 * @returns {CollectionRequest[]}
 */
function sortByVariables(requests) {
  const deletions = requests.filter(({ method }) => method === "DELETE").reverse();
  const waiting = requests.filter(({ method }) => method !== "DELETE");
  /** @type {CollectionRequest[]} */
  const sorted = [];
  while (waiting.length > 0) {
    const unsaved = new Set(waiting.flatMap(({ savedVariables }) => Object.keys(savedVariables)));
    for (const name of sorted.flatMap(({ savedVariables }) => Object.keys(savedVariables))) unsaved.delete(name);
    const next = waiting.findIndex((request) => listPathVariablesOf(request).every((name) => !unsaved.has(name)));
    sorted.push(...waiting.splice(Math.max(next, 0), 1));
  }
  return [...sorted, ...deletions];
}

/** @param {CollectionRequest} request */
const listPathVariablesOf = ({ pathParameters }) => pathParameters.map(({ value }) => value.slice(2, -2));

/**
 * @param {OpenApiDocument} document
 * @param {Map<string, string>} idVariables the variables with the IDs of resources, by the path of their list
 * @param {{ path: string, method: string, operation: any }} route
 * @returns {CollectionRequest}
 */
function createCollectionRequest(document, idVariables, { path, method, operation }) {
  const parameters = operation.parameters ?? [];
  const savedId = idVariables.get(path) ?? listedIdVariables[operation.operationId];
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
    queryParameters: parametersIn(parameters, "query").map((parameter) => {
      const isEnabled = enabledParameters[operation.operationId]?.includes(parameter.name);
      return isEnabled ? { ...parameter, isEnabled } : parameter;
    }),
    headers: [
      ...(media === undefined
        ? []
        : [{ name: "Content-Type", value: "application/json", description: "", isEnabled: true }]),
      ...parametersIn(parameters, "header").map((header) =>
        // Without a new key for each request, the API would return the response of the first request again.
        header.name === "Idempotency-Key" ? { ...header, value: "{{$guid}}", isEnabled: true } : header,
      ),
    ],
    body: media === undefined ? undefined : writeBody(operation.operationId, example, [...idVariables.values()]),
    savedVariables:
      savedVariablesByOperationId[operation.operationId] ??
      (savedId === undefined ? {} : { [savedId]: method === "get" ? "data.0.id" : "id" }),
    isOfJob: jobOperations.includes(operation.operationId),
    endsByItself: operation.responses[200]?.content?.["text/event-stream"] === undefined,
  };
}

/** The operations that get the state of a background job. */
const jobOperations = ["getReprocessing", "getRecovery", "getExport", "getAccountingExport", "getJob"];

/**
 * The variables that store the ID of the first item of a list at another path than that of the item.
 * @type {Record<string, string>}
 */
const listedIdVariables = { listDeliveries: "deliveryId", recoverDeliveries: "recoveryId" };

/**
 * The values that requests store in addition to IDs, or instead of them.
 * @type {Record<string, Record<string, string>>}
 */
const savedVariablesByOperationId = {
  getOwnLocation: { locationId: "id" },
  pushTillV2: { tillId: "tillId" },
  pushTillV1: {},
  listTills: {},
  upsertLiveOrders: { orderLiveId: "0.id" },
  recoverDeliveries: { recoveryId: "id" },
  listDays: { date: "data.0.day" },
  getExport: { name: "files.0.name" },
  getAccountingExport: { number: "files.0.number" },
};

/**
 * The optional query parameters of which an operation requires one.
 * @type {Record<string, string[]>}
 */
const enabledParameters = { reprocessTills: ["lteReportVersion"] };

/** The values of variables before a request has stored one, and of those that the user sets. */
export const initialVariables = {
  ...{ name: "manifest.json", number: "1" },
  ...{ legacyId: "1042", endpointUrl: "https://example.com/pragma" },
};

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
  return parameter === "id" ? idVariableOf(path.slice(0, path.indexOf("/{id}") + "/{id}".length)) : parameter;
}

/** The path segments that only group the resources below them. */
const groups = ["accounting", "auth"];

/**
 * Returns the variable with the ID of the resource at a path, such as `deliveryId` for `/v1/webhooks/deliveries/{id}`, and
 * `accountingExportId` for `/v1/accounting/exports/{id}`, because there are other exports.
 * @param {string} path
 */
function idVariableOf(path) {
  const [resource = "", parent = ""] = path.split("/").slice(0, -1).reverse();
  const segments = groups.includes(parent) ? [parent, resource] : [resource];
  const words = segments.flatMap((segment) => segment.split("-"));
  const [first, ...others] = words.map((word) => word.replace(/ies$/, "y").replace(/(?<!s)s$/, ""));
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
 * Returns the example of an operation as JSON, with variables instead of the IDs in it. An example ID does not exist at the
 * location of the user, or belongs to another location.
 * @param {string} operationId
 * @param {any} example
 * @param {string[]} idVariables
 */
function writeBody(operationId, example, idVariables) {
  const values = { ...valuesByOperationId[operationId] };
  for (const name of idVariables) values[name] ??= `{{${name}}}`;
  const replace = (/** @type {any} */ part) =>
    Object.fromEntries(
      Object.entries(part)
        .filter(([name]) => values[name] !== null)
        .map(([name, value]) => [name, values[name] ?? value]),
    );
  // One item shows the form, and others would need further IDs.
  const body = Array.isArray(example) ? example.slice(0, 1).map(replace) : replace(example);
  if (body.tillJson) body.tillJson = { ...body.tillJson, client_id: "s{{$guid}}" };
  // A live order that is not modified after the end of the shift of the pushed till, which contains it, would be skipped.
  if (Array.isArray(body) && body[0]?.data)
    body[0] = { ...body[0], data: { ...body[0].data, id: body[0].id, modifiedAt: "{{$isoTimestamp}}" } };
  // A variable with a number.
  return JSON.stringify(body, null, 2).replaceAll('"{{legacyId}}"', "{{legacyId}}");
}

/**
 * The values of fields at the top of a body; null for a field that is omitted.
 * @type {Record<string, Record<string, string | null>>}
 */
const valuesByOperationId = {
  pushTillV2: { id: "{{$guid}}" },
  replaceTill: { id: "{{tillId}}" },
  pushTillV1: { legacyId: "{{legacyId}}" },
  fetchLegacyTills: { legacyId: "{{legacyId}}" },
  createAccountingExport: { locationId: null },
  upsertWebhook: { endpointUrl: "{{endpointUrl}}" },
  // An order of a till that has been pushed would be skipped.
  upsertLiveOrders: { tillId: "{{$guid}}" },
};

/**
 * Returns the names of the variables in the paths of the requests, in the sequence of their first use.
 * @param {CollectionFolder[]} folders
 * @returns {string[]}
 */
export function listPathVariables(folders) {
  return [...new Set(folders.flatMap(({ requests }) => requests.flatMap(listPathVariablesOf)))];
}

/**
 * Returns the lines of a script that runs after a request, for any program: the program defines `status`, `readBody`, `save`,
 * `check` and `repeat` before. A request in a run is repeated until a background job has ended, until a list contains what
 * the next requests need, and while what is to be deleted is in use. The reports of a till, for example, are computed after
 * the push.
 * @param {CollectionRequest} request
 */
export function writeResponseScript({ savedVariables, method, isOfJob }) {
  const check = 'check("The request succeeds", status < 400);';
  if (method === "DELETE") return [`if (status !== 409 || !repeat()) ${check}`];
  if (Object.keys(savedVariables).length === 0 && !isOfJob) return [check];
  return [
    check,
    `const places = ${JSON.stringify(savedVariables)};`,
    "let isIncomplete = false;",
    "if ([200, 201, 202].includes(status)) {",
    "  const body = readBody();",
    ...(isOfJob
      ? ['  isIncomplete = ["queued", "pending", "running", "waiting", "active"].includes(body.state);']
      : []),
    "  for (const [name, place] of Object.entries(places)) {",
    '    const value = place.split(".").reduce((part, key) => part?.[key], body);',
    "    if (value !== undefined && value !== null) save(name, value);",
    '    else if (place.startsWith("data.")) isIncomplete = true;',
    "  }",
    "}",
    "if (isIncomplete) repeat();",
  ];
}
