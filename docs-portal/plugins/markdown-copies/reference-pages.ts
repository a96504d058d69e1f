import type { OpenApiDocument, OpenApiOperationObject } from "./openapi-document.ts";

/** An operation or a webhook, with its page of the reference. */
export interface ReferencePage {
  url: string;
  /** The method in upper case. */
  method: string;
  /** The path, or for a webhook, where the message goes. */
  path: string;
  operation: OpenApiOperationObject;
}

/** Returns the pages of all operations and webhooks of a document. `folder` is the path of the reference. */
export function listReferencePages({ paths, webhooks }: OpenApiDocument, folder = "/api"): ReferencePage[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const messages = Object.entries(webhooks).flatMap(([event, methods]) =>
    Object.values(methods).map((operation) => ({ method: "POST", path: `your endpoint: ${event}`, operation })),
  );
  return [...operations, ...messages].map((described) => ({
    ...described,
    url: `${folder}/${getOperationPageName(described.operation.operationId)}`,
  }));
}

/** Returns the name of an operation's page, as the reference plugin builds it: `get-report-v-0` for `getReportV0`. */
function getOperationPageName(operationId: string): string {
  return operationId
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replace(/([A-Za-z])(\d)/g, "$1-$2")
    .replace(/[._ ]/g, "-")
    .toLowerCase();
}
