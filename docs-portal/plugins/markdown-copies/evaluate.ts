/**
 * Returns the value of a JavaScript expression in a page. `values` contains the variables of the expression. Executing
 * code from pages is safe, because pages come only from this repository.
 */
export function evaluateMdxExpression(expression: string, values: Record<string, unknown>): unknown {
  return new Function(...Object.keys(values), `return (${expression});`)(...Object.values(values));
}
