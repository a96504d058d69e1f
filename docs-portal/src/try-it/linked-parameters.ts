import { dryRunParameterOf, getParameterInputKey, type TryItOperation } from "./operation.ts";

/**
 * Returns the values of parameters that a link to the page contains, by `getParameterInputKey`, such as the ID in
 * `?try=true&id=0b2f7f3c`, or of `?try=true&size=`, which only shows the field; undefined if it is no link to the form (`try=true`). A link can neither select the server nor end
 * a dry run.
 */
export function readLinkedParameters(operation: TryItOperation, search: string): Record<string, string> | undefined {
  const query = new URLSearchParams(search);
  if (query.get("try") !== "true") return undefined;
  const dryRun = dryRunParameterOf(operation);
  const linkable = (operation.parameters ?? []).filter(
    (parameter) => (parameter.in === "path" || parameter.in === "query") && parameter !== dryRun,
  );
  return Object.fromEntries(
    linkable.flatMap((parameter) => {
      const value = query.get(parameter.name);
      return value === null ? [] : [[getParameterInputKey(parameter), value]];
    }),
  );
}
