/** The labels of each exported metric, by the name of the metric. */
export type LabelsByMetricName = Map<string, Set<string>>;

/**
 * Requests the metrics of a process in the text format of Prometheus, and returns their names and labels. The result
 * includes the labels `job` and `instance`, because Prometheus adds them to each metric.
 */
export async function fetchLabelsByPrometheusMetric(url: string): Promise<LabelsByMetricName> {
  const text = await (await fetch(url)).text();
  const labelsByMetric: LabelsByMetricName = new Map();
  for (const line of text.split("\n")) {
    const parts = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+/.exec(line);
    if (!parts?.[1]) continue;
    const labels = labelsByMetric.get(parts[1]) ?? new Set(["job", "instance"]);
    for (const [, label = ""] of (parts[2] ?? "").matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) labels.add(label);
    labelsByMetric.set(parts[1], labels);
  }
  return labelsByMetric;
}

/** The keywords of PromQL, which must not be interpreted as names of metrics. */
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

/** Returns a PromQL expression without its strings, label matchers, grouping clauses and durations. */
function stripPromql(expression: string): string {
  return expression
    .replace(/"(?:[^"\\]|\\.)*"/g, "")
    .replace(/\{[^}]*\}/g, "")
    .replace(/\[[^\]]*\]/g, "")
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "");
}

/** Returns the names of the metrics in a PromQL expression. */
export function listPromqlMetrics(expression: string): string[] {
  const names = [...stripPromql(expression).matchAll(/(?<![\w:])[a-zA-Z_:][\w:]*(?!\w)(?!\s*\()/g)].map(
    ([name]) => name,
  );
  return [...new Set(names.filter((name) => !promqlKeywords.has(name)))];
}

/** Returns the labels by which a PromQL expression filters this metric, and all labels by which it groups. */
export function listPromqlLabels(expression: string, metric: string): string[] {
  const matched = [...expression.matchAll(new RegExp(`\\b${metric}\\{([^}]*)\\}`, "g"))].flatMap(([, list = ""]) =>
    [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  );
  const grouped = [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(",").map((label) => label.trim()),
  );
  return [...new Set([...matched, ...grouped])].filter((label) => label !== "");
}
