import { initialVariables, listCollectionFolders, writeResponseScript } from "./collection-requests.mjs";

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
          ...Object.entries(initialVariables).map(([key, value]) => ({
            ...{ name: key, value, type: "text", enabled: true, secret: false },
          })),
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
      // A run would wait for the end of a stream.
      script: request.endsByItself ? {} : { req: "bru.runner.skipRequest();" },
      ...(request.endsByItself && { tests: writeScript(request) }),
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

/** @param {CollectionRequest} request */
function writeScript(request) {
  const script = writeResponseScript(request);
  const canRepeat = script.join().includes("repeat");
  return [
    "const status = res.getStatus();",
    "const check = (text, isTrue) => test(text, () => expect(isTrue, JSON.stringify(res.getBody())).to.equal(true));",
    ...(canRepeat
      ? [
          "const readBody = () => res.getBody();",
          "const save = (name, value) => bru.setVar(name, value);",
          "let isRepeated = false;",
          "const repeat = () => {",
          // The name of a variable may have no spaces.
          '  const count = "repeats-" + req.getName().replace(/[^A-Za-z]+/g, "-");',
          "  const repeats = Number(bru.getVar(count) ?? 0);",
          `  if (repeats >= ${maxRepeats}) return false;`,
          "  bru.setVar(count, repeats + 1);",
          "  bru.runner.setNextRequest(req.getName());",
          "  isRepeated = true;",
          "  return true;",
          "};",
        ]
      : []),
    ...script,
    ...(canRepeat ? ["if (isRepeated) await bru.sleep(1000);"] : []),
  ].join("\n");
}

/** The maximum number of repeats of a request in a run, one per second. */
const maxRepeats = 30;
