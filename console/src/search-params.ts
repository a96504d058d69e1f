/**
 * The query of the console's own URLs. Each value is a text, so that a URL such as `?table=12` reads as it is typed.
 */
export const parseSearch = (search: string): Record<string, string> => Object.fromEntries(new URLSearchParams(search));

export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return query && `?${query}`;
}

type Search = Record<string, unknown>;

/** Returns a function that reads the query of a view. Links to the view may omit any of its parameters. */
export const readSearch =
  <Parameters>(read: (search: Search) => Parameters) =>
  (search: Search): { [Name in keyof Parameters]?: Parameters[Name] } =>
    read(search);

/** Returns a text of the query without spaces around it, cut to what a URL reasonably contains; undefined if empty. */
export const readText = (search: Search, name: string): string | undefined =>
  String(search[name] ?? "")
    .trim()
    .slice(0, 200) || undefined;

/** Returns a date as YYYY-MM-DD; undefined if the query has none or an invalid one. */
export function readDay(search: Search, name: string): string | undefined {
  const value = readText(search, name) ?? "";
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
}

/** Returns the UUID in the query; undefined if it has none or another text. */
export function readId(search: Search, name: string): string | undefined {
  const value = readText(search, name) ?? "";
  return isUuid(value) ? value : undefined;
}

export const isUuid = (value: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);

/** Returns the zero-based index of a page; undefined for the first page. */
export function readPage(search: Search): number | undefined {
  const value = Number(search.page);
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

/** Returns the value if it is one of these; undefined otherwise. */
export const readChoice = <Choice extends string>(search: Search, name: string, choices: readonly Choice[]) =>
  choices.find((choice) => choice === search[name]);
