interface ExcerptOptions {
  /** The paths of the fields to show, such as `meta.totalCount`. Default: all fields. */
  only?: readonly string[] | undefined;
  /** Maximum number of items to show in each list. */
  maxItems?: number | undefined;
}

/** Returns a value as JSON, in which an ellipsis replaces omitted fields and items. */
export function formatJsonExcerpt(
  value: unknown,
  { only, maxItems = Number.POSITIVE_INFINITY }: ExcerptOptions = {},
): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return excerptArray(value, { only, maxItems });
  const names = only?.map((path) => path.split(".")[0] ?? "");
  const entries = Object.entries(value).filter(([name]) => names === undefined || names.includes(name));
  const lines = entries.map(
    ([name, field]) =>
      `${JSON.stringify(name)}: ${formatJsonExcerpt(field, { only: nestedPaths(only, name), maxItems })}`,
  );
  return wrapInBrackets("{}", lines, entries.length < Object.keys(value).length ? "…" : undefined);
}

function excerptArray(items: readonly unknown[], { only, maxItems = items.length }: ExcerptOptions): string {
  const lines = items.slice(0, maxItems).map((item) => formatJsonExcerpt(item, { only, maxItems }));
  return wrapInBrackets("[]", lines, items.length > maxItems ? `… ${items.length - maxItems} more` : undefined);
}

/** Returns the paths in `only` inside this field, relative to it. Returns undefined if the whole field is shown. */
function nestedPaths(only: readonly string[] | undefined, name: string): readonly string[] | undefined {
  const paths = only?.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
  return paths?.length === 0 ? undefined : paths;
}

function wrapInBrackets(brackets: string, parts: readonly string[], omission: string | undefined): string {
  const lines = parts.map((part, index) => (index < parts.length - 1 ? `${part},` : part));
  if (omission !== undefined) lines.push(omission);
  if (lines.length === 0) return brackets;
  return `${brackets[0]}\n${lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`).join("\n")}\n${brackets[1]}`;
}
