/** What an excerpt shows: the fields at these paths (`meta.totalCount`), of each list so many items at most. */
interface Shown {
  only?: readonly string[] | undefined;
  most?: number | undefined;
}

/** A value as JSON, with an ellipsis in the place of what is left out. */
export function excerpt(value: unknown, { only, most = Number.POSITIVE_INFINITY }: Shown = {}): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return listOf(value, { only, most });
  const names = only?.map((path) => path.split(".")[0] ?? "");
  const entries = Object.entries(value).filter(([name]) => names === undefined || names.includes(name));
  const lines = entries.map(
    ([name, part]) => `${JSON.stringify(name)}: ${excerpt(part, { only: below(only, name), most })}`,
  );
  return braced("{}", lines, entries.length < Object.keys(value).length ? "…" : undefined);
}

function listOf(items: readonly unknown[], { only, most = items.length }: Shown): string {
  const lines = items.slice(0, most).map((item) => excerpt(item, { only, most }));
  return braced("[]", lines, items.length > most ? `… ${items.length - most} more` : undefined);
}

/** The paths below a field; undefined when all of it is shown. */
function below(only: readonly string[] | undefined, name: string): readonly string[] | undefined {
  const paths = only?.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
  return paths?.length === 0 ? undefined : paths;
}

function braced(braces: string, parts: readonly string[], omission: string | undefined): string {
  const lines = parts.map((part, index) => (index < parts.length - 1 ? `${part},` : part));
  if (omission !== undefined) lines.push(omission);
  if (lines.length === 0) return braces;
  return `${braces[0]}\n${lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`).join("\n")}\n${braces[1]}`;
}
