/** The names of exported metrics, each with the labels that its values have. */
export type ExportedMetrics = Map<string, Set<string>>;

/** Reads what a process exports in Prometheus' text format. */
export async function readPrometheusMetrics(url: string): Promise<ExportedMetrics> {
  const text = await (await fetch(url)).text();
  const found: ExportedMetrics = new Map();
  for (const line of text.split("\n")) {
    const parts = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+/.exec(line);
    if (!parts?.[1]) continue;
    const labels = found.get(parts[1]) ?? new Set(["job", "instance"]);
    for (const [, label = ""] of (parts[2] ?? "").matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) labels.add(label);
    found.set(parts[1], labels);
  }
  return found;
}
