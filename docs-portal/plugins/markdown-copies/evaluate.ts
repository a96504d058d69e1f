/** The value of an expression of a page, which may name what the page imports. Pages are ours: nobody else's code runs. */
export function evaluateExpression(expression: string, values: Record<string, unknown>): unknown {
  return new Function(...Object.keys(values), `return (${expression});`)(...Object.values(values));
}
