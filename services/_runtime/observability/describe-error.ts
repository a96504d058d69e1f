/** Returns the names and messages of an error and of up to four causes, outermost first, as one text for operators. */
export function describeErrorChain(error: unknown): string {
  const parts: string[] = [];
  for (let err = error; err !== undefined && parts.length < 5; err = err instanceof Error ? err.cause : undefined) {
    parts.push(err instanceof Error ? `${err.name}: ${err.message}` : String(err));
  }
  return parts.join(" <- ").slice(0, 4_000);
}
