/** Words of PromQL that are no metrics. */
const promqlKeywords = new Set([
  "by",
  "without",
  "on",
  "ignoring",
  "group_left",
  "group_right",
  "offset",
  "bool",
  "and",
  "or",
  "unless",
]);

/** An expression without its texts, label lists, grouping and durations. */
function stripPromql(expression: string): string {
  return expression
    .replace(/"(?:[^"\\]|\\.)*"/g, "")
    .replace(/\{[^}]*\}/g, "")
    .replace(/\[[^\]]*\]/g, "")
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "");
}

/** The metrics that an expression in PromQL asks for. */
export function listPromqlMetrics(expression: string): string[] {
  const names = [...stripPromql(expression).matchAll(/[a-zA-Z_:][\w:]*(?!\w)(?!\s*\()/g)].map(([name]) => name);
  return [...new Set(names.filter((name) => !promqlKeywords.has(name)))];
}

/** The labels by which an expression tells a metric's values apart: those it matches, and those it groups by. */
export function listPromqlLabels(expression: string, metric: string): string[] {
  const matched = [...expression.matchAll(new RegExp(`\\b${metric}\\{([^}]*)\\}`, "g"))].flatMap(([, list = ""]) =>
    [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  );
  const grouped = [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(",").map((label) => label.trim()),
  );
  return [...new Set([...matched, ...grouped])].filter((label) => label !== "");
}
