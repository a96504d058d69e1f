import { listCollectionFolders } from "./collection-requests.mjs";

/** @typedef {import("./collection-requests.mjs").CollectionRequest} CollectionRequest */
/** @typedef {import("./collection-requests.mjs").CollectionParameter} CollectionParameter */

/**
 * Returns a Bruno collection in the JSON format that Bruno imports and exports, with a request for each operation of an
 * OpenAPI document.
 * @param {import("./collection-requests.mjs").OpenApiDocument} document
 */
export function createBrunoCollection(document) {
  return {
    version: "1",
    name: document.info.title,
    root: { request: { auth: { mode: "bearer", bearer: { token: "{{apiKey}}" } } } },
    environments: [
      {
        name: "Local",
        variables: [
          { name: "baseUrl", value: document.servers[0].url, type: "text", enabled: true, secret: false },
          { name: "apiKey", value: "", type: "text", enabled: true, secret: true },
        ],
      },
    ],
    items: listCollectionFolders(document).map(({ name, requests }, index) => ({
      type: "folder",
      name,
      seq: index + 1,
      root: { meta: { name } },
      items: requests.map(createBrunoItem),
    })),
  };
}

/**
 * @param {CollectionRequest} request
 * @param {number} index
 */
function createBrunoItem(request, index) {
  const { name, description, method, path, requiresKey, pathParameters, queryParameters, headers, body } = request;
  const enabledQuery = queryParameters.filter(({ isEnabled }) => isEnabled);
  const search = enabledQuery.map((parameter) => `${parameter.name}=${parameter.value}`).join("&");
  return {
    type: "http-request",
    name,
    seq: index + 1,
    request: {
      method,
      url: `{{baseUrl}}${path}${search && `?${search}`}`,
      auth: { mode: requiresKey ? "inherit" : "none" },
      params: [
        ...queryParameters.map((parameter) => createBrunoParameter(parameter, "query")),
        ...pathParameters.map((parameter) => createBrunoParameter({ ...parameter, isEnabled: true }, "path")),
      ],
      headers: headers.map((header) => createBrunoParameter(header)),
      body: body === undefined ? { mode: "none" } : { mode: "json", json: body },
      script: { res: request.savedVariable === undefined ? null : writeSaveScript(request.savedVariable) },
      docs: description,
    },
  };
}

/**
 * @param {CollectionParameter} parameter
 * @param {"query" | "path"} [type]
 */
function createBrunoParameter({ name, value, isEnabled }, type) {
  return { name, value, enabled: isEnabled, ...(type && { type }) };
}

/**
 * Returns a script that stores the ID of the first item in a successful response.
 * @param {string} variable
 */
function writeSaveScript(variable) {
  return [
    "if ([200, 201, 202].includes(res.getStatus())) {",
    "  const body = res.getBody();",
    "  const [first] = [body.data ?? body].flat();",
    `  if (first && first.id) bru.setVar(${JSON.stringify(variable)}, first.id);`,
    "}",
  ].join("\n");
}
