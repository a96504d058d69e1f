import { listCollectionFolders, listPathVariables } from "./collection-requests.mjs";

/** @typedef {import("./collection-requests.mjs").CollectionRequest} CollectionRequest */
/** @typedef {import("./collection-requests.mjs").CollectionParameter} CollectionParameter */

/**
 * Returns a Postman collection (format 2.1) with a request for each operation of an OpenAPI document.
 * @param {import("./collection-requests.mjs").OpenApiDocument} document
 */
export function createPostmanCollection(document) {
  const folders = listCollectionFolders(document);
  return {
    info: {
      name: document.info.title,
      version: document.info.version,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: document.servers[0].url },
      { key: "apiKey", value: "" },
      ...listPathVariables(folders).map((key) => ({ key, value: "" })),
    ],
    item: folders.map(({ name, requests }) => ({ name, item: requests.map(createPostmanItem) })),
  };
}

/** @param {CollectionRequest} request */
function createPostmanItem(request) {
  const { name, description, method, path, requiresKey, pathParameters, queryParameters, headers, body } = request;
  const enabledQuery = queryParameters.filter(({ isEnabled }) => isEnabled);
  const search = enabledQuery.map((parameter) => `${parameter.name}=${parameter.value}`).join("&");
  return {
    name,
    request: {
      method,
      description,
      ...(!requiresKey && { auth: { type: "noauth" } }),
      url: {
        raw: `{{baseUrl}}${path}${search && `?${search}`}`,
        host: ["{{baseUrl}}"],
        path: path.slice(1).split("/"),
        query: queryParameters.map(createPostmanParameter),
        variable: pathParameters.map(({ name: key, value, description: text }) => ({ key, value, description: text })),
      },
      header: headers.map(createPostmanParameter),
      ...(body !== undefined && { body: { mode: "raw", raw: body, options: { raw: { language: "json" } } } }),
    },
    ...(request.savedVariable !== undefined && {
      event: [{ listen: "test", script: { type: "text/javascript", exec: writeSaveScript(request.savedVariable) } }],
    }),
  };
}

/** @param {CollectionParameter} parameter */
function createPostmanParameter({ name, value, description, isEnabled }) {
  return { key: name, value, description, ...(!isEnabled && { disabled: true }) };
}

/**
 * Returns the lines of a script that stores the ID of the first item in a successful response.
 * @param {string} variable
 */
function writeSaveScript(variable) {
  return [
    "if ([200, 201, 202].includes(pm.response.code)) {",
    "  const body = pm.response.json();",
    "  const [first] = [body.data ?? body].flat();",
    `  if (first && first.id) pm.collectionVariables.set(${JSON.stringify(variable)}, first.id);`,
    "}",
  ];
}
