/** Evaluates a JavaScript expression of a page with `values` as its variables. Safe, because pages are trusted code. */
export function evaluatePageExpression(expression: string, values: Record<string, unknown>): unknown {
  return new Function(...Object.keys(values), `return (${expression});`)(...Object.values(values));
}
