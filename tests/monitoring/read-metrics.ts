/** Exported metrics with their labels, by name. */
export type ExportedMetrics = Map<string, Set<string>>;

/** Reads the metrics of a process in the text format of Prometheus. */
export async function readPrometheusMetrics(url: string): Promise<ExportedMetrics> {
  const text = await (await fetch(url)).text();
  const labelsByMetric: ExportedMetrics = new Map();
  for (const line of text.split("\n")) {
    const parts = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+/.exec(line);
    if (!parts?.[1]) continue;
    const labels = labelsByMetric.get(parts[1]) ?? new Set(["job", "instance"]);
    for (const [, label = ""] of (parts[2] ?? "").matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) labels.add(label);
    labelsByMetric.set(parts[1], labels);
  }
  return labelsByMetric;
}
