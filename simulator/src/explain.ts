import { z } from "zod";

/** What an error says to a person, with its causes. */
export function explain(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${explain(error.cause)}`;
}
