/** Returns an error and the chain of its causes as text for operators. */
export function describeErrorChain(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at !== undefined && parts.length < 5; at = at instanceof Error ? at.cause : undefined) {
    parts.push(at instanceof Error ? `${at.name}: ${at.message}` : String(at));
  }
  return parts.join(" <- ").slice(0, 4_000);
}
