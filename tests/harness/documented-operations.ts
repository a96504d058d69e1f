import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "@pragma/runtime/package-folder";

/** An operation of the API, as the full OpenAPI document tells it. */
export interface DocumentedOperation {
  id: string;
  /** In capitals. */
  method: string;
  path: string;
  /** Its parameters' names, each with its example, by where they are. */
  query: Map<string, { isRequired: boolean; example: unknown }>;
  needsKey: boolean;
  takesBody: boolean;
  /** Whether its reply goes on for as long as the client likes. */
  isEndless: boolean;
  statuses: number[];
}

interface OperationObject {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; example?: unknown; schema?: { example?: unknown } }[];
  security?: unknown[];
  requestBody?: unknown;
  responses: Record<string, { content?: Record<string, unknown> }>;
}

const contracts = packageFolder(import.meta.resolve("@pragma/contracts/errors"));

export function documentedOperations(): DocumentedOperation[] {
  const { paths } = JSON.parse(readFileSync(join(contracts, "openapi.full.json"), "utf8")) as {
    paths: Record<string, Record<string, OperationObject>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      query: new Map(
        (operation.parameters ?? [])
          .filter((parameter) => parameter.in === "query")
          .map(({ name, required, example, schema }) => [
            name,
            { isRequired: required === true, example: example ?? schema?.example },
          ]),
      ),
      needsKey: operation.security?.length !== 0,
      takesBody: operation.requestBody !== undefined,
      isEndless: operation.responses["200"]?.content?.["text/event-stream"] !== undefined,
      statuses: Object.keys(operation.responses).map(Number),
    })),
  );
}
