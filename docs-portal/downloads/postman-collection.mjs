import {
  initialVariables,
  listCollectionFolders,
  listPathVariables,
  writeResponseScript,
} from "./collection-requests.mjs";

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
      ...["legacyId", "endpointUrl", ...listPathVariables(folders)].map((key) => ({
        key,
        value: initialVariables[/** @type {keyof typeof initialVariables} */ (key)] ?? "",
      })),
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
    ...(request.endsByItself && {
      event: [{ listen: "test", script: { type: "text/javascript", exec: writeScript(request) } }],
    }),
  };
}

/** @param {CollectionParameter} parameter */
function createPostmanParameter({ name, value, description, isEnabled }) {
  return { key: name, value, description, ...(!isEnabled && { disabled: true }) };
}

/** @param {CollectionRequest} request */
function writeScript(request) {
  const script = writeResponseScript(request);
  return [
    "const status = pm.response.code;",
    "const check = (text, isTrue) => pm.test(text, () => pm.expect(isTrue, pm.response.text()).to.be.true);",
    ...(script.join().includes("repeat")
      ? [
          "const readBody = () => (/json/.test(pm.response.headers.get('content-type')) ? pm.response.json() : {});",
          "const save = (name, value) => pm.collectionVariables.set(name, value);",
          "const repeat = () => {",
          "  const repeats = Number(pm.variables.get('repeats of ' + pm.info.requestName) ?? 0);",
          `  if (repeats >= ${maxRepeats}) return false;`,
          "  pm.variables.set('repeats of ' + pm.info.requestName, repeats + 1);",
          "  pm.execution.setNextRequest(pm.info.requestName);",
          "  setTimeout(() => {}, 1000);",
          "  return true;",
          "};",
        ]
      : []),
    ...script,
  ];
}

/** The maximum number of repeats of a request in a run, one per second. */
const maxRepeats = 30;
