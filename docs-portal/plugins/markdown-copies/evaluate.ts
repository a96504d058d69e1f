/** Returns the value of a JavaScript expression of a page, in which `values` are in scope. Pages are trusted code. */
export function evaluatePageExpression(expression: string, values: Record<string, unknown>): unknown {
  return new Function(...Object.keys(values), `return (${expression});`)(...Object.values(values));
}
