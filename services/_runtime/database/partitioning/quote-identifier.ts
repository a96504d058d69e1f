/** Returns a name as an identifier for SQL text. Statements on tables that are known only at run time are texts. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns names as a list of identifiers. `prefix` is put before each identifier, such as `new.`. */
export function quoteIdentifiers(names: string[], prefix = ""): string {
  return names.map((name) => prefix + quoteIdentifier(name)).join(", ");
}
